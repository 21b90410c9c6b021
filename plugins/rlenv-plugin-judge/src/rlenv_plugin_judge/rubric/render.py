"""Conversations as a judge reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rlenv.values import Trajectory

__all__ = ["assistant_turns", "transcript"]

MOST = 400_000  # characters; the middle of a longer conversation is left out


def transcript(trajectory: Trajectory) -> str:
    """Every message with its role, tool calls written out."""
    text = "\n\n".join(
        f"[{message.get('role', '?')}]\n{_said(message)}" for message in trajectory.messages
    )
    if len(text) <= MOST:
        return text
    half = MOST // 2
    return f"{text[:half]}\n\n[{len(text) - MOST} characters left out]\n\n{text[-half:]}"


def assistant_turns(trajectory: Trajectory) -> list[str]:
    """What the assistant said, message by message; empty ones are left out."""
    turns = [
        _said(message) for message in trajectory.messages if message.get("role") == "assistant"
    ]
    return [turn for turn in turns if turn.strip()]


def _said(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    text = content if isinstance(content, str) else ""
    calls = message.get("tool_calls")
    return f"{text}\n[tool calls] {json.dumps(calls, default=str)}".strip() if calls else text
