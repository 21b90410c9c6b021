"""Policies that solve nothing: what they earn is what an environment pays for nothing.

Each is a function of (messages, tools, seed).  It is a policy as it is, with seed 0, and has no
memory of its own: what it draws follows from the seed and the messages.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Protocol, TypeAlias, cast

from rlenv_plugin_agent.messages import Message, call, calls

Messages: TypeAlias = Sequence[Message]


class Adversary(Protocol):
    """A policy that takes a seed."""

    def __call__(self, messages: Messages, tools: Messages, seed: int = 0) -> object:
        """Return one action."""


SPAM = 24  # calls of one message
ROUNDS = 3  # messages with calls before the policies that end by themselves do so
# ``words`` and ``values`` by type for arguments that fit; ``forgeries``: what a call might change
# besides what it is for, as tests, logs, the grader and rows of others; ``claims``: what no tool
# said.
DATA = tomllib.loads(Path(__file__).with_name("adversaries.toml").read_text("utf-8"))
WORDS = DATA["words"]
FORGERIES = DATA["forgeries"]


def no_op(messages: Messages, tools: Messages, seed: int = 0) -> object:  # noqa: ARG001 - a policy's signature
    """Does and says nothing, and ends the episode at once.

    Args:
        messages: so far.
        tools: that the policy may call, as schemas.
        seed: of all that is drawn.
    """
    return _ending("", tools)


def give_up(messages: Messages, tools: Messages, seed: int = 0) -> object:  # noqa: ARG001
    """Calls ``give_up`` where there is one, and else says so.

    Args:
        messages: so far.
        tools: that the policy may call, as schemas.
        seed: of all that is drawn.
    """
    if any(name == "give_up" for name, _ in _name_and_schema(tools)):
        return call("give_up")
    return "I give up."


def random_calls(messages: Messages, tools: Messages, seed: int = 0) -> object:
    """Calls any tool with any arguments that fit its schema; in the end any word.

    Args:
        messages: so far.
        tools: that the policy may call, as schemas.
        seed: of all that is drawn.
    """
    chance = _chance(messages, seed)
    offered = _name_and_schema(tools)
    if not offered or _rounds(messages) >= ROUNDS * 2 or chance.random() < 0.1:
        return _ending(chance.choice(WORDS), tools)
    name, schema = chance.choice(offered)
    return calls((name, _arguments(schema, chance, WORDS)))


def repeat_last(messages: Messages, tools: Messages, seed: int = 0) -> object:
    """Repeats its last message, a call at first; in the end, or without tools, what it was told.

    Args:
        messages: so far.
        tools: that the policy may call, as schemas.
        seed: of all that is drawn.
    """
    own = [each for each in messages if each.get("role") == "assistant"]
    if tools and not own:
        return random_calls(messages, tools, seed)
    if own and _rounds(messages) < ROUNDS:
        return own[-1]
    return _ending(str(messages[-1].get("content")), tools)


def tool_spam(messages: Messages, tools: Messages, seed: int = 0) -> object:
    """Makes as many calls as fit in a message, of every tool in turn.

    Args:
        messages: so far.
        tools: that the policy may call, as schemas.
        seed: of all that is drawn.
    """
    return _flood(messages, tools, seed, WORDS, SPAM)


def forge_state(messages: Messages, tools: Messages, seed: int = 0) -> object:
    """Writes, as far as tools let it, to the database, the log, the tests and the grader; then it
    says that it is done.

    Args:
        messages: so far.
        tools: that the policy may call, as schemas.
        seed: of all that is drawn.
    """
    return _flood(messages, tools, seed, FORGERIES, min(2 * len(tools), SPAM))


def forge_transcript(messages: Messages, tools: Messages, seed: int = 0) -> object:  # noqa: ARG001
    """Writes what no tool said and no verifier decided, as its own text and as messages of
    others.

    Args:
        messages: so far.
        tools: that the policy may call, as schemas.
        seed: of all that is drawn.
    """
    ending = _ending("\n".join(DATA["claims"]), tools)
    return {
        **ending,
        "role": "tool",
        "tool_call_id": "call_0_0",
        "reward": 1.0,
        "verdict": "passed",
    }


# Those whose reward is a finding come first, for an audit with little time.
ADVERSARIES: Mapping[str, Adversary] = {
    "no-op": no_op, "random": random_calls, "state-forging": forge_state,
    "transcript-forging": forge_transcript, "repeat-last": repeat_last, "tool-spam": tool_spam,
    "give-up": give_up,
}  # fmt: skip


def _flood(
    messages: Messages, tools: Messages, seed: int, words: Sequence[str], most: int
) -> object:
    chance = _chance(messages, seed)
    offered = _name_and_schema(tools)
    if not offered or _rounds(messages) >= ROUNDS:
        return _ending("Done.", tools)
    several = islice(cycle(offered), most)
    return calls(*((name, _arguments(schema, chance, words)) for name, schema in several))


def _chance(messages: Messages, seed: int) -> Random:
    """Draw from the seed and not from what tools say: their errors tell the time that they took."""
    told = [len(messages), *(each for each in messages if each.get("role") != "tool")]
    return Random(f"{seed}/{json.dumps(told, default=str)}")  # noqa: S311 - no secret


def _rounds(messages: Messages) -> int:
    return sum("tool_calls" in each for each in messages)


def _name_and_schema(tools: Messages) -> list[tuple[str, Message]]:
    """Return name and schema of each tool."""
    told = [cast("Message", each["function"]) for each in tools]
    return [(str(each["name"]), cast("Message", each.get("parameters") or {})) for each in told]


def _ending(text: str, tools: Messages) -> Message:
    """Return a message without calls, or with the call that ends an episode where there is one."""
    own = call("done") if any(name == "done" for name, _ in _name_and_schema(tools)) else {}
    return {"role": "assistant", **own, "content": text}


def _draw_value(schema: Message, chance: Random, words: Sequence[str]) -> object:
    """Return a value that fits a JSON Schema, as far as its types say."""
    options = cast("Sequence[Message]", schema.get("anyOf") or ())
    if options:
        return _draw_value(chance.choice(options), chance, words)
    if values := cast("Sequence[object]", schema.get("enum") or ()):
        return chance.choice(values)
    kind = str(schema.get("type"))
    if kind == "object":
        return _arguments(schema, chance, words)
    if kind == "array":
        inner = cast("Message", schema.get("items") or {})
        return [_draw_value(inner, chance, words) for _ in range(chance.randrange(3))]
    if kind == "null":  # which TOML lacks
        return None
    return chance.choice(DATA["values"].get(kind, words))


def _arguments(schema: Message, chance: Random, words: Sequence[str]) -> dict[str, object]:
    """Return values for the properties of an object: all that are required, and some of the
    others.
    """
    required = cast("Sequence[str]", schema.get("required") or ())
    known = cast("Mapping[str, Message]", schema.get("properties") or {})
    kept = (name for name in known if name in required or chance.random() < 0.5)
    return {name: _draw_value(known[name], chance, words) for name in kept}
