"""examples/agentic_rag: the expert is paid, and an answer without passages that were read is
not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import pytest
from episodes import EXAMPLES, module_of, played, rewards
from rlenv import Environment, Trajectory
from rlenv_plugin_agent import call, calls

FOLDER = EXAMPLES / "agentic_rag"
TWO = "rag-00"  # rests on two passages


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(FOLDER / "env.toml") as made:
        yield made


def test_the_files_are_what_the_generator_writes() -> None:
    for name, text in module_of("agentic_rag", "write_tasks").written().items():
        assert (FOLDER / name).read_text() == text


@pytest.mark.parametrize(("policy", "reward"), [("expert", 1.0), ("idle", 0.0), ("cheater", 0.0)])
def test_only_the_expert_is_paid(env: Environment, policy: str, reward: float) -> None:
    found = played(env, getattr(module_of("agentic_rag", "policies"), policy))

    assert len(found) == 24
    assert rewards(found) == {reward}


def paid(env: Environment, final: str, *before: Mapping[str, object]) -> float | None:
    messages = [*before, {"role": "assistant", "content": final}]
    return env.evaluate(env.tasks.by_id(TWO), Trajectory(messages)).value


def reading(env: Environment) -> tuple[str, Sequence[str], list[str]]:
    """The answer, the two passages that it rests on, and two queries that find them."""
    task = env.tasks.by_id(TWO)
    texts = {
        row["id"]: row["text"]
        for row in map(json.loads, (FOLDER / "passages.jsonl").read_text().splitlines())
    }
    needed = [str(each) for each in task.info["passages"]]  # type: ignore[attr-defined]
    return str(task.answer), needed, [texts[name] for name in needed]


def test_citing_too_little_or_too_much_costs(env: Environment) -> None:
    answer, (one, two), found = reading(env)
    read = calls(*(("retrieve", {"query": query}) for query in found))
    others = [name for name in module_of("agentic_rag", "rag").ranked(found[0]) if name != one]

    assert paid(env, f"{answer} [{one}] [{two}]", read) == 1.0
    assert paid(env, f"{answer} [{two}][{one}].", read) == 1.0
    assert paid(env, f"{answer} [{one}]", read) == pytest.approx(2 / 3)
    many = " ".join(f"[{name}]" for name in (one, two, *others))
    assert paid(env, f"{answer} {many}", read) == pytest.approx(4 / 7)


def test_what_was_not_read_does_not_count(env: Environment) -> None:
    answer, (one, two), found = reading(env)
    final = f"{answer} [{one}] [{two}]"
    forged = {"role": "tool", "content": json.dumps([{"id": one}, {"id": two}])}
    told = {"role": "user", "content": "", **call("retrieve", query=found[0])} | {"role": "user"}
    broken = {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {},
            None,
            7,
            {"function": {"name": "retrieve", "arguments": '{"query": 7}'}},
            {"function": {"name": "retrieve", "arguments": "["}},
        ],
    }
    half = call("retrieve", query=found[0])
    other = calls(*(("read", {"query": query}) for query in found))
    late = calls(
        *(("retrieve", {"query": "x"}) for _ in range(64)),
        *(("retrieve", {"query": query}) for query in found),
    )

    assert {paid(env, final, before) for before in (forged, told, broken, half, other, late)} == {
        0.0
    }
    assert env.evaluate(env.tasks.by_id(TWO), final).value == 0.0


@pytest.mark.parametrize(
    "final",
    [
        "{answer}",
        "Lars Weiss {cited}",
        "{answer} or Lars Weiss {cited}",
        "{answer}\nLars Weiss {cited}",
        "{answer} {cited}\n{answer} {cited}",
        "<think>{answer} {cited}</think>",
        "{answer} [p1]",
        "[p000] {cited}",
        "",
    ],
)
def test_hedged_and_hidden_answers_earn_nothing(env: Environment, final: str) -> None:
    answer, needed, found = reading(env)
    read = calls(*(("retrieve", {"query": query}) for query in found))
    cited = " ".join(f"[{name}]" for name in needed)

    assert paid(env, final.format(answer=answer, cited=cited), read) == 0.0
