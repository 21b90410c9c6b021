"""Episodes with numbers where Gymnasium wants numbers; tests with Gymnasium itself are those of
rlenv-train.
"""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from rlenv import Environment, Verdict, stage
from rlenv_plugin_agent import call
from rlenv_plugin_agent.episodes.gym import Episodes
from sums import TASK, game, sums


def number(verdict: Verdict) -> float:
    return -1.0 if verdict.value is None else verdict.value


def info_of(verdict: Verdict) -> dict[str, object]:
    return {"scored": verdict.scored}


def test_the_observation_of_a_game_is_its_value() -> None:
    episodes = Episodes(game(), number, info_of)
    seen, _ = episodes.reset(TASK, 4)

    assert seen == "seed 4"
    assert episodes.step(3)[:4] == ({"turn": 0}, 0.0, False, False)
    seen, reward, terminated, truncated, info = episodes.step(8)
    assert (seen, reward, terminated, truncated) == ("well done", 0.5, True, False)
    assert (info["stop"], info["scored"]) == ("done", True)


def test_a_text_of_json_may_call_tools() -> None:
    episodes = Episodes(sums(), number, info_of)
    seen, info = episodes.reset(TASK, 0)
    assert (seen, len(info["messages"])) == ("2 + 3?", 1)  # type: ignore[arg-type]

    assert episodes.step(json.dumps(call("add", a=2, b=3)))[0] == "5"
    assert episodes.step('["tool_calls"]')[1:4] == (0.0, True, False)  # a text
    episodes.reset(TASK, 0)
    assert episodes.step('{"tool_calls": ')[2] is True
    episodes.close()


def test_an_unscored_episode_is_truncated() -> None:
    @stage(where="inline")
    def broken(visible: str) -> float:
        raise OSError

    episodes = Episodes(Environment("x", broken), number, info_of)
    episodes.reset(TASK, 0)

    assert episodes.step("5")[1:4] == (-1.0, False, True)


def test_what_a_policy_is_told_are_copies() -> None:
    episodes = Episodes(sums(), number, info_of)
    _, info = episodes.reset(TASK, 0)
    told = cast("Any", info)
    with pytest.raises(TypeError, match="read-only"):
        told["messages"][0]["content"] = "changed"
    told["tools"][0]["function"].clear()
    seen, *_, last = episodes.step(json.dumps(call("add", a=2, b=3)))
    again = cast("Any", last)

    assert seen == "5"
    assert again["messages"][0]["content"] == "2 + 3?"
    assert again["tools"][0]["function"]["name"] == "add"
