"""Messages of a conversation: what a policy returns becomes one, and it reads those so far."""

from __future__ import annotations

from .actions import ActionError, action_of
from .message import (
    Action,
    Message,
    Reply,
    assistant,
    call,
    calls,
    calls_of,
    copies,
    count_tokens,
    is_message,
    json_of,
    opening,
    said,
    text_of,
    user_said,
)
from .read_only import ReadOnlyList, read_only, read_only_message, read_only_messages

__all__ = [
    "Action",
    "ActionError",
    "Message",
    "ReadOnlyList",
    "Reply",
    "action_of",
    "assistant",
    "call",
    "calls",
    "calls_of",
    "copies",
    "count_tokens",
    "is_message",
    "json_of",
    "opening",
    "read_only",
    "read_only_message",
    "read_only_messages",
    "said",
    "text_of",
    "user_said",
]
