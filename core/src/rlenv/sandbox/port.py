"""The types of the sandbox port, whose contract is said in ``rlenv.sandbox``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, Union

from attrs import field, frozen, validators

from rlenv.model.errors import ConfigError, RlenvError
from rlenv.model.values import Fault

from .tiers import TIERS, Tier, rank

__all__ = [
    "CHANNEL", "REASONS", "TIERS", "ChannelEnded", "ChannelError", "ChannelTimeout", "Diagnosis",
    "Entry", "Exit", "FrameTooLong", "Profile", "Sandbox", "Session", "Tier",
    "Workspace", "WorkspaceError", "close_all", "get", "rank",
]  # fmt: skip

CHANNEL = 3  # the program's descriptor of its channel
Reason = Literal["exit", "signal", "cpu", "wall", "memory", "disk", "killed", "lost"]
REASONS: tuple[Reason, ...] = ("exit", "signal", "cpu", "wall", "memory", "disk", "killed", "lost")
Files: TypeAlias = tuple[tuple[str, bytes], ...]
# The source of a Python program, else the words of a command line.
Program: TypeAlias = Union[str, Sequence[str]]
Seconds: TypeAlias = float | None


def _frozen(files: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> Files:
    return tuple(sorted(files.items() if isinstance(files, Mapping) else files))


_positive: Any = validators.gt(0)


def _fits(profile: Profile, _: object, megabytes: int) -> None:
    most = profile.memory_mb // 8
    if not 0 <= megabytes <= most:
        expected = f"from 0 to {most} is expected, an eighth of memory_mb = {profile.memory_mb}"
        raise ConfigError(f"workspace_mb = {megabytes}: {expected}")


def _words(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


@frozen
class Profile:
    """What a session is for; sessions of equal profiles share warm processes.

    Args:
        runtime: "python" (the interpreter that runs rlenv), the name or path of another Python
            ("python3.12"), or "native" for programs that are started as a command line.
        preload: modules that every program finds imported already; Python only.
        cpu_s: seconds of CPU for one program and all that it starts together.
        wall_s: seconds on one program's clock until it is killed (see ``Session``).
        memory_mb: MiB for one program and its descendants, their temporary files included.
        pids: processes and threads at one time.
        output_bytes: how much is kept of each, standard output and standard error; the rest is
            dropped.
        files: read-only files that every program finds, as relative path and content; a Python
            program can import them.
        paths: absolute directories of this machine that programs may read and execute from,
            besides the system's own.
        devices: device files that programs may open ("/dev/nvidia0").
        min_isolation: the weakest tier that is accepted.
        hash_seed: PYTHONHASHSEED of the program.
        beside: it runs in turns with a program in another session of whoever asks.  Such sessions
            have places of their own, as many again: those who hold one place never wait for one
            another's second.
        workspace_mb: MiB that the session's workspace may hold, each file rounded up to 4 KiB; at
            most an eighth of ``memory_mb``.  0: the session has no workspace.
        workspace_files: files, directories and links that the workspace may hold, at most 20,000.
    """

    runtime: str = "python"
    preload: tuple[str, ...] = field(default=(), converter=_words)
    cpu_s: float = field(default=10.0, validator=_positive)
    wall_s: float = field(default=20.0, validator=_positive)
    memory_mb: int = field(default=512, validator=_positive)
    pids: int = field(default=64, validator=_positive)
    output_bytes: int = field(default=1 << 20, validator=validators.ge(0))
    files: Files = field(default=(), converter=_frozen)
    paths: tuple[str, ...] = field(default=(), converter=_words)
    devices: tuple[str, ...] = field(default=(), converter=_words)
    min_isolation: str = field(default="jail", validator=lambda _, __, tier: rank(tier))
    hash_seed: int = 0
    beside: bool = field(default=False, validator=validators.instance_of(bool))
    workspace_mb: int = field(default=0, validator=_fits)
    workspace_files: int = field(default=10_000, validator=[_positive, validators.le(20_000)])


@frozen
class Exit:
    """How a program ended.

    Args:
        status: its exit status, minus the number of the signal that ended it, None when it never
            began.
        reason: "exit", "signal", "cpu" (limit), "wall" (limit), "memory" (limit), "disk" (it left
            more than the workspace may hold, which is as it was before), "killed" (by ``finish``)
            or "lost" (with the sandbox; then ``fault`` is set).
        cpu: seconds of CPU of it and the descendants it waited for or that died with it.
        wall: seconds of wall time from its start to its end, waiting for a processor included.
        peak_memory: bytes, as the system measured them.
        truncated: whether it wrote more to standard output or error than was kept.
        isolation: the tier it ran in.
        started: whether its own code had begun; before that whatever goes wrong is not its doing.
        stdout, stderr: what it wrote, at most ``output_bytes`` each.
        fault: set when the sandbox broke, or when the wall limit was the machine's doing.
    """

    status: int | None
    reason: Reason
    cpu: float = 0.0
    wall: float = 0.0
    peak_memory: int = 0
    truncated: bool = False
    isolation: Tier = "process"
    started: bool = True
    stdout: bytes = field(default=b"", repr=False)
    stderr: bytes = field(default=b"", repr=False)
    fault: Fault | None = None


@frozen
class Diagnosis:
    """One line of ``rlenv doctor``: ``ok`` is False for what is missing.

    ``said`` then names the remedy.
    """

    what: str
    said: str
    ok: bool = True


class ChannelError(RlenvError):
    """No frame came.  ``finish`` tells how the program ended."""


class ChannelEnded(ChannelError):
    """The program closed its channel, or ended."""


class FrameTooLong(ChannelError):
    """The program announced a frame longer than was asked for."""


class ChannelTimeout(ChannelError):
    """No whole frame within the time given.

    ``starved`` says that the wall limit came before the program had used that much CPU, or of its
    clock: the machine ran other things, and nobody knows what the program would have answered.
    """

    def __init__(self, message: str, *, starved: bool = False) -> None:
        self.starved = starved
        super().__init__(message)


class WorkspaceError(RlenvError):
    """A path, size or snapshot that a workspace rejects.

    The message may be shown to whoever chose it.
    """


@frozen
class Entry:
    """What lies at a path of a workspace.

    Args:
        path: relative to the workspace, its parts joined by "/".
        kind: "file", "directory" or "link".
        size: bytes of a file.
        executable: whether its owner may execute a file.
        target: where a link points, which may be anywhere; no operation of a workspace follows it.
    """

    path: str
    kind: Literal["file", "directory", "link"]
    size: int = 0
    executable: bool = False
    target: str = ""


class Workspace(Protocol):
    """A directory that outlives the programs that run in it; ``Session.workspace``.

    It holds regular files, directories and symbolic links with names in UTF-8.  What else a program
    makes (FIFOs, sockets, devices, other names) is dropped when it ends; hard links become files of
    their own. It is at most 64 directories deep, and a path has at most 1,024 bytes.

    Paths are relative; "." and repeated slashes are dropped.  "..", absolute paths, NUL and text
    that is not Unicode raise WorkspaceError.  Links are kept as links and are never followed.  All
    calls take turns, in the order in which they were made.  While a program that ``Session.start``
    began is not finished, they raise RuntimeError, as they do once the session is closed.
    """

    async def run(
        self, program: Program, *, stdin: bytes = ..., cpu_s: Seconds = ..., wall_s: Seconds = ...
    ) -> Exit:
        """Run a program with the workspace as its working directory, to its end.

        See ``Session.start``.

        When this returns, nothing of the program runs any more.  The workspace stays as it was
        where the ``Exit`` has a fault or the reason "disk", where the program took its place down
        with it (as by memory), and where this raises or is canceled; else it is as the program left
        it.
        """

    async def read(self, path: str, max_bytes: int | None = ...) -> bytes:
        """The content of a file, of at most this many bytes.

        Raises:
            WorkspaceError: there is no such file, or it is longer.
        """

    async def write(self, path: str, content: bytes, *, executable: bool = ...) -> None:
        """Make or replace a file, and the directories above it.

        Raises:
            WorkspaceError: there is a directory at the path, something else above it, or no room.
        """

    async def list(self) -> Sequence[Entry]:
        """Everything in it, sorted by path."""

    async def snapshot(self) -> str:
        """Keep its content until the session is closed.

        Returns a hash of it: equal content, equal id, on every adapter.
        """

    async def restore(self, snapshot: str, source: Workspace | None = ...) -> None:
        """Make its content that of a snapshot, its own or of ``source``, of any adapter.

        Raises:
            WorkspaceError: there is no such snapshot, or it does not fit.
        """


class Session(Protocol):
    """A lease on one place in a sandbox.  Programs run one at a time.

    ``close`` gives the place back.

    With a workspace (``Profile.workspace_mb``) every program has that as its working directory:
    ``/workdir`` in the jail and in containers, a temporary folder elsewhere.  Then a place is held
    only while a program runs.

    Limits do not depend on what else the machine does.  A program is stopped when it has used the
    limit in CPU, with all that it started, or on its clock: wall time less the time in which it had
    answered every frame that it was sent, and less the time that it stood ready to run and got no
    processor, of which at most 28 times its CPU is believed.  So a program that sleeps, or gives up
    the processor again and again, is stopped as one that computes is.  Only where the machine is so
    busy that a program gets less than a 30th of a processor may 30 times the limit pass in wall
    time with neither reached; then the machine is at fault.
    """

    isolation: Tier

    @property
    def workspace(self) -> Workspace:
        """The session's workspace, empty at first; it ends with the session.

        Raises:
            ConfigError: the profile has no ``workspace_mb``.
        """

    def clock(self) -> float:
        """Seconds so far on the clocks of its programs."""

    async def start(
        self,
        program: Program,
        files: Mapping[str, bytes | tuple[bytes, int]] = ...,
        *,
        stdin: bytes = ...,
        cpu_s: Seconds = ...,
        wall_s: Seconds = ...,
    ) -> None:
        """Start a program: the source of a Python ``__main__``, or the words of a command line.

        Args:
            program: a str for a Python runtime, a sequence of str for any runtime that can execute.
            files: what it finds in its working directory: content, or (content, mode).
            stdin: what it can read from standard input.
            cpu_s, wall_s: at most the profile's; None for the profile's own.

        Raises:
            VerifierFault: the sandbox could not start it; a retry, in another session, may help.
            WorkspaceError: a file has no place in the session's workspace.
        """

    async def send(self, frame: bytes) -> None:
        """Send one frame.

        Raises:
            ChannelEnded: the program no longer reads.
        """

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        """The next frame of at most ``max_bytes``, within ``timeout`` seconds.

        They are seconds of CPU and of the program's clock.

        Raises:
            ChannelEnded, ChannelTimeout, FrameTooLong: see there.
        """

    async def finish(self, wait: float | None = None) -> Exit:
        """Wait at most ``wait`` wall seconds (None: to a limit) for its end, then kill it.

        When this returns, nothing of the program runs any more.
        """

    async def close(self) -> None:
        """Give the place back; kills what still runs.  Safe to call twice."""


class Sandbox(Protocol):
    """One way to run programs.

    Part ``sandbox`` of a plugin is a class that is built with its options.

    The class says which tier its sessions have, in an attribute ``tier``, unless only a session can
    tell: stages then take it by its name, as ``isolation = "plugin/part"``, where the tier is
    strong enough (see `Isolation`).
    """

    async def open(self, profile: Profile, /) -> Session:
        """Lease a place; waits while all are taken.

        Raises:
            ConfigError: the profile cannot be had here; the message says what is missing and how to
                get it.
            VerifierFault: the sandbox cannot be reached now.
        """

    async def aclose(self) -> None:
        """End every process that the sandbox keeps warm."""

    def diagnose(self) -> Sequence[Diagnosis]:
        """What it can give on this machine, what it cannot, and how to get that.

        Starts nothing lasting.
        """


_open: dict[tuple[str, tuple[tuple[str, object], ...]], Sandbox] = {}


def get(name: str, **options: object) -> Sandbox:
    """The sandbox of this name, one per process and options: ``"jail"`` is ``"sandbox/jail"``.

    Raises:
        PluginError: when no plugin supplies it.
    """
    from rlenv.plugins.registry import registry

    key = (name, tuple(sorted(options.items())))
    return _open.get(key) or _open.setdefault(key, registry().parts("sandbox", name)(**options))


def close_all() -> None:
    """End every process that the sandboxes of this process keep warm.

    Blocks until that is done.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    # In a thread, since the caller may be on a loop of its own.
    with ThreadPoolExecutor(1, "rlenv-sandbox") as aside:
        while _open:
            aside.submit(asyncio.run, _open.popitem()[1].aclose()).result()
