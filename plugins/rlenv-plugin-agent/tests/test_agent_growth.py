"""What a turn costs does not grow with the turns before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from growth import assert_growth
from rlenv_plugin_agent import Config, arollout, call, rollout, tool
from rlenv_plugin_agent.contexts import CONTEXTS
from rlenv_plugin_agent.messages import Message
from sums import TASK, add, sums

CALL = call("add", a=2, b=3)


class Plays:
    """A policy that calls a tool in so many turns and looks at the length of what it is given
    alone.
    """

    def __init__(self, turns: int) -> None:
        self.turns = turns

    def __call__(self, messages: list[Message], tools: list[Message]) -> object:
        return CALL if len(messages) // 2 < self.turns else "5"


def plays(turns: int) -> None:
    env = sums(tool(where="inline")(add), turn_limit=10_000)
    assert rollout(env, TASK, Plays(turns)).verdict.value == 1.0


def aplays(turns: int) -> None:
    env = sums(tool(where="inline")(add), turn_limit=10_000)

    async def policy(messages: list[Message], tools: list[Message]) -> object:
        return Plays(turns)(messages, tools)

    assert asyncio.run(arollout(env, TASK, policy)).verdict.value == 1.0


def plays_with_budget(turns: int) -> None:
    env = sums(tool(where="inline")(add), turn_limit=10_000, config=Config(context_budget=1 << 30))
    assert rollout(env, TASK, Plays(turns)).verdict.value == 1.0


def plays_in_context(context: str, turns: int) -> None:
    config = Config(context_budget=3_000)
    env = sums(tool(where="inline")(add), turn_limit=10_000, context=context, config=config)

    class Counts:
        """A policy that cannot tell the turn from what it is shown."""

        left = turns

        def __call__(self, messages: list[Message], tools: list[Message]) -> object:
            self.left -= 1
            return CALL if self.left else "5"

    assert rollout(env, TASK, Counts()).verdict.value == 1.0


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_cost_of_a_turn_is_that_of_what_is_new_and_shown(context: str) -> None:
    assert_growth(partial(plays_in_context, context, 300), partial(plays_in_context, context, 600))


@pytest.mark.parametrize("play", [plays, aplays, plays_with_budget])
def test_the_cost_of_an_episode_is_linear_in_its_turns(play: Callable[[int], None]) -> None:
    assert_growth(partial(play, 600), partial(play, 1_200))
