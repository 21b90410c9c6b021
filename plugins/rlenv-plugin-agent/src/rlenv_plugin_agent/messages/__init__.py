"""Messages of a conversation: what a policy returns becomes one, and it reads those so far."""

from __future__ import annotations

from .actions import ActionError, action_of
from .message import (
    Action,
    Message,
    Reply,
    action_for_user,
    assistant,
    call,
    calls,
    calls_of,
    copies,
    count_tokens,
    is_message,
    json_of,
    opening_messages,
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
    "action_for_user",
    "action_of",
    "assistant",
    "call",
    "calls",
    "calls_of",
    "copies",
    "count_tokens",
    "is_message",
    "json_of",
    "opening_messages",
    "read_only",
    "read_only_message",
    "read_only_messages",
    "text_of",
    "user_said",
]
