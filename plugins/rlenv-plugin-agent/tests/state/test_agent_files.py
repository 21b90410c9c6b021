"""Which ends of a workspace meet what a task expects of its files: links, modes and folders are
compared as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from rlenv import Environment, Task, TaskError
from rlenv.sandbox import close_all
from rlenv_plugin_agent import Harness, call, rollout
from rlenv_plugin_agent.stages.expectations import ExpectedState, compare
from rlenv_plugin_agent.stages.state import State as StateStage
from rlenv_plugin_agent.state.final import FinalState
from rlenv_plugin_agent.state.listing import Listing
from rlenv_plugin_agent.state.table import State
from rlenv_plugin_agent.tools.catalog import find

FILES = {"a.txt": "a", "old/b.txt": "b"}
HASH = "0" * 64


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    harness = Harness("stateful-tool-use", tools=[find("shell")], sandbox="sandbox/jail")
    with Environment("files", StateStage(), tables={"harness": harness, "state": State()}) as made:
        yield made


def earned(
    env: Environment, expected: Mapping[str, object], gold: str, command: str
) -> float | None:
    calls = [{"name": "shell", "arguments": {"command": gold}}]
    task = Task("p", {"files": expected}, {"files": FILES, "gold": {"calls": calls}}, "t")
    left: list[Any] = [call("shell", command=command), "done"]
    return rollout(env, task, lambda *_: left.pop(0)).verdict.value


@pytest.mark.parametrize(
    ("expected", "gold", "commands"),
    [
        (
            {"out.txt": {"any": True}},
            "echo x > out.txt",
            {
                "echo y > out.txt && chmod +x out.txt": 1.0,
                "ln -s /nowhere out.txt": 0.0,
                "ln -s a.txt out.txt": 0.0,
                "mkdir out.txt": 0.0,
            },
        ),
        (
            {"out.txt": {"link": "a.txt"}},
            "ln -s a.txt out.txt",
            {"ln -s ./a.txt out.txt": 0.0, "cp a.txt out.txt": 0.0},
        ),
        (
            {"new.txt": "x\n"},
            "echo x > new.txt",
            {
                "echo x > new.txt && chmod +x new.txt": 0.0,
                "echo x > new.txt && chmod +x a.txt": 0.0,
                "echo x > new.txt && mkdir evil": 0.0,
                "mkdir tmp && echo x > new.txt && rmdir tmp && chmod 600 a.txt": 1.0,
            },
        ),
        (
            {"a.txt": {"executable": True}},
            "chmod +x a.txt",
            {"chmod +x a.txt && echo b > a.txt": 0.0, "true": 0.0},
        ),
        (
            {"old/b.txt": {"absent": True}},
            "rm old/b.txt",
            {"rm -r old": 1.0, "rm -r old && mkdir old": 1.0},
        ),
        ({"empty": {"folder": True}}, "mkdir empty", {"touch empty": 0.0}),
    ],
)
def test_ends_of_a_workspace(
    env: Environment, expected: Mapping[str, object], gold: str, commands: Mapping[str, float]
) -> None:
    assert earned(env, expected, gold, gold) == 1.0
    assert {each: earned(env, expected, gold, each) for each in commands} == commands


@pytest.mark.parametrize("mark", [f"link to {HASH}", "link to ", "folder"])
@pytest.mark.parametrize("wanted", ["", "x", {"any": True}, {"sha256": HASH}, {"absent": True}])
def test_no_predicate_of_a_file_is_met_by_what_is_no_file(mark: str, wanted: Any) -> None:
    final = FinalState(files={"f": mark})

    assert compare(final, ExpectedState(files={"f": wanted}))[0] == 0.0


def test_only_new_folders_and_empty_ones_that_went_are_changes() -> None:
    before = Listing({"d/f": "1", "e": "folder"}, frozenset({"d", "e"}))

    assert before.changed(Listing({"d": "folder", "e/f": "2"}, frozenset({"d", "e"}))) == {
        "d/f": None,
        "e/f": "2",
    }
    assert before.changed(Listing({"d/f": "1"}, frozenset({"d"}))) == {"e": None}
    assert before.changed(
        Listing({"d/f": "1", "e": "folder", "n": "folder"}, frozenset("den"))
    ) == {"n": "folder"}


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"sha265": HASH}, r'answer\.files\.f\.sha265: did you mean "sha256"'),
        ({"any": True, "execuable": True}, 'did you mean "executable"'),
        ({"zzz": 1}, "the keys are: absent, any, executable, folder, link, sha256"),
        ({"any": True, "absent": True}, "absent and any exclude each other"),
        ({}, "expected a text or a table with one of"),
    ],
)
def test_a_predicate_of_a_file_with_wrong_keys_is_rejected(wanted: Any, told: str) -> None:
    gold = {"calls": [{"name": "shell", "arguments": {"command": "true"}}]}

    with pytest.raises(TaskError, match=told):
        StateStage().validate(Task("p", {"files": {"f": wanted}}, {"gold": gold}, "t"))
