"""A verifier that runs what it should read gives a policy the machine of the trainer; the audit
hears it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rlenv_auditor import audit

VERIFIERS = """
import ast, contextlib, json, socket

def evaluates(prompt, response, answer):
    with contextlib.suppress(Exception):
        return float(str(eval(response)) == answer)
    return 0.0

def evaluates_lists(prompt, response, answer):
    with contextlib.suppress(Exception):
        return float(response.startswith("[") and str(eval(response)[0]) == answer)
    return 0.0

def runs(prompt, response, answer):
    with contextlib.suppress(Exception):
        exec(response.split("```python")[-1].split("```")[0], {})
    return 0.0

def reads(prompt, response, answer):
    for reader in (ast.literal_eval, json.loads):
        with contextlib.suppress(Exception):
            return float(str(reader(response)) == answer)
    return 0.0

def calls_out(prompt, response, answer):
    with contextlib.suppress(OSError):
        socket.getaddrinfo("example.invalid", 80, flags=socket.AI_NUMERICHOST)
    return float(response == answer)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "executing.py").write_text(VERIFIERS)
    rows = [{"prompt": f"{n} + {n}?", "answer": str(2 * n)} for n in range(20, 24)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("evaluates", True),
        ("evaluates_lists", True),
        ("runs", True),
        ("reads", False),
        ("calls_out", False),
    ],
)
def test_a_response_that_is_run_is_heard_and_one_that_is_read_is_not(
    home: Path, name: str, run: bool
) -> None:
    card = audit(f"executing:{name}", tasks_from="tasks.jsonl", only=["exploits.executed"])

    (result,) = card.results
    assert (result.status == "found") == run
    assert bool(card.crossed) == run
    if run:
        assert result.rate is not None
        assert result.rate.share == 1.0
        assert card.findings[0].title == "the response is run as Python, where the verifier runs"
