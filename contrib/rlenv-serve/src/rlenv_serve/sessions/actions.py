"""Actions of a policy, in the one form that every protocol brings and the journal keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from rlenv_plugin_agent import calls, tool

from rlenv_serve.http.answers import encode
from rlenv_serve.state.journal import JsonRecord


class Action(JsonRecord, msgspec.Struct, frozen=True, omit_defaults=True):
    """One action: exactly what its ``kind`` needs is set.

    Args:
        kind: ``say``: a message with this text.  ``call``: of one tool.  ``value``: of a game.
            ``end``: the client ends the episode, which is judged as it is.
        text: that is said.
        name: of the tool.
        arguments: of the call, an object of JSON.
        value: of a game, any of JSON.
    """

    kind: Literal["say", "call", "value", "end"]
    text: str = ""
    name: str = ""
    arguments: Mapping[str, object] = {}
    value: object = None

    def as_step(self) -> object:
        """The action as ``Episode.step`` takes it."""
        if self.kind == "call":
            return calls((self.name, self.arguments))
        if self.kind == "value":
            return "null" if self.value is None else self.value  # None is not an action
        return self.text


def text_of(value: object) -> str:
    """A text as it is, and another value as JSON."""
    return value if isinstance(value, str) else encode(value).decode()


def say(value: object) -> Action:
    """A message of the policy, as of ``text_of``; null is an empty one, as servers of models have
    it where a policy wrote nothing besides its thoughts."""
    return Action("say", text="" if value is None else text_of(value))


def call(name: str, arguments: Mapping[str, object]) -> Action:
    """Make a call of a tool; ``submit`` is a message with the answer.

    Args:
        name: of the tool.
        arguments: an object of JSON.
    """
    if name == SUBMIT:
        return say(arguments.get("answer", ""))
    return Action("call", name=name, arguments=arguments)


@tool(where="inline")
def submit(answer: str) -> str:
    """End the episode with an answer.

    Args:
        answer: The answer.
    """
    return answer


END = Action("end")
SUBMIT = submit.name
