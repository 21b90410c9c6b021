"""Tools for files: of the episode's workspace, whose paths lead nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from posixpath import normpath

from rlenv.sandbox import Entry, Workspace, WorkspaceError

from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool

MOST = 1 << 20  # bytes of a file that these tools read
LONGEST = 8 << 20  # characters of a file after an edit
ENTRIES = 1_000  # that `list` shows


def workspace_of(context: ToolContext) -> Workspace:
    """Return the workspace of the episode.

    Raises:
        ToolError: it has no workspace.
    """
    return context.get(Workspace)  # type: ignore[type-abstract] # parts are named by the port's type


@contextmanager
def explain_rejection() -> Iterator[None]:
    """Tell the policy what a workspace rejects."""
    try:
        yield
    except WorkspaceError as error:
        raise ToolError(str(error)) from error


def place(path: str) -> str:
    """Return a path as a program may write it, who sees the workspace at ``/workdir``."""
    return path.removeprefix("/workdir/")


async def text_of(workspace: Workspace, file: str) -> str:
    """Return the text of a file.

    Args:
        workspace: of the episode.
        file: its path, relative to the workspace.

    Raises:
        ToolError: the file is missing, too long, or not UTF-8.
    """
    with explain_rejection():
        content = await workspace.read(place(file), MOST)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{file:.200}: not text in UTF-8") from None


async def put(workspace: Workspace, file: str, text: str) -> None:
    """Make or replace a file; one that could be executed still can.

    Args:
        workspace: of the episode.
        file: its path, relative to the workspace.
        text: all of its content.
    """
    path = place(file)
    with explain_rejection():
        found = {entry.path: entry.executable for entry in await workspace.list()}
        data = text.encode("utf-8", "replace")
        await workspace.write(path, data, executable=found.get(normpath(path), False))


@tool(category="file operations", deterministic=True)
async def file_read(context: ToolContext, file: str, start: int = 1, lines: int = 2000) -> str:
    """Read a text file of the workspace.

    Args:
        context: of the episode; the policy does not give it.
        file: its path, relative to the workspace.
        start: the first line to show, counted from 1.
        lines: how many lines to show at most.
    """
    text = await text_of(workspace_of(context), file)
    found = text.splitlines(keepends=True)
    if start < 1 or lines < 1 or (found and start > len(found)):
        raise ToolError(f"the file has {len(found)} lines; start and lines are 1 or more")
    left = len(found) - (start - 1 + lines)
    more = f"\n[{left} more lines; start = {start + lines}]" if left > 0 else ""
    return "".join(found[start - 1 : start - 1 + lines]) + more


@tool(category="file operations", deterministic=True)
async def file_write(context: ToolContext, file: str, content: str) -> str:
    """Make a file in the workspace, or replace all of it.

    Args:
        context: of the episode; the policy does not give it.
        file: its path, relative to the workspace; missing directories are made.
        content: the whole text.
    """
    await put(workspace_of(context), file, content)
    return f"wrote {len(content):,} characters to {file}"


@tool(category="file operations", deterministic=True)
async def edit_file(context: ToolContext, file: str, code: str) -> str:
    """Replace all of a file that there is in the workspace.

    Args:
        context: of the episode; the policy does not give it.
        file: its path, relative to the workspace.
        code: the new text of the whole file.
    """
    workspace = workspace_of(context)
    before = await text_of(workspace, file)
    await put(workspace, file, code)
    return f"{file}: {len(before.splitlines())} lines before, {len(code.splitlines())} now"


@tool(category="file operations", deterministic=True)
async def edit(
    context: ToolContext,
    file: str,
    old: str,
    new: str,
    everywhere: bool = False,  # noqa: FBT001, FBT002 - a policy names its arguments
) -> str:
    """Replace a text in a file of the workspace by another.

    Args:
        context: of the episode; the policy does not give it.
        file: its path, relative to the workspace.
        old: the text to replace, exactly as it is in the file; it has to be there once.
        new: what takes its place.
        everywhere: replace it wherever it is.
    """
    workspace = workspace_of(context)
    text = await text_of(workspace, file)
    count = text.count(old) if old else 0
    if count == 0 or (count > 1 and not everywhere):
        raise ToolError(
            f"the old text is in the file {count} times" + (": write more of it" if count else "")
        )
    if len(text) + count * (len(new) - len(old)) > LONGEST:
        raise ToolError(f"the file would be longer than {LONGEST:,} characters")
    await put(workspace, file, text.replace(old, new))
    return f"{file}: replaced {count} time{'s' * (count > 1)}"


def _line(entry: Entry) -> str:
    """Return an entry as ``list`` shows it."""
    if entry.kind == "directory":
        return f"{entry.path}/"
    if entry.kind == "link":
        return f"{entry.path} -> {entry.target}"
    return f"{entry.path} {entry.size}"


@tool(name="list", category="file operations", deterministic=True)
async def list_files(context: ToolContext, folder: str = "") -> str:
    """List the files of the workspace, with their sizes in bytes.

    Args:
        context: of the episode; the policy does not give it.
        folder: only what is below this folder.
    """
    with explain_rejection():
        entries = await workspace_of(context).list()
    above = normpath(place(folder) or ".")
    found = [each for each in entries if above == "." or each.path.startswith(f"{above}/")]
    lines = [_line(each) for each in found[:ENTRIES]]
    more = [f"[{len(found) - ENTRIES:,} more]"] if len(found) > ENTRIES else []
    return "\n".join([*lines, *more]) or "[empty]"
