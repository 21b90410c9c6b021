"""Tools with which a policy keeps track of its task."""

from __future__ import annotations

from typing import Literal, TypedDict

from attrs import define, field

from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool

from .files import place, put, text_of, workspace_of

MARKS = {"open": " ", "doing": ">", "done": "x"}


class Item(TypedDict):
    """One thing that is to be done.

    Args:
        text: what it is.
        status: how far it is.
    """

    text: str
    status: Literal["open", "doing", "done"]


@define
class Todo:
    """The list that an episode holds for ``todo``; a stage may take it."""

    items: list[Item] = field(factory=list)


@tool(category="task management", deterministic=True)
def todo(context: ToolContext, items: list[Item] | None = None) -> str:
    """Keep a list of what is to be done, and show it.

    Args:
        context: of the episode; the policy does not give it.
        items: the new list, all of it; leave it out to see the present one.
    """
    held = context.parts.setdefault(Todo, Todo())
    assert isinstance(held, Todo)
    held.items = held.items if items is None else items
    return (
        "\n".join(f"[{MARKS[each['status']]}] {each['text']}" for each in held.items) or "[empty]"
    )


@tool(category="task management", deterministic=True)
async def section_write(context: ToolContext, file: str, heading: str, text: str) -> str:
    """Write one section of a Markdown file of the workspace: add it at the end, or replace what it says.

    Args:
        context: of the episode; the policy does not give it.
        file: the path of the file, relative to the workspace; it is made where it is missing.
        heading: the heading of the section, of level 2, without its marks.
        text: what the section says.
    """  # noqa: E501 - a policy reads it as it stands
    if not heading.strip() or len(heading.splitlines()) > 1:
        raise ToolError("a heading is one line of text")
    workspace = workspace_of(context)
    present = any(each.path == place(file) for each in await workspace.list())
    lines = (await text_of(workspace, file)).splitlines() if present else []
    start, end = _section(lines, f"## {heading.strip()}")
    before = "\n".join(lines[:start]).strip()
    after = "\n".join(lines[end:]).strip()
    parts = [before, f"## {heading.strip()}", text.strip(), after]
    await put(workspace, file, "\n\n".join(each for each in parts if each) + "\n")
    return f"{file}: {'replaced' if end > start else 'added'} the section {heading.strip()!r}"


def _section(lines: list[str], title: str) -> tuple[int, int]:
    """Return from where to where it goes; both are the end where it is missing."""
    if title not in lines:
        return len(lines), len(lines)
    start = lines.index(title)
    later = (i for i in range(start + 1, len(lines)) if lines[i].startswith(("# ", "## ")))
    return start, next(later, len(lines))
