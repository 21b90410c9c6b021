"""The value of a variable that a path is written with is in no message: it may be a secret."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment, RlenvError, Task
from rlenv.config.files import File
from rlenv.config.taskfile import load_tasks
from rlenv.model import errors

SECRET = "hunter2-x9"
HEAD = 'name = "x"\n[[stage]]\nuse = "core/equal"\n'


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLENV_TEST_SECRET", SECRET)
    monkeypatch.setattr(errors, "_hidden", {})


def refusal(folder: Path, path: str) -> str:
    (folder / "env.toml").write_text(f"{HEAD}[tasks]\npath = '{path}'\n")
    with pytest.raises(RlenvError) as caught:
        Environment.from_file(folder / "env.toml")
    return "".join(traceback.format_exception(caught.value)) + repr(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "${RLENV_TEST_SECRET}/t.jsonl",
        "${RLENV_TEST_SECRET}.jsonl",
        "a/${RLENV_TEST_SECRET}/b/t.jsonl",
        "/${RLENV_TEST_SECRET}",
        "${RLENV_TEST_SECRET}.parquet",
        "${RLENV_TEST_SECRET}.csv.gz",
    ],
)
def test_a_file_that_is_not_there_is_named_as_it_was_written(tmp_path: Path, path: str) -> None:
    said = refusal(tmp_path, path)

    assert SECRET not in said
    assert path in said


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet", "jsonl.gz"])
def test_a_file_that_cannot_be_read_is_named_as_it_was_written(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"{SECRET}.{suffix}").write_bytes(b"{\xff\n")
    said = refusal(tmp_path, "${RLENV_TEST_SECRET}." + suffix)

    assert SECRET not in said
    assert "${RLENV_TEST_SECRET}." in said


@pytest.mark.parametrize("value", ["a\nb", "it's", "x", "a//b", "ö\u202e"])
def test_odd_and_short_values_are_hidden_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("RLENV_TEST_SECRET", value)
    said = refusal(tmp_path, "q${RLENV_TEST_SECRET}q/t.jsonl")

    for written in (value, repr(value)[1:-1], value.replace("//", "/")):
        assert f"q{written}q" not in said


def test_a_list_of_tasks_hides_it_too(tmp_path: Path) -> None:
    (tmp_path / f"{SECRET}.jsonl").write_text('{"question": "p"}\n')
    with pytest.raises(RlenvError, match="no column 'prompt'") as caught:
        load_tasks({"path": "${RLENV_TEST_SECRET}.jsonl"}, tmp_path)

    assert SECRET not in str(caught.value)


def test_what_is_made_of_a_file_holds_what_was_written(tmp_path: Path) -> None:
    (tmp_path / f"{SECRET}.jsonl").write_text('{"prompt": "p", "answer": "a"}\n')
    (tmp_path / "env.toml").write_text(
        f'{HEAD}[tasks]\npath = "${{RLENV_TEST_SECRET}}.jsonl"\nanswer = "answer"\n'
    )
    env = Environment.from_file(tmp_path / "env.toml")
    verdict = env.evaluate("p", "a")

    assert verdict.value == 1.0
    for made in (env, env.slots, env.fingerprint, env.tasks.ids, verdict, str(verdict), vars(env)):
        assert SECRET not in repr(made)


def test_a_file_is_read_where_its_variable_is_not_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = pickle.dumps(File("${RLENV_TEST_SECRET}/x", tmp_path))
    monkeypatch.delenv("RLENV_TEST_SECRET")
    file = pickle.loads(blob)

    assert (file, file.path) == ("${RLENV_TEST_SECRET}/x", tmp_path / SECRET / "x")


class Reads:
    """Reads a file that is not there."""

    where = "worker"

    def __init__(self, file: File) -> None:
        self.file = file

    def check(self, _: Any) -> Any:
        self.file.path.read_bytes()


@pytest.mark.parametrize("isolate", [False, True])
def test_the_fault_of_a_stage_hides_it(tmp_path: Path, isolate: bool) -> None:
    stage = Reads(File("${RLENV_TEST_SECRET}/x", tmp_path))
    stage.where = "worker" if isolate else "inline"
    with Environment("x", stage) as env:
        fault = env.evaluate(Task("p"), "r").fault

    assert fault is not None
    assert "${RLENV_TEST_SECRET}/x" in fault.message
    assert SECRET not in fault.message
