"""Environments for tests of episodes: sums with a tool, and a game."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from rlenv import Environment, Task, stage
from rlenv_plugin_agent import (
    Config,
    End,
    Episode,
    Harness,
    Step,
    ToolContext,
    ToolError,
)


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the first.
        b: the second.
    """
    return a + b


@stage(where="inline")
def equal(visible: str, answer: str) -> bool:
    return visible == answer


@stage(where="inline")
def always(visible: str) -> float:
    return 0.5


TASK = Task("2 + 3?", answer="5", id="sum")


def sums(
    *tools: Callable[..., object],
    kind: str = "tool-use",
    config: Config | None = None,
    **rest: object,
) -> Environment:
    harness = Harness(kind, tools=tools or (add,), **rest)  # type: ignore[arg-type]
    return Environment("sums", equal, tables={"harness": harness, "config": config or Config()})


def ends(env: Environment, *actions: object) -> tuple[Episode, Step]:
    """Play these actions, of which the last ends the episode."""
    with Episode(env) as episode:
        episode.reset(TASK)
        steps = [episode.step(each) for each in actions]
    assert [step.terminated or step.truncated for step in steps[:-1]] == [False] * len(steps[:-1])
    return episode, steps[-1]


def error_in(message: Mapping[str, object]) -> dict[str, str]:
    found: dict[str, str] = json.loads(str(message["content"]))["error"]
    return found


def counting(action: object, task: Task, seed: int, context: ToolContext) -> object:
    """A game: say the seed, then its double."""
    if action is None:
        return f"seed {seed}"
    if action == "fail":
        raise ToolError("no such move")
    if action == "crash":
        raise KeyError("secret")
    return End("well done") if action in (2 * seed, str(2 * seed)) else {"turn": context.turn}


def game(user: Callable[..., object] = counting, **rest: object) -> Environment:
    harness = Harness("multi-turn", user=user, **rest)  # type: ignore[arg-type]
    return Environment("game", always, tables={"harness": harness})
