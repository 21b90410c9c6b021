"""``replay`` plays a stored rollout again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from attrs import frozen
from rlenv import Environment

from rlenv_plugin_agent.episodes.episode import Episode
from rlenv_plugin_agent.episodes.harness import Harness
from rlenv_plugin_agent.episodes.steps import TRUNCATED
from rlenv_plugin_agent.errors import ERROR, EpisodeError
from rlenv_plugin_agent.messages import Message, Reply, json_of
from rlenv_plugin_agent.state.open_state import APART
from rlenv_plugin_agent.tools.keys import canonical
from rlenv_plugin_agent.tools.subagent import Actor, Playback
from rlenv_plugin_agent.waiting import wait_for

from .single import Rollout

SECONDS = re.compile(r', "seconds": [0-9.e-]+(?=}}$)')  # as `error_text` ends
SHOWN = 300  # characters of each side of a divergence


@frozen
class Divergence:
    """The place where a rollout, played again, first differs.

    Args:
        turn: messages of the policy before.
        what: ``state``, with which it began, ``observation``, ``length``, ``stop``, ``reward`` or
            ``error``.
        stored: what the rollout says; of a long observation the part where it differs.
        found: what there was now.
    """

    turn: int
    what: str
    stored: str
    found: str

    def __str__(self) -> str:
        return f"turn {self.turn}: {self.what}: stored {self.stored}, now {self.found}"


def replay(rollout: Rollout, env: Environment) -> Divergence | None:
    """Play the messages of a rollout again: the first difference, None where all is equal.

    The seconds in errors of tools do not count.

    Args:
        rollout: as it was returned or read from a file.
        env: the environment that it came from; with ``replay = "pin"`` where its tools reach the
            world.  In a persistent world the episode begins with the state that the rollout began
            with, and leaves nothing.
    """
    return wait_for(areplay(rollout, env))


async def areplay(rollout: Rollout, env: Environment) -> Divergence | None:
    """Play a rollout again as ``replay`` does, for callers with an event loop.

    Args:
        rollout: as for ``replay``.
        env: as for ``replay``.
    """
    return await asyncio.create_task(_either(rollout, env))


async def _either(rollout: Rollout, env: Environment) -> Divergence | None:
    """Return what differs later: with the texts of messages as actions, or in a game with
    values.
    """
    APART.set(rollout.start)  # of this asyncio task alone
    found = await _attempt(rollout, env, values=False)
    harness = env.tables.get("harness")
    if found is None or not isinstance(harness, Harness) or harness.answering is None:
        return found
    other = await _attempt(rollout, env, values=True)
    return None if other is None else max(found, other, key=lambda each: each.turn)


async def _attempt(rollout: Rollout, env: Environment, *, values: bool) -> Divergence | None:
    """Play it once with the texts of the messages, and in a game with the values that they are the
    JSON of.
    """
    async with Episode(env) as episode:
        try:
            await episode.areset(rollout.task, rollout.seed)
        except EpisodeError as error:
            return None if rollout.stop == "error" else Divergence(0, "error", "", str(error))
        if rollout.start not in ("", episode.start):
            return Divergence(0, "state", rollout.start, episode.start)
        episode.attend(Actor(Playback([*rollout.children])))
        replies = _replies(rollout, len(episode.messages), values=values)
        return await _replay_episode(rollout, episode, replies)


async def _replay_episode(
    rollout: Rollout, episode: Episode, replies: Sequence[Reply]
) -> Divergence | None:
    stored = rollout.trajectory.messages
    turn = 0
    same = 0
    for turn, reply in enumerate(replies):
        if episode.stop is not None:
            told = f"{len(replies)} turns", f"{episode.stop} after {turn}"
            return Divergence(turn, "length", *told)
        known = len(episode.messages)
        if differs := _difference(turn, stored[same:known], episode.messages[same:]):
            return differs
        same = known
        await episode.astep(reply)
    if episode.stop is None and rollout.stop in TRUNCATED:
        await episode.atruncate(rollout.stop)  # a limit in seconds, or of the caller
    if differs := _difference(turn + 1, stored[same:], episode.messages[same:]):
        return differs
    value = episode.verdict and episode.verdict.value
    pairs = [("stop", rollout.stop, episode.stop), ("reward", rollout.verdict.value, value)]
    wrong = (Divergence(turn + 1, what, repr(a), repr(b)) for what, a, b in pairs if a != b)
    return next(wrong, None)


def _replies(rollout: Rollout, given: int, *, values: bool) -> list[Reply]:
    """Return what the policy did, with its tokens as far back as they are stored."""
    said = rollout.trajectory.messages[given:]
    messages = [each for each in said if each.get("role") == "assistant"]
    tokens = rollout.trajectory.tokens
    known = [*[None] * (len(messages) - len(tokens)), *tokens]
    pairs = zip(messages, known, strict=False)
    return [Reply(_value(each) if values else each, told) for each, told in pairs]


def _value(message: Message) -> object:
    """Return the value that the text is the JSON of, else the message."""
    found = json_of(str(message.get("content")))
    return message if found is None else found


def _difference(
    turn: int, stored: Sequence[Message], found: Sequence[Message]
) -> Divergence | None:
    sides: Iterable[tuple[Message, Message]] = zip_longest(stored, found, fillvalue={})
    for old, new in sides:
        if old != new and _plain(old) != _plain(new):
            return Divergence(turn, "observation", *_excerpts(old, new))
    return None


def _excerpts(old: Message, new: Message) -> tuple[str, str]:
    """Return both contents, from shortly before the first character that differs."""
    texts = [repr(each.get("content", "nothing")) for each in (old, new)]
    differs = (i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    start = max(0, next(differs, min(map(len, texts))) - SHOWN // 4)
    first, second = (text[start : start + SHOWN] for text in texts)
    return first, second


def _plain(message: Message) -> str:
    """Return the message without the seconds of an error."""
    content = message.get("content")
    if isinstance(content, str) and content.startswith(ERROR):
        message = {**message, "content": SECONDS.sub("", content)}
    return canonical(message)
