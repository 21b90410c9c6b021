"""Messages of a policy: whatever it returns becomes one message of the assistant."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from attrs import field, frozen
from attrs.validators import instance_of, optional
from rlenv import Tokens, Trajectory
from rlenv.authoring import dumps, plain

Message: TypeAlias = Mapping[str, object]
KEPT = ("content", "reasoning_content")
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@frozen
class Reply:
    """An action of a policy that knows more than its message.

    Args:
        message: a text, a message of the assistant, or for games a value.
        tokens: the ids that it was given and sampled in this call.
    """

    message: object
    tokens: Tokens | None = field(default=None, validator=optional(instance_of(Tokens)))


# A text, a message, a Reply, or for games a value.
Action: TypeAlias = object


def call(name: str, /, **arguments: object) -> dict[str, object]:
    """Make a message of a policy that calls one tool; for policies that are written by hand.

    Args:
        name: of the tool, by position, since a tool may have an argument of this name.
        **arguments: values of JSON.
    """
    return calls((name, arguments))


def calls(*wanted: tuple[str, Mapping[str, object]], content: str = "") -> dict[str, object]:
    """Make a message of a policy that calls several tools at once.

    Args:
        *wanted: (name, arguments) pairs.
        content: the text of the message.
    """
    named = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in wanted]
    made = [{"type": "function", "function": each} for each in named]
    return {"role": "assistant", "content": content, "tool_calls": made}


def text_of(value: object) -> str:
    """Return a value as the text of a message: a string as it is, None as "", anything else as
    JSON.
    """
    if isinstance(value, str):
        return str.__str__(value)
    return "" if value is None else dumps(value)


def assistant(action: Action, turn: int) -> dict[str, object]:
    """Return the action as a message of the assistant: its content, its reasoning and its calls,
    and nothing else.

    So no policy writes what a tool said, or speaks as the system.  It never raises: what cannot be
    read is left out.

    Args:
        action: a text, a message, or a value, which becomes a text of JSON.
        turn: messages of the policy before this one; for the ids of calls that bring none.
    """
    try:
        if isinstance(action, Mapping) and is_message(action):
            return _message(action, turn)
        return {"role": "assistant", "content": text_of(action)}
    except Exception:  # noqa: BLE001 - an object of the policy may raise whatever it likes when it is read
        return {"role": "assistant", "content": ""}


def is_message(action: Message) -> bool:
    """Tell a message from a value of a game that is a dict.

    Args:
        action: that a policy returned.
    """
    return "role" in action or "content" in action or "tool_calls" in action


def action_for_user(action: Action, message: Message) -> object:
    """Return what a user is told of an action: the text of its message, or the value that it is.

    Args:
        action: that the policy returned.
        message: that ``assistant`` made of it.
    """
    action = action.message if isinstance(action, Reply) else action
    if isinstance(action, str) or (isinstance(action, Mapping) and is_message(action)):
        return Trajectory((message,)).final
    return action


def _message(action: Message, turn: int) -> dict[str, object]:
    made: dict[str, object] = {"role": "assistant", "content": ""}
    for key in KEPT:
        given = action.get(key)
        if isinstance(given, (str, list)):
            made[key] = text_of(given) if isinstance(given, str) else plain(given)
    given = action.get("tool_calls")
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)) and given:
        made["tool_calls"] = _calls(given, turn)
    return made


def _calls(given: Sequence[object], turn: int) -> list[dict[str, object]]:
    ids = [_id(each) for each in given]
    unique = None not in ids and len({*ids}) == len(ids)
    pairs = enumerate(zip(given, ids, strict=True))
    return [_call(each, str(own) if unique else f"call_{turn}_{i}") for i, (each, own) in pairs]


def _id(given: object) -> str | None:
    found = given.get("id") if isinstance(given, Mapping) else None
    return found if type(found) is str and ID.fullmatch(found) else None


def _call(given: object, name: str) -> dict[str, object]:
    found = _function(given) if isinstance(given, Mapping) else {}
    wanted = text_of(found.get("name"))
    arguments = text_of(found.get("arguments")) or "{}"
    function = {"name": wanted, "arguments": arguments}
    return {"id": name, "type": "function", "function": function}


def _function(given: Message) -> Message:
    """Return the name and the arguments of a call, which LangChain and OpenAI's Responses API write
    without ``function``.
    """
    function = given.get("function")
    if isinstance(function, Mapping):
        return function
    if "function" in given or "name" not in given:
        return {}
    return {"name": given["name"], "arguments": given.get("arguments", given.get("args"))}


def user_said(messages: Sequence[Message], text: str) -> list[Message]:
    """Return the messages with a text of the user at their end, in the last message where that is
    the user's already.

    Chat templates as those of Gemma and Cohere reject two messages of the user in a row.

    Args:
        messages: of a conversation; they are not changed.
        text: of the user.
    """
    if not messages or messages[-1].get("role") != "user":
        return [*messages, {"role": "user", "content": text}]
    last = messages[-1]
    content = last.get("content")
    made: object = f"{content}\n\n{text}" if content else text
    if content and isinstance(content, (list, tuple)):
        made = [*content, {"type": "text", "text": text}]
    return [*messages[:-1], {**last, "content": made}]


def opening_messages(messages: Sequence[Message], system_prompt: str) -> Sequence[Message]:
    """Return the messages of a task; the harness's system prompt wins.

    Args:
        messages: of the task.
        system_prompt: of the harness; "" keeps the task's own.
    """
    if not system_prompt:
        return messages
    others = [each for each in messages if each.get("role") != "system"]
    return [{"role": "system", "content": system_prompt}, *others]


def calls_of(message: Message) -> list[dict[str, str]]:
    """Return the calls of a message that ``assistant`` made: id, name and arguments of each."""
    found = message.get("tool_calls", ())
    assert isinstance(found, (list, tuple))
    return [{"id": each["id"], **each["function"]} for each in found]


def copies(messages: Sequence[Message]) -> list[Message]:
    """Copies of messages, or of the schemas of tools, as plain dicts and lists to change."""
    return [
        {k: v if type(v) is str else _copy_value(v) for k, v in each.items()} for each in messages
    ]


def _copy_value(value: object) -> object:
    """Copy plain values as ``copy.deepcopy`` does, in a sixth of its time."""
    if isinstance(value, dict):
        return {key: _copy_value(item) for key, item in value.items()}
    return [*map(_copy_value, value)] if isinstance(value, list) else value


def json_of(text: str | bytes, constant: Callable[[str], object] | None = None) -> object:
    """Return the value that a text of JSON has; None where it is not JSON, or nested too deeply to
    be read.

    Args:
        text: from anywhere.
        constant: what NaN and infinities are, of their names; by default floats.
    """
    try:
        return json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError):
        return None


def count_tokens(messages: Sequence[Message]) -> int:
    """Estimate how many tokens messages have: one for four characters, and four for each message.

    Args:
        messages: of any role.
    """
    return sum(4 + (_characters(each) + 3) // 4 for each in messages)


def _characters(message: Message) -> int:
    texts = [text_of(message[key]) for key in KEPT if key in message]
    made = calls_of(message) if "tool_calls" in message else ()
    return sum(map(len, texts)) + sum(len(each["name"] + each["arguments"]) for each in made)
