"""``rlenv score --on``: another distribution's executor, found by name."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from rlenv import Verdict
from rlenv.plugins.entry_points import PluginInfo
from rlenv_cli import needed
from rlenv_cli.app import cli

CALLS: list[str] = []


class Elsewhere:
    def __init__(self, where):
        CALLS.append(where)

    def evaluate(self, env, rows):
        for index, _ in reversed(list(enumerate(rows))):
            yield index, Verdict(index / 10, fingerprint=env.fingerprint)

    def close(self):
        CALLS.append("closed")


@pytest.fixture
def score(tmp_path, monkeypatch):
    (tmp_path / "env.toml").write_text(
        'name = "e"\n[tasks]\npath = "t.jsonl"\nid = "id"\nprompt = "p"\nanswer ='
        ' "answer"\n[[stage]]\nuse = "core/equal"\n'
    )
    (tmp_path / "t.jsonl").write_text('{"id": "1", "p": "a", "answer": "b"}\n')
    (tmp_path / "r.jsonl").write_text('{"task": "1", "response": "b"}\n' * 3)
    monkeypatch.chdir(tmp_path)
    CALLS.clear()

    def run(*options, status=0):
        words = ["score", "env.toml", "r.jsonl", "-o", "out.jsonl", *options]
        ran = CliRunner().invoke(cli, words)
        assert ran.exit_code == status, (ran.output, ran.exception)
        return ran.output

    return run


@pytest.fixture
def installed(monkeypatch):
    entry = PluginInfo("far", "stranger", "1.0", f"{__name__}:Elsewhere")
    monkeypatch.setattr(
        needed, "by_name", lambda group: {"far": entry} if group == "rlenv.on" else {}
    )
    monkeypatch.setattr(needed, "load_entry", lambda entry, what: Elsewhere)


def test_an_installed_executor_scores_in_order_and_is_closed(score, installed, tmp_path):
    score("--on", "far://host:1", "--quiet")

    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["reward"] for line in lines[1:]] == [0.0, 0.1, 0.2]
    assert CALLS == ["far://host:1", "closed"]


def test_a_name_that_nobody_installed_is_an_error_before_anything_is_written(
    score, installed, tmp_path
):
    assert "--on nonsense: nothing of this name is installed" in score("--on", "nonsense", status=2)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("flag", [["--group"], ["--workers", "2"]])
def test_what_is_for_this_machine_alone_is_an_error(score, installed, flag):
    assert "--on takes neither" in score("--on", "far", *flag, status=2)
    assert CALLS == []
