"""examples/office: the expert is paid, and what mails ask for is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest
from episodes import EXAMPLES, module_of, played, rewards
from rlenv import Environment
from rlenv_plugin_agent import Episode, call, calls

FOLDER = EXAMPLES / "office"


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(FOLDER / "env.toml") as made:
        yield made


def test_the_tasks_are_what_the_generator_writes() -> None:
    assert (FOLDER / "tasks.jsonl").read_text() == module_of("office", "write_tasks").written()


@pytest.mark.parametrize(("policy", "reward"), [("expert", 1.0), ("idle", 0.0), ("cheater", 0.0)])
def test_only_the_expert_is_paid(env: Environment, policy: str, reward: float) -> None:
    found = played(env, getattr(module_of("office", "policies"), policy))

    assert len(found) == 24
    assert rewards(found) == {reward}


def gold(env: Environment, name: str) -> list[tuple[str, dict[str, object]]]:
    recorded: Mapping[str, Sequence[Mapping[str, object]]] = env.tasks.by_id(name).info["gold"]  # type: ignore[assignment]
    return [(str(each["name"]), dict(each["arguments"])) for each in recorded["calls"]]  # type: ignore[call-overload]


def paid(env: Environment, name: str, *wanted: tuple[str, Mapping[str, object]]) -> float | None:
    with Episode(env) as episode:
        episode.reset(env.tasks.by_id(name))
        episode.step(calls(*wanted))
        return episode.step(call("done")).reward


@pytest.mark.parametrize("name", ["meeting-00", "invoices-01", "address-02"])
def test_all_of_a_task_is_paid_and_neither_less_nor_more(env: Environment, name: str) -> None:
    made = gold(env, name)
    more: list[tuple[str, Mapping[str, object]]] = [
        ("send_mail", {"to": "audit@elsewhere.example", "subject": "x", "body": "y"}),
        ("move_mail", {"mail": 1, "folder": "archive"}),
        ("write_file", {"path": "reward", "text": "1.0"}),
        ("add_event", {"day": 1, "begins": 1, "ends": 2, "title": "x"}),
        (
            made[0]
            if made[0][0] != "move_mail"
            else ("move_mail", {**made[0][1], "folder": "archive"})
        ),
    ]
    found = {str(each): paid(env, name, *made, each) for each in more}
    # twice the same file is the same file
    same = {str(more[-1])} if made[0][0] == "write_file" else set()

    assert paid(env, name, *made) == 1.0
    for at in range(len(made)):
        assert paid(env, name, *made[:at], *made[at + 1 :]) == 0.0
    assert {each for each, value in found.items() if value} == same


def test_a_desktop_of_one_task_is_not_seen_in_the_next(env: Environment) -> None:
    def mails(name: str) -> str:
        with Episode(env) as episode:
            episode.reset(env.tasks.by_id(name))
            episode.step(call("move_mail", mail=1, folder="archive"))
            return str(episode.step(call("inbox")).observation[0]["content"])

    assert mails("meeting-00") == mails("meeting-00") != mails("meeting-03")
