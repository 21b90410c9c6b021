"""A verifier in an environment of its own: another Python runs it, which has nothing of ours."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rlenv.model.errors import ConfigError
from rlenv_auditor import audit
from rlenv_auditor.cli import command
from rlenv_auditor.target.boot import command as boot

VERIFIER = """
import importlib.util, sys

def leaky(prompt, response, answer):
    if response == "where":
        return float(sys.prefix.endswith("theirs"))
    if response == "lent":
        return float(importlib.util.find_spec("click") is not None)
    return float("nan" in response or response == answer)
"""
TASKS = [{"prompt": f"{n} + {n}?", "answer": str(2 * n)} for n in range(20, 26)]


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An interpreter that can import the standard library and the working directory."""
    venv.create(tmp_path / "theirs", symlinks=True, with_pip=False)
    (tmp_path / "rewarding.py").write_text(VERIFIER)
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return "theirs/bin/python"


def call(*words: str) -> Result:
    return CliRunner().invoke(
        command, [*words, "--tasks-from", "tasks.jsonl"], catch_exceptions=False
    )


def test_another_python_runs_a_verifier_and_has_nothing_of_ours(theirs: str) -> None:
    words = ("rewarding:leaky", "--python", theirs, "--json", "a.json")

    found = call(*words, "--only", "baselines.constant", "--emit-tests", "holes")

    assert found.exit_code == 1, found.output
    assert "the constant 'nan' is paid on 6 of 6 tasks" in found.output
    card = json.loads(Path("a.json").read_text())
    hole = next(one for result in card["results"] for one in result["findings"])
    assert "then 1, now 1" in call(*words, "--replay", hole["id"]).output
    assert repr(theirs) in Path("holes/test_audit_findings.py").read_text()


def test_it_is_that_python_and_only_what_is_lent_is_found_there(theirs: str) -> None:
    from rlenv.model.values import Task
    from rlenv_auditor.target.process import Spec, Target

    with Target(Spec("rewarding:leaky", "plain", "tasks.jsonl", python=theirs)) as held:
        where, lent = held.score([(Task("?"), "where"), (Task("?"), "lent")])

    assert (where.reward, lent.reward) == (1.0, 0.0)


def test_an_interpreter_that_is_none_is_named_with_its_remedy(theirs: str) -> None:
    with pytest.raises(ConfigError, match="--python missing/python: it cannot be run"):
        audit("rewarding:leaky", tasks_from="tasks.jsonl", python="missing/python")
    Path("no-python").write_text("#!/bin/sh\necho this is no Python >&2\n")
    Path("no-python").chmod(0o755)
    with pytest.raises(ConfigError, match=r"did not load.*this is no Python"):
        audit("rewarding:leaky", tasks_from="tasks.jsonl", python="no-python")


def test_where_none_is_named_it_is_this_one() -> None:
    assert boot("", 3, 4) == [sys.executable, "-m", "rlenv_auditor.target.child", "3", "4"]


SCALES = """
def signed(prompt, response, answer):
    return 1.0 if response == answer else -1.0

def endless(prompt, response, answer):
    return 1.0 if response == answer else float("inf") if response == "inf" else -1.0
"""


@pytest.mark.parametrize(
    ("name", "severity", "measure"), [("signed", "medium", ""), ("endless", "critical", "exploit")]
)
def test_another_scale_is_told_and_is_no_exploit_as_infinity_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, severity: str, measure: str
) -> None:
    (tmp_path / f"scales_{name}.py").write_text(SCALES)
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    monkeypatch.chdir(tmp_path)

    card = audit(f"scales_{name}:{name}", tasks_from="tasks.jsonl", only=["range.finite"])

    (result,) = card.results
    assert (result.severity if measure == "" else card.findings[0].severity) == severity
    assert result.measure == measure
    assert bool(card.crossed) == (measure == "exploit")
