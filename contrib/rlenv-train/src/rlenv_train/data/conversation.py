"""The prompt and the completion of a row, as messages or as texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import frozen
from rlenv import Task
from rlenv_cli.scores import ScoreRow

Message: TypeAlias = dict[str, object]
Side: TypeAlias = str | list[Message]
# Keys of a message besides role and content.
OPTIONAL = ("name", "tool_call_id", "reasoning_content", "tool_calls")


class LeftOut(Exception):
    """Why a row cannot be exported."""


@frozen
class Renderer:
    """Makes the two sides of a row.

    Args:
        tasks: task id to task; what a response that is a text answers.
        keys: keys that any message of the file has; all messages are given those, so that every row
            has one schema.
        text: write strings instead of messages.
    """

    tasks: Mapping[str, Task]
    keys: frozenset[str]
    text: bool = False

    @classmethod
    def of(cls, tasks: Mapping[str, Task], keys: Iterable[str], *, text: bool) -> Renderer:
        """One for these tasks and for responses whose messages have these keys."""
        prompts = (message for task in tasks.values() for message in task.messages)
        return cls(tasks, frozenset(keys).union(*prompts), text)

    def sides(self, row: ScoreRow) -> tuple[Side, Side]:
        """The prompt and the completion.

        Raises:
            LeftOut: when the row has none that a trainer could read.
        """
        response = row.get("response")
        task = self.tasks.get(_sound(row["task"] or ""))
        if isinstance(response, str):
            return self._of_text(task, response)
        if not isinstance(response, list):
            raise LeftOut("no response")
        if self.text:
            raise LeftOut("a conversation, and --text writes strings")
        return self._of_messages(task, response)

    def _of_text(self, task: Task | None, response: str) -> tuple[Side, Side]:
        if task is None:
            raise LeftOut("no prompt")
        if not self.text:
            said = {"role": "assistant", "content": response}
            return self._messages(task.messages), self._messages([said])
        if len(task.messages) > 1:
            raise LeftOut("a prompt of several messages, and --text writes strings")
        return _sound(task.prompt), _sound(response)

    def _of_messages(self, task: Task | None, given: Sequence[object]) -> tuple[Side, Side]:
        """What precedes the first message of the assistant is the prompt, else that of the task."""
        messages = [message for message in given if isinstance(message, Mapping)]
        roles = [message.get("role") for message in messages]
        if len(messages) < len(given) or "assistant" not in roles:
            raise LeftOut("no message of the assistant")
        first = roles.index("assistant")
        if not first and task is None:
            raise LeftOut("no prompt")
        prompt = messages[:first] or (task.messages if task is not None else [])
        return self._messages(prompt), self._messages(messages[first:])

    def _messages(self, messages: Sequence[Mapping[str, object]]) -> list[Message]:
        return [self._message(message) for message in messages]

    def _message(self, message: Mapping[str, object]) -> Message:
        """Only keys that trainers read: nothing else that a response holds gets into the data."""
        role = _sound(str(message.get("role")))
        content = _content(message.get("content"))
        given = {key: _optional(key, message.get(key)) for key in OPTIONAL if key in self.keys}
        return {"role": role, "content": content, **given}


def _optional(key: str, value: object) -> object:
    if value is None:
        return None
    if key == "tool_calls":
        return [_call(call) for call in value] if isinstance(value, list) else None
    return _sound(value if isinstance(value, str) else json.dumps(value))


def _call(call: object) -> Message:
    """A tool call; its arguments are JSON text, since those of two tools have no common schema."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        raise LeftOut("a tool call without a function")
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    made = {"name": _sound(str(function.get("name"))), "arguments": _sound(text)}
    return {"id": _sound(str(call.get("id") or "")), "type": "function", "function": made}


def _content(content: object) -> str:
    """The text of a message, also of OpenAI's list of parts."""
    if content is None or isinstance(content, str):
        return _sound(content or "")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise LeftOut("a message that is not text")
    return _sound("".join(text for text in texts if isinstance(text, str)))


def _sound(text: str) -> str:
    """The text itself; one lone surrogate would make the whole file unreadable for `datasets`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise LeftOut("a text with a lone surrogate") from None
    return text
