"""Episodes whose policy sees less than all of the history."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment, Task, Tokens
from rlenv_plugin_agent import Config, Episode, Harness, Policy, Reply, arollout, call, rollout
from rlenv_plugin_agent.contexts import CONTEXTS, estimate, recency
from rlenv_plugin_agent.episodes.config import Schedule
from rlenv_plugin_agent.messages import Message
from sums import TASK, always


def read(page: int) -> str:
    """Read a page."""
    return f"Page {page} says {page}. " * 60


def reading(context: Callable[..., object] | str, **config: object) -> Environment:
    harness = Harness("tool-use", tools=[read], context=context, turn_limit=700)
    tables = {"harness": harness, "config": Config(**config)}  # type: ignore[arg-type] # as of the table
    return Environment("reading", always, tables=tables)


def readers(seen: list[list[Message]], turns: int) -> Policy:
    def policy(messages: list[Message], tools: list[Message]) -> object:
        seen.append(messages)
        return call("read", page=len(seen)) if len(seen) <= turns else "done"

    return policy


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_policy_is_given_a_view_within_the_budget_and_the_trajectory_is_whole(
    context: str,
) -> None:
    seen: list[list[Message]] = []
    env = reading(context, context_budget=6_000)
    played = rollout(env, TASK, readers(seen, 30))

    assert (played.stop, played.verdict.value) == ("done", 0.5)
    assert len(seen) == 31
    assert len(played.trajectory.messages) == 1 + 2 * 30 + 1
    tools = env.tables["harness"].named.values()  # type: ignore[attr-defined] # it is a Harness
    room = 6_000 - estimate(
        [{"role": "system", "content": json.dumps([each.offered for each in tools])}]
    )
    assert max(map(estimate, seen)) <= room
    assert played.trajectory.artifacts == ()


@pytest.mark.slow  # 600 turns of an episode; the managers themselves are tested with as many
def test_600_turns_of_an_episode_grow_with_the_schedule() -> None:
    seen: list[list[Message]] = []
    schedule = Schedule([(200, 65_536), (400, 131_072)])
    env = reading("fold", context_budget=32_768, schedule=schedule)
    played = rollout(env, TASK, readers(seen, 600))
    sizes = [estimate(each) for each in seen]

    assert played.stop != "context"
    assert max(sizes[:200]) <= 32_768 < max(sizes[200:400]) <= 65_536 < max(sizes[400:]) <= 131_072


def test_fold_offers_unfold_which_reads_the_episode_itself() -> None:
    with Episode(reading("fold", context_budget=6_000)) as episode:
        episode.reset(TASK)
        for page in range(30):
            episode.step(call("read", page=page))
        found = episode.step(call("unfold", ref="result_0_0")).observation[0]["content"]
        wrong = episode.step(call("unfold", ref="result_99_0")).observation[0]["content"]

    assert "unfold" in [each["function"]["name"] for each in episode.tools]  # type: ignore[index] # as of OpenAI
    assert found == read(0)
    assert "there is no" in str(wrong)


def test_a_task_without_room_is_truncated_before_the_policy_is_asked() -> None:
    def policy(messages: list[Message], tools: list[Message]) -> object:
        raise AssertionError("it was asked")

    for context in ("", *CONTEXTS):
        played = rollout(reading(context, context_budget=100), Task("x" * 500), policy)
        assert (played.stop, played.truncated, played.verdict.value) == ("context", True, 0.5)


@pytest.mark.parametrize("context", ["", *CONTEXTS])
def test_a_policy_cannot_make_itself_unscored_by_what_it_writes(context: str) -> None:
    def tokens(text: str) -> int:
        if "<|endoftext|>" in text:
            raise ValueError("special tokens are not allowed")
        return len(text) // 4

    with Episode(reading(context, context_budget=8_000, count=tokens)) as episode:
        episode.reset(TASK)
        for text in ("<|endoftext|>", "\ud800", "\0", "result_0_0 turn_0 [a]" * 100):
            step = episode.step(
                {
                    "role": "assistant",
                    "content": text,
                    "tool_calls": call("read", page=1)["tool_calls"],
                }
            )
            assert not step.terminated
        step = episode.step("x" * 100_000)

    assert step.reward == 0.5


def test_a_context_manager_of_your_own_may_fail_and_the_episode_is_judged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def mine(
        messages: Sequence[Message], budget: int, count: object, given: int | None = None
    ) -> list[Message]:
        if len(messages) > 3:
            raise KeyError("no")
        return [*messages]

    seen: list[list[Message]] = []
    played = rollout(reading(mine, context_budget=9_000), TASK, readers(seen, 9))

    assert (played.stop, played.verdict.value, len(seen)) == ("context", 0.5, 2)
    assert "context manager failed" in caplog.text
    assert (
        rollout(reading(recency, context_budget=9_000), TASK, readers([], 9)).verdict.value == 0.5
    )


def test_functions_of_a_file_count_and_shorten(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from rlenv_plugin_agent.contexts import recency\ndef shorten(messages, budget, count,"
        " given=None):\n    return recency(messages, budget, count, given)\ndef words(text):\n   "
        " return len(text.split())\ndef read(page: int) -> str:\n    return 'word ' * 100\n"
    )
    (tmp_path / "env.toml").write_text(
        'name = "reading"\n[harness]\nkind = "tool-use"\ntools = ["./mine.py:read"]\ncontext ='
        ' "./mine.py:shorten"\n[config]\ncontext_budget = 900\ncount ='
        ' "./mine.py:words"\n[[stage]]\nuse = "core/equal"\n'
    )
    with Environment.from_file(tmp_path / "env.toml") as env, Episode(env) as episode:
        before = env.fingerprint
        episode.reset(Task("Read.", answer="done"))
        for page in range(9):
            episode.step(call("read", page=page))
        assert 3 < len(episode.view) < len(episode.messages)
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + "\nx = 1\n")

    assert Environment.from_file(tmp_path / "env.toml").fingerprint != before


def test_an_unknown_name_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="recency"):
        Episode(reading("recent"))


def ids_of(messages: Sequence[Message]) -> list[int]:
    """As of a template that only appends, with bytes for tokens; calls are left out."""
    return [*"".join(f"<{each['role']}>{each['content']}" for each in messages).encode()]


@pytest.mark.parametrize(
    ("context", "most"), [("recency", 6), ("summary", 8), ("fold", 10), ("markov", 60)]
)
def test_a_view_that_is_cut_begins_a_sample_and_the_turns_after_it_join(
    context: str, most: int
) -> None:
    sampled = 0

    def policy(messages: list[Message], tools: list[Message]) -> object:
        nonlocal sampled
        message = {**call("read", page=sampled), "content": f"I read {len(messages)}."}
        reply = ids_of([message])[len("<assistant>") :]
        sampled += len(reply)
        given = [*ids_of(messages), *b"<assistant>"]
        return Reply(message if sampled < 400 else "done", Tokens(given, reply))

    played = rollout(reading(context, context_budget=24_000), TASK, policy)
    samples = played.samples()
    turns = len(played.trace)

    assert sum(sum(each.mask) for each in samples) == sampled
    assert {each.reward for each in samples} == {0.5}
    assert 1 < len(samples) <= most
    assert len(samples) < turns / 2 or context == "markov"


def test_an_assistant_message_of_the_task_is_part_of_the_task() -> None:
    talk = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": "What?"},
        {"role": "user", "content": "All."},
    ]
    with Episode(reading("recency", context_budget=5_000)) as episode:
        episode.reset(Task("All.", info={"messages": talk}))
        for page in range(9):
            episode.step(call("read", page=page))

    assert [*episode.view[:3]] == talk
    assert len(episode.view) < len(episode.messages)


def test_a_context_manager_of_your_own_is_held_to_the_budget() -> None:
    def mine(
        messages: Sequence[Message], budget: int, count: object, given: int | None = None
    ) -> list[Message]:
        return [*messages]

    assert rollout(reading(mine, context_budget=5_000), TASK, readers([], 30)).stop == "context"


def test_a_task_without_room_is_truncated_on_an_event_loop_too() -> None:
    seen: list[list[Message]] = []
    env = reading("fold", context_budget=100)
    played = asyncio.run(arollout(env, TASK, readers(seen, 1)))

    assert (played.stop, seen) == ("context", [])
