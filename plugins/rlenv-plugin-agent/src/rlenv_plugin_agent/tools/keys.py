"""Keys of calls: two calls are the same where the tool is, and the arguments are equal as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TypeAlias

from rlenv_plugin_agent.messages import json_of

from .tool import Tool

# Tools by name; an MCP server may add some when an episode begins.
Named: TypeAlias = Callable[[], Mapping[str, Tool]]
OWN = "episode"  # the category of tools that belong to the episode, as done and unfold


def canonical(arguments: object) -> str:
    """Write arguments as one text: keys sorted, 1.0 as 1, -0.0 as 0; strings as they are, in
    whatever Unicode form.

    What is not JSON stands for itself.

    Args:
        arguments: as the policy wrote them.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
    try:
        found = json.loads(text or "{}", parse_float=_number)
        return json.dumps(found, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return f"not JSON: {text!a}"


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def digest(*parts: str) -> str:
    """Hash of several texts."""
    return sha256(json.dumps(parts).encode()).hexdigest()


def tool_for(tools: Mapping[str, Tool], name: object, arguments: object) -> Tool | None:
    """Return the tool that a call runs; None where no tool has the name, or the arguments do not
    fit.

    Args:
        tools: those that there are.
        name: as the policy wrote it.
        arguments: as the policy wrote them.
    """
    tool = tools.get(name) if isinstance(name, str) else None
    if tool is None or tool.category == OWN:
        return None
    given = json_of(arguments or "{}") if isinstance(arguments, str) else arguments
    return None if not isinstance(given, Mapping) or tool.problem(given) else tool
