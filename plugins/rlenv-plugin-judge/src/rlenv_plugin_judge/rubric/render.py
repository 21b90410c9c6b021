"""Conversations as a judge reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen
from rlenv import Trajectory
from rlenv.text import Thinking, read

__all__ = ["Shown", "assistant_turns", "transcript"]

MOST = 400_000  # characters; the middle of a longer conversation is left out


@frozen
class Shown:
    """What a judge reads, how many characters of hidden reasoning were left out of it, and of which
    turn it is.
    """

    text: str
    hidden: int = 0
    turn: int = 0


def transcript(trajectory: Trajectory, thinking: Thinking) -> Shown:
    """Every message with its role, tool calls written out."""
    said = [_said(message, thinking) for message in trajectory.messages]
    text = "\n\n".join(
        f"[{message.get('role', '?')}]\n{shown.text}"
        for message, shown in zip(trajectory.messages, said, strict=True)
    )
    if len(text) > MOST:
        half = MOST // 2
        left = f"[{len(text) - MOST} characters left out]"
        text = f"{text[:half]}\n\n{left}\n\n{text[-half:]}"
    return Shown(text, sum(shown.hidden for shown in said))


def assistant_turns(trajectory: Trajectory, thinking: Thinking) -> list[Shown]:
    """What the assistant said, message by message.

    Empty ones are left out, but counted as turns.
    """
    messages = [each for each in trajectory.messages if each.get("role") == "assistant"]
    said = [evolve(_said(each, thinking), turn=turn) for turn, each in enumerate(messages)]
    return [each for each in said if each.text.strip()]


def _said(message: Mapping[str, Any], thinking: Thinking) -> Shown:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    text = content if isinstance(content, str) else ""
    hidden = 0
    if message.get("role") == "assistant":
        found = read(text, thinking)
        text = found.text
        hidden = found.hidden
    if calls := message.get("tool_calls"):
        text = f"{text}\n[tool calls] {json.dumps(calls, default=str)}".strip()
    return Shown(text, hidden)
