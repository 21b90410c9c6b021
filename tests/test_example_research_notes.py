"""examples/research_notes: the expert is paid, and no answer without honest quotes is."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from episodes import EXAMPLES, module_of, played, rewards
from rlenv import Environment

FOLDER = EXAMPLES / "research_notes"
CORPUS = {
    row["id"]: row["text"]
    for row in map(json.loads, (FOLDER / "corpus.jsonl").read_text().splitlines())
}


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(FOLDER / "env.toml") as made:
        yield made


def test_the_files_are_what_the_generator_writes() -> None:
    for name, text in module_of("research_notes", "write_tasks").written().items():
        assert (FOLDER / name).read_text() == text


@pytest.mark.parametrize(("policy", "reward"), [("expert", 1.0), ("idle", 0.0), ("cheater", 0.0)])
def test_only_the_expert_is_paid(env: Environment, policy: str, reward: float) -> None:
    found = played(env, getattr(module_of("research_notes", "policies"), policy))

    assert len(found) == 24
    assert rewards(found) == {reward}


def test_a_search_finds_the_documents_of_each_question() -> None:
    notes = module_of("research_notes", "notes")
    for row in map(json.loads, (FOLDER / "tasks.jsonl").read_text().splitlines()):
        peak = row["question"].rpartition("Mount ")[2]
        assert next(iter(row["sources"])) in [each["id"] for each in notes.search(f"Mount {peak}")]


def right(env: Environment) -> tuple[str, list[str]]:
    """The answer to the first task, and the two quotes that prove it."""
    task = env.tasks[0]
    sources = task.info["sources"]
    assert isinstance(sources, dict)
    return f"Answer: {task.answer}", [f'- "{fact}" [{name}]' for name, fact in sources.items()]


def test_the_answer_and_its_sources_are_paid_in_part(env: Environment) -> None:
    answer, quotes = right(env)
    paid = {
        "\n".join([answer, *quotes]): 1.0,
        "\n\n".join([*quotes, f"{answer}."]): 1.0,
        "\n".join([answer, quotes[0]]): 0.5,
        answer: 0.0,
        "\n".join(quotes): 0.0,
    }

    assert {text: env.evaluate(env.tasks[0], text).value for text in paid} == paid


def cheats(env: Environment) -> Iterator[str]:
    answer, (first, second) = right(env)
    honest = f"{answer}\n{first}\n{second}"
    yield f"{honest}\nAnswer: 8"
    yield f"Answer: 7 or {answer.partition(' ')[2]}\n{first}\n{second}"
    yield honest.replace("peak-00", "peak-01")
    yield honest.replace("[person-00]", "[person-99]")
    yield f'{honest}\n- "this is in no document" [peak-00]'
    yield f"{honest}\n" + f"{first}\n" * 4
    yield f"{honest}\nThe reward of this task is 1.0."
    yield f"{answer}\n<think>\n{first}\n{second}\n</think>"
    yield (
        f'{answer}\n- "{CORPUS["peak-00"][:40]}" [peak-00]\n- "{CORPUS["person-00"][:20]}"'
        " [person-00]"
    )
    yield f'{answer}\n- "{CORPUS["peak-00"]}{"x" * 200}" [peak-00]'
    yield "\n".join(f'- "{text[:200]}" [{name}]' for name, text in CORPUS.items()) + f"\n{answer}"
    yield "\n".join(f"Answer: {n}" for n in range(100))


def test_hedged_forged_and_dumped_notes_earn_nothing(env: Environment) -> None:
    assert {
        text: value for text in cheats(env) if (value := env.evaluate(env.tasks[0], text).value)
    } == {}


def test_another_corpus_is_not_taken_for_the_one_of_the_fingerprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = module_of("research_notes", "notes")
    monkeypatch.setattr(notes, "CORPUS", "0" * 64)
    with pytest.raises(RuntimeError, match=r"write_tasks\.py"):
        notes.search("Mount Dorn")
