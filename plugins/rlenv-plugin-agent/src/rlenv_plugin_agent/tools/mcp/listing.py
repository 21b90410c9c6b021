"""Listings of servers: what one says of its tools is bounded, escaped, and pinned by a hash."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import cast
from unicodedata import category

from attrs import field, frozen
from rlenv import ConfigError

from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.tools.tool import NAME, Tool

from .errors import ServerError
from .rpc import Rpc, Table

PAGES = 100
TOOLS = 1_000
TEXT = 4_096  # characters of one text of a listing that a policy is shown
SCHEMA = 64_000  # characters of one tool in a listing
RESULT = 256_000  # bytes of a result


@frozen
class ServerTool(Tool):
    """A tool of a server, which checks the arguments itself: its patterns and references are not
    followed here.
    """

    code: str = field(default="", init=False)  # its listing is pinned

    def problem(self, arguments: object) -> str:  # noqa: ARG002 - as of a Tool
        """Find nothing; see the class."""
        return ""


async def listing(rpc: Rpc) -> list[Table]:
    """Return all tools that a server lists, with a name and a schema each.

    Raises:
        ServerError: the server does not list them.
    """
    found: list[Table] = []
    params: dict[str, object] = {}
    for _ in range(PAGES):
        page = await rpc.request("tools/list", params)
        tools = page.get("tools")
        if not isinstance(tools, list) or not all(map(_is_tool, tools)):
            raise ServerError(
                "its listing is not a list of tools with name and inputSchema, of at most"
                f" {SCHEMA:,} characters each"
            )
        found += tools
        params = {"cursor": page.get("nextCursor")}
        if not params["cursor"] or len(found) > TOOLS:
            break
    if len(found) > TOOLS or params["cursor"]:
        raise ServerError(f"it lists more than {TOOLS:,} tools, or more than {PAGES} pages of them")
    return found


def _is_tool(found: object) -> bool:
    return (
        isinstance(found, dict)
        and isinstance(found.get("name"), str)
        and isinstance(found.get("description", ""), str)
        and isinstance(found.get("inputSchema"), dict)
        and len(json.dumps(found)) <= SCHEMA
    )


def pin_of(tools: Sequence[Table]) -> str:
    """Return a hash of what a policy is told of the tools: ``sha256:`` and 64 digits.  Their order
    does not matter.
    """
    rows = ([tool["name"], tool.get("description", ""), tool["inputSchema"]] for tool in tools)
    told = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return "sha256:" + sha256(json.dumps(told).encode()).hexdigest()


def server_tool(rpc: Rpc, told: Table, prefix: str, seconds: float) -> Tool:
    """Return the tool that calls this one of a server.

    Args:
        rpc: of the server.
        told: its entry in the listing.
        prefix: of the name that a policy calls.
        seconds: wall time of one call, at most.

    Raises:
        ConfigError: its name cannot be that of a tool.
    """
    own = str(told["name"])
    name = prefix + re.sub(r"[./]", "_", own)
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"MCP server {rpc.name}: {own!a:.100} is not a name of a tool; name the tools that you"
            " want in tools = [...]"
        )

    async def call(**arguments: object) -> str:
        return text_of(await rpc.call(own, arguments))

    schema = {"type": "object", **cast("Table", escape(told["inputSchema"]))}
    description = str(escape(told.get("description", "")))
    return ServerTool(
        function=call,
        name=name,
        description=description,
        parameters=schema,
        timeout=seconds,
        category="mcp",
        stateful=True,
    )


def escape(value: object) -> object:
    """Return a value of JSON whose texts are bounded, with control characters and invisible ones as
    escapes.
    """
    if isinstance(value, str):
        cut = value if len(value) <= TEXT else f"{value[:TEXT]} [cut]"
        return "".join(_show_character(each) for each in cut)
    if isinstance(value, Mapping):
        return {str(escape(key)): escape(item) for key, item in value.items()}
    return [escape(item) for item in value] if isinstance(value, list) else value


def _show_character(character: str) -> str:
    if character in "\n\t" or category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return character
    return f"\\u{{{ord(character):x}}}"


def text_of(result: Table) -> str:
    """Return the text of a result, of at most ``RESULT`` bytes; what is not text is named and left
    out.

    Raises:
        ToolError: it is an error, with its text.
    """
    content = result.get("content")
    parts = [_text(item) for item in content] if isinstance(content, list) else []
    if not parts and "structuredContent" in result:
        parts = [json.dumps(result["structuredContent"])]
    text = "\n".join(parts)
    raw = text.encode("utf-8", "replace")
    if len(raw) > RESULT:
        text = raw[:RESULT].decode("utf-8", "ignore") + f"\n[{len(raw) - RESULT:,} bytes left out]"
    if result.get("isError"):
        raise ToolError(text)
    return text


def _text(item: object) -> str:
    kind = item.get("type") if isinstance(item, dict) else None
    if isinstance(item, dict) and kind == "text" and isinstance(item.get("text"), str):
        return str(item["text"])
    return f"[{kind!s:.20} left out]"
