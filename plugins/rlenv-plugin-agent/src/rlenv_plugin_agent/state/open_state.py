"""State that one episode holds: what ``[state]`` makes, and a workspace, which has a process only
while a program runs.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Protocol

from attrs import frozen
from rlenv import ConfigError, Task
from rlenv import sandbox as port
from rlenv.sandbox import Profile, Session, Workspace

# of the artifact ``Files``
FILES = 1_000
BYTES = 8_000_000
# A runtime "native" may start programs, as a shell does; Python is then one of them.
PROFILE = Profile("native", paths=(sys.base_prefix,), workspace_mb=32, workspace_files=2_000)
# Without the bytecode in a workspace: the policy may write it, and its files have no times that
# tell its age.
PYTHON = f"{sys.base_prefix}/bin/python3", "-B", "-X", "pycache_prefix=/tmp/bytecode", "-"


# Where episodes in a persistent world begin that leave nothing there: "" with what is declared,
# else with the state of this key; None for those that the world is for.
APART: ContextVar[str | None] = ContextVar("apart", default=None)


class OpenState(Protocol):
    """The state that one episode holds, from ``reset`` to ``close``."""

    @property
    def parts(self) -> Mapping[type, object]:
        """Return what tools get by ``ToolContext.get``, by type."""

    async def artifacts(self) -> tuple[object, ...]:
        """Return the final state, for stages that take it; asked once, when the policy's last call
        has ended.
        """

    async def close(self) -> None:
        """Give back what it holds."""


class StateFactory(Protocol):
    """Makes the state of each episode, as ``env.tables["state"]`` does."""

    async def begin(self, task: Task, seed: int) -> OpenState:
        """Return the state that a task begins with.

        Args:
            task: of the episode.
            seed: of the episode.

        Raises:
            Exception: when it cannot be made; the episode then ends with ``error`` and is unscored.
        """


@frozen
class Interpreter:
    """Says how programs in Python are started in a workspace whose sessions run command lines; they
    come as input.

    Args:
        words: of the command line.
    """

    words: tuple[str, ...]


@frozen
class Files:
    """The files of a workspace at the end of an episode, for stages that take them.

    Args:
        content: by path; links are left out.
        left_out: how many regular files there was no room for: at most 1,000 are read, and 8 MB in
            all.
    """

    content: Mapping[str, bytes]
    left_out: int = 0


async def files_of(workspace: Workspace) -> Files:
    """Return the regular files in the order of their paths, as long as they fit."""
    content = dict[str, bytes]()
    room = BYTES
    regular = [each for each in await workspace.list() if each.kind == "file"]
    for each in regular:
        if len(content) < FILES and each.size <= room:
            content[each.path] = await workspace.read(each.path)
            room -= len(content[each.path])
    return Files(content, len(regular) - len(content))


class HeldWorkspace:
    """The workspace of an episode, as its tools get it: ``context.get(Workspace)``; with the state,
    if there is one.

    Args:
        session: an open session with a workspace.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.workspace = session.workspace
        self.parts: dict[type, object] = {Workspace: self.workspace}
        self._state: OpenState | None = None

    async def take(self, state: OpenState) -> None:
        """Hold a state besides, which then knows the files that the episode begins with."""
        self._state = state
        self.parts |= state.parts
        for part in state.parts.values():
            if hasattr(part, "attach"):
                await part.attach(self.workspace)

    async def artifacts(self) -> tuple[object, ...]:
        """Return those of the state, and the files."""
        held = () if self._state is None else await self._state.artifacts()
        return (*held, await files_of(self.workspace))

    async def close(self) -> None:
        """End what runs, and drop tables and files."""
        try:
            if self._state is not None:
                await self._state.close()
        finally:
            await self.session.close()


async def open_workspace(
    sandbox: str = "sandbox/jail",
    files: Mapping[str, str | bytes] | None = None,
    *,
    profile: Profile = PROFILE,
) -> HeldWorkspace:
    """Open a workspace for one episode; whoever opens it closes it.

    Args:
        sandbox: the name of a sandbox, as ``sandbox/jail`` or ``jail``.
        files: what it begins with, by path; text is written as UTF-8.
        profile: limits of its programs, of one of them at a time; its ``workspace_mb`` is above 0.

    Raises:
        ConfigError: this machine has no such sandbox, or the profile has no workspace; the message
            says what to do.
        WorkspaceError: a path that leads out, or files that do not fit.
        VerifierFault: the sandbox cannot be reached now.
    """
    session = await port.get(sandbox).open(profile)
    try:
        made = HeldWorkspace(session)
        if profile.runtime == "native":
            made.parts[Interpreter] = Interpreter(PYTHON)
        for path, content in (files or {}).items():
            data = content.encode() if isinstance(content, str) else content
            await made.workspace.write(path, data)
    except BaseException:
        await session.close()
        raise
    return made


async def open_state(
    sandbox: str,
    holder: StateFactory | None,
    task: Task,
    seed: int,
    check: Callable[[OpenState], Awaitable[None]],
) -> OpenState | None:
    """Open what an episode begins with; whoever asks closes it.

    Args:
        sandbox: the name of the sandbox of its workspace; "" for no workspace.
        holder: the table ``[state]``, if there is one.
        task: its ``info["files"]`` are the files to begin with, text by path.
        seed: of the episode.
        check: raises where the episode cannot begin with this state.  There is no workspace yet,
            since the check may play episodes that open one, and since an episode may wait for its
            state.

    Raises:
        ConfigError: this machine has no such sandbox, or ``info["files"]`` is not a table of texts.
        WorkspaceError: a path that leads out, or files that do not fit.
        Exception: as ``StateFactory.begin``, or as ``check``.
    """
    files = task.info.get("files", {}) if sandbox else {}
    if not isinstance(files, dict) or not all(isinstance(each, str) for each in files.values()):
        raise ConfigError('info["files"] of a task is a table of texts by path')
    state = None if holder is None else await holder.begin(task, seed)
    try:
        if state is not None:
            await check(state)
        return await _with_workspace(sandbox, files, state) if sandbox else state
    except BaseException:
        if state is not None:
            await state.close()
        raise


async def _with_workspace(
    sandbox: str, files: Mapping[str, str], state: OpenState | None
) -> OpenState:
    held = await open_workspace(sandbox, files)
    try:
        if state is not None:
            await held.take(state)
    except BaseException:
        await held.close()
        raise
    return held
