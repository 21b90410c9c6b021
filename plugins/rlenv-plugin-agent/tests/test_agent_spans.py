"""Episodes and verdicts as spans."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from rlenv import Environment, Outcome, Task, stage
from rlenv_plugin_agent import Budgets, Config, Episode, Harness, call, calls, subagent, tool
from rlenv_plugin_agent.rollouts.spans import Span, episode_span, verdict_span
from sums import TASK, sums

SECRET = "what no trace may hold"


def every(span: Span) -> Iterator[Span]:
    yield span
    for each in span.children:
        yield from every(each)


def played(env: Environment, *actions: object, task: Task = TASK) -> Span:
    with Episode(env) as episode:
        episode.reset(task, 7)
        for action in actions:
            episode.step(action)
        return episode_span(episode)


def test_an_episode_holds_its_turns_and_its_verdict_and_a_turn_its_calls() -> None:
    found = played(sums(), call("add", a=2, b=3), "5")

    assert [each.name for each in every(found)] == [
        "episode", "turn", "chat", "execute_tool add", "turn", "chat", "verdict", "stage equal",
    ]  # fmt: skip
    assert found.about["rlenv.stop"] == "passed"
    assert found.about["rlenv.reward"] == 1.0
    assert found.about["rlenv.seed"] == "7"
    assert found.children[1].about == {"rlenv.turn": 1}
    assert found.children[0].children[1].about["gen_ai.tool.name"] == "add"
    assert {each.error for each in every(found)} == {""}


def test_the_parts_of_a_span_are_no_longer_than_it_unless_they_were_side_by_side() -> None:
    found = played(sums(), call("add", a=2, b=3), "5")

    for each in every(found):
        assert sum(part.seconds for part in each.children) <= each.seconds + 1e-9


@tool(where="caller", timeout=60.0, stateful=True)
async def hold() -> None:
    """Wait until it is cancelled."""
    await asyncio.Event().wait()


@tool(where="caller", timeout=60.0)
async def nap() -> str:
    """Wait."""
    await asyncio.sleep(0)
    return "awake"


def test_each_call_that_was_made_together_with_others_has_a_span() -> None:
    env = Environment(
        "naps", lambda visible: 1.0, tables={"harness": Harness("tool-use", tools=[nap])}
    )

    async def play() -> Span:
        async with Episode(env) as episode:
            await episode.areset(Task("Nap."))
            await episode.astep(calls(*[("nap", {})] * 3))
            await episode.astep("done")
            return episode_span(episode)

    turn = asyncio.run(play()).children[0]

    assert [each.name for each in turn.children] == ["chat", *["execute_tool nap"] * 3]


def test_a_call_of_a_tool_that_there_is_not_has_no_text_of_the_policy() -> None:
    many = calls(*[(SECRET, {})] * 70)
    found = played(sums(), call(SECRET, text=SECRET), many, SECRET)

    assert SECRET not in repr(found)
    kinds = [each.error for each in every(found) if each.name == "execute_tool"]
    assert kinds == [*["unknown_tool"] * 65, *["limit"] * 6]


def test_a_name_that_no_tool_has_is_in_no_span_when_the_time_is_over_either() -> None:
    tables = {
        "harness": Harness("tool-use", tools=[hold]),
        "config": Config(budgets=Budgets(seconds=0.05)),
    }
    env = Environment("late", lambda visible: 1.0, tables=tables)
    found = played(env, calls(("hold", {}), (SECRET, {})), task=Task("Hold."))

    assert [(each.name, each.error) for each in found.children[0].children[1:]] == [
        ("execute_tool hold", "timeout"), ("execute_tool", "timeout"),
    ]  # fmt: skip
    assert SECRET not in repr(found)


def test_an_error_of_a_tool_is_one_of_its_span() -> None:
    found = played(sums(), call("add", a="x"), "5")

    assert found.children[0].children[1].error == "arguments"
    assert found.children[0].children[1].name == "execute_tool add"


def test_what_a_subagent_does_is_in_the_call_that_started_it() -> None:
    def policy(messages: object, tools: object) -> str:
        return SECRET

    helper = subagent(policy, name="helper")
    env = Environment(
        "helped", lambda visible: 1.0, tables={"harness": Harness("tool-use", tools=[helper])}
    )
    from rlenv_plugin_agent.tools.subagent import Actor

    async def play() -> Span:
        async with Episode(env) as episode:
            await episode.areset(Task("Ask."))
            episode.attend(Actor(policy))
            await episode.astep(call("helper", prompt=SECRET))
            await episode.astep("done")
            return episode_span(episode)

    found = asyncio.run(play())

    assert [each.name for each in every(found.children[0])] == [
        "turn",
        "chat",
        "execute_tool helper",
    ]
    assert SECRET not in repr(found)


@stage(where="inline")
def telling(visible: str, answer: str) -> Outcome:
    return Outcome(0.5, f"detail {SECRET}", {"data": SECRET}, private={"gold": answer})


@stage(where="inline")
def failing(visible: str) -> float:
    raise RuntimeError(SECRET)


@pytest.mark.parametrize("response", ["right", SECRET])
def test_a_verdict_has_stages_and_theirs_and_none_of_what_they_say(response: str) -> None:
    env = Environment("nested", [telling, Environment("inner", [telling, telling]).root])
    found = verdict_span(env.evaluate(Task(SECRET, answer=SECRET), response))

    assert SECRET not in repr(found)
    assert found.about["rlenv.reward"] == 0.5
    first, second = found.children
    assert first.about == {
        "gen_ai.evaluation.name": "telling",
        "gen_ai.evaluation.score.value": 0.5,
    }
    assert [each.name.rpartition("/")[2] for each in second.children] == ["telling", "telling-2"]


def test_an_unscored_verdict_is_an_error_of_the_kind_of_its_fault() -> None:
    found = verdict_span(Environment("bad", failing).evaluate(Task("x"), "y"))

    assert (found.error, found.children[0].error) == ("error", "error")
    assert found.about["rlenv.reward"] is None
    assert SECRET not in repr(found)
