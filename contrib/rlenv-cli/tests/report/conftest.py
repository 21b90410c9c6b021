"""Files of scores to make reports of, and a headless Chromium."""

from __future__ import annotations

import json

import pytest
from browser import started
from rlenv_cli.scores.file import Header


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser for all tests of this process; skips where none is installed."""
    browser = started(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


def stage(name="equal", score=1.0, **more):
    return {
        "name": name,
        "use": "core/equal",
        "phase": "diff",
        "score": score,
        "weight": 1.0,
        "gate": None,
        "penalty": 0.0,
        "bonus": 0.0,
        "detail": "",
        "data": {},
        "private": {},
        "steps": None,
        "fault": None,
        "seconds": 0.001,
        "children": [],
        **more,
    }


def row(reward=1.0, task="t", response="an answer", **more):
    stages = more.pop("stages", None)
    fault = (
        None if reward is not None else {"kind": "error", "message": "it broke", "transient": False}
    )
    return {
        "task": task,
        "response": response,
        "reward": reward,
        "passed": None if reward is None else reward >= 1.0,
        "stopped_at": None,
        "fault": fault,
        "stages": [stage(score=reward, fault=fault)] if stages is None else stages,
        **more,
    }


@pytest.fixture
def scores(tmp_path):
    """Write a file of scores from rows without numbers; its path."""

    def write(rows, name="s.jsonl", **header):
        fields = {
            "env": "demo",
            "fingerprint": "f" * 64,
            "tasks_sha256": "a" * 64,
            "responses_sha256": "b" * 64,
        }
        made = Header(**{**fields, **header})
        chain = made.chain()
        plain = ((json.dumps({"row": n, **r}) + "\n").encode() for n, r in enumerate(rows, 1))
        lines = [made.line(), *map(chain.link, plain)]
        path = tmp_path / name
        path.write_bytes(b"".join(lines))
        return path

    return write


@pytest.fixture
def make():
    """The builders of rows and stages, which test modules cannot import."""
    return row, stage
