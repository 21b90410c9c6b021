"""Messages of a chat, as ORS has them: roles system, user and assistant, each with blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rlenv.authoring import dumps
from rlenv_plugin_agent.messages import json_of

Object: TypeAlias = dict[str, object]
ROLES = {"developer": "system", "system": "system", "assistant": "assistant"}
# Of blocks, that candidates may hold.
TYPES = ("text", "image", "reasoning", "tool_call", "tool_result")


def text(value: str) -> Object:
    """A block of text."""
    return {"text": value, "detail": None, "type": "text"}


def blocks(content: object) -> list[Object]:
    """The content of a message: text, or parts of which images may be given in the URL itself."""
    if isinstance(content, str):
        return [text(content)] if content else []
    if content is None:
        return []
    found = content if isinstance(content, Sequence) else [content]
    return [_block(each) for each in found]


def _block(part: object) -> Object:
    match part:
        case {"type": "text", "text": str(value)}:
            return text(value)
        case {"type": "image_url", "image_url": {"url": str(url)}} if (
            url.startswith("data:") and ";base64," in url
        ):
            kind, _, data = url.removeprefix("data:").partition(";base64,")
            return {"data": data, "mimeType": kind, "detail": None, "type": "image"}
    return text(dumps(part))


def message(given: Mapping[str, object]) -> dict[str, object]:
    """One message; the answer of a tool is a block of the user's."""
    role = str(given.get("role"))
    made = blocks(given.get("content"))
    if role == "tool":
        made = [
            {
                "type": "tool_result",
                "tool_call_id": str(given.get("tool_call_id") or ""),
                "blocks": made,
                "is_error": False,
                "detail": None,
            }
        ]
    calls = given.get("tool_calls")
    if role == "assistant" and isinstance(calls, Sequence):
        made += [_call(each) for each in calls]
    return {"role": ROLES.get(role, "user"), "blocks": made, "detail": None}


def _call(given: Mapping[str, object]) -> Object:
    function = given.get("function")
    made = function if isinstance(function, Mapping) else {}
    found = json_of(str(made.get("arguments") or "{}"))
    found = {"arguments": made.get("arguments")} if found is None else found
    return {
        "type": "tool_call",
        "id": str(given.get("id") or ""),
        "name": str(made.get("name")),
        "input": found,
        "detail": None,
    }


def flat(messages: Sequence[Mapping[str, object]]) -> list[Object]:
    """The blocks of all messages."""
    return [block for each in messages for block in blocks(each.get("content"))]


def response(messages: Sequence[Mapping[str, object]]) -> str | None:
    """The text of the last message of the assistant; None without one."""
    found = [each.get("blocks") for each in messages if each.get("role") == "assistant"]
    if not found:
        return None
    inner = found[-1] if isinstance(found[-1], Sequence) else []
    return "".join(
        str(block.get("text", ""))
        for block in inner
        if isinstance(block, Mapping) and block.get("type") == "text"
    )
