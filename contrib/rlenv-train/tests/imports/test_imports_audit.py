"""``rlenv audit`` finds what a reward function of a trainer pays for, bare and as a stage."""

from __future__ import annotations

import json

import pytest
from rlenv_audit import audit

ONLY = ("gold.passes", "gold.near", "baselines.options")
ENV = """
name = "sums"
[tasks]
path = "tasks.jsonl"
id = "id"
prompt = "prompt"
answer = "answer"
[[stage]]
use = "train/{kind}"
options = {{ function = "./{kind}.py:{function}" }}
"""
ANSWERS = {"17 + 25": "42", "12 * 12": "144", "90 - 37": "53", "2 ** 10": "1024"}


@pytest.fixture
def audited(files, monkeypatch):
    rows = [{"id": ask, "prompt": f"{ask} = ?", "answer": answer} for ask, answer in ANSWERS.items()]  # fmt: skip
    (files.folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(files.folder)

    def statuses(kind, function, *, bare):
        if bare:
            target = {"target": f"./{kind}.py:{function}", "signature": kind, "tasks_from": "tasks.jsonl"}  # fmt: skip
        else:
            (files.folder / "env.toml").write_text(ENV.format(kind=kind, function=function))
            target = {"target": "env.toml"}
        card = audit(**target, only=ONLY, tasks=4)
        return {result.probe: result.status for result in card.results}

    return statuses


@pytest.mark.parametrize("kind", ["trl", "verl"])
@pytest.mark.parametrize("bare", [True, False], ids=["bare", "stage"])
def test_a_leak_is_found_and_a_sound_function_is_clean(audited, kind, bare):
    leaks = {"gold.passes": "clean", "gold.near": "found", "baselines.options": "found"}

    assert audited(kind, "leaky", bare=bare) == leaks
    assert audited(kind, "sound", bare=bare) == dict.fromkeys(ONLY, "clean")
