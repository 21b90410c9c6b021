"""Our corpus of labelled cases: nothing wrong is paid for, and what is right is recognized in any
notation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv_plugin_math.equal import Equal

HERE = Path(__file__).parent / "cases"
KINDS = sorted(path.stem for path in HERE.glob("*.jsonl"))
REPEAT = re.compile(r"⟦([^⟧]*)×(\d+)⟧")


def cases(kind: str) -> Iterator[dict[str, Any]]:
    for line in (HERE / f"{kind}.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)


def written_out(text: str) -> str:
    """``⟦ab×3⟧`` stands for ``ababab``, so that bombs stay small in the files."""
    return REPEAT.sub(lambda m: m[1] * int(m[2]), text)


def score(case: dict[str, Any], stage: Equal) -> float:
    task = Task("a question", answer=case["gold"], id=case["id"])
    stage.validate(task)
    outcome = stage.check(Attempt(task, written_out(case["response"])))
    assert outcome.score in (0.0, 1.0)
    return outcome.score


@pytest.mark.parametrize("kind", KINDS)
def test_no_wrong_answer_is_paid(kind: str) -> None:
    stage = Equal()
    paid = [c for c in cases(kind) if not c["right"] and score(c, stage) > 0]
    assert not paid, "\n".join(f"{c['id']}: {c['gold']!r} <- {c['response']!r:.200}" for c in paid)


@pytest.mark.parametrize("kind", KINDS)
def test_every_right_answer_is_recognized(kind: str) -> None:
    stage = Equal()
    refused = [c for c in cases(kind) if c["right"] and "known" not in c and score(c, stage) < 1]
    assert not refused, "\n".join(
        f"{c['id']}: {c['gold']!r} <- {c['response']!r:.200}" for c in refused
    )


def test_the_corpus_is_large_even_and_honest() -> None:
    everything = [case for kind in KINDS for case in cases(kind)]
    assert len(everything) >= 900
    assert len(KINDS) >= 40
    assert max(Counter(case["id"] for case in everything).values()) == 1
    rights = sum(case["right"] for case in everything)
    assert 0.3 < rights / len(everything) < 0.7
    assert sum("known" in case for case in everything) <= len(everything) / 100
    by_question: dict[tuple[str, str], set[bool]] = {}
    for case in everything:
        by_question.setdefault((case["gold"], case["response"]), set()).add(case["right"])
    assert all(len(labels) == 1 for labels in by_question.values())
