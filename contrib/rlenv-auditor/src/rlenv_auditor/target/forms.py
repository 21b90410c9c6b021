"""Responses that are more than one text: a conversation, or several responses side by side.

They travel as text whose first line says what follows, so that a finding, its replay and its
emitted test hold them as they hold any other response.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen
from rlenv.model.values import Trajectory

__all__ = ["Group", "conversation", "group", "read", "retold"]

MESSAGES = "#!rlenv messages\n"
GROUP = "#!rlenv group\n"


def _tuple(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(texts)


@frozen
class Group:
    """Responses side by side, and whose reward is asked.

    Args:
        responses: in the order in which they are shown.
        of: place of the one whose reward is meant.
        names: of their slots; empty: the target's own.
    """

    responses: tuple[str, ...] = field(converter=_tuple)
    of: int = 0
    names: tuple[str, ...] = field(default=(), converter=_tuple)


def conversation(messages: Sequence[Mapping[str, Any]]) -> str:
    """A whole conversation as one response: OpenAI-style messages, what the policy was told among
    them.
    """
    return MESSAGES + json.dumps(list(messages), indent=1)


def retold(response: str, rewrite: Callable[[str], str | None]) -> str | None:
    """A response with another text: of a conversation, its last turn is rewritten; None where
    nothing is.

    Args:
        response: a text, or what ``conversation`` made.
        rewrite: text → text, or None.
    """
    said = read(response)
    if isinstance(said, str):
        return rewrite(response)
    if isinstance(said, Group) or not said.messages:
        return None
    *before, last = said.messages
    content = last.get("content")
    text = rewrite(content) if isinstance(content, str) and content else None
    return None if text is None else conversation([*before, {**last, "content": text}])


def group(responses: Sequence[str], of: int = 0, names: Sequence[str] = ()) -> str:
    """Responses side by side as one response; its reward is that of the one at place ``of``."""
    return GROUP + json.dumps({"of": of, "names": list(names), "responses": list(responses)})


def read(text: str) -> str | Trajectory | Group:
    """What a response stands for; a text that only looks like one of these stays a text."""
    try:
        if text.startswith(MESSAGES):
            return Trajectory(json.loads(text[len(MESSAGES) :]))
        if text.startswith(GROUP):
            said = json.loads(text[len(GROUP) :])
            return Group(said["responses"], int(said["of"]), said["names"])
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    return text
