"""Our own plugins are audited as anybody's verifier is: nothing is found.

`rlenv audit` with all its probes was run on the same environments by hand; what costs minutes there (a program that
never ends, on a slow machine) is left to the tests of the plugins.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from rlenv_audit import Scorecard, audit
from zoo_judges import serving

HERE = Path(__file__).resolve().parent
OWN = HERE / "own"
EXAMPLES = HERE.parents[2] / "examples"
TEXTS = (
    "gold",
    "baselines",
    "robustness",
    "range",
    "secrecy",
    "meaning",
    "opinion",
    "exploits",
    "optimizer",
)
FRESH = ("determinism.repeated", "determinism.threads", "determinism.process")
KERNELS = ("vadd-numba", "relu-numba")


def right_of(path: Path, tasks: Sequence[str] = ()) -> dict[str, list[str]]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {
        row["task"]: [row["response"]]
        for row in rows
        if row.get("right", True) and (not tasks or row["task"] in tasks)
    }


def audited(
    env: Path,
    probes: Sequence[str],
    tasks: int,
    right: Mapping[str, Sequence[str]] | None = None,
) -> Scorecard:
    """An audit that is given all the time that a busy machine may need."""
    return audit(str(env), only=probes, tasks=tasks, right=right, budget=600.0, patience=120.0)


def clean(card: Scorecard) -> None:
    found = [f"{one.id}: {one.title}: {one.response[:80]!r}" for one in card.findings]
    assert found == []
    asked = {one.probe for one in card.results if one.status != "skipped"}
    assert {"gold.passes", "gold.swap", "baselines.constant", "robustness.total"} <= asked


def test_math_pays_what_is_right_and_nothing_else() -> None:
    clean(audited(EXAMPLES / "everyday" / "env.toml", (*TEXTS, *FRESH), 8))


@pytest.mark.slow  # runs a thousand programs one after another
def test_code_pays_programs_that_pass_and_nothing_else() -> None:
    probes = [*TEXTS[:7], "exploits.programs", "exploits.injection", "determinism.process"]
    clean(audited(OWN / "code" / "env.toml", probes, 4))


def test_constraints_pay_what_they_ask_for_and_nothing_else() -> None:
    right = right_of(OWN / "constraints" / "right.jsonl")
    clean(audited(OWN / "constraints" / "env.toml", (*TEXTS, *FRESH), 3, right))


@pytest.fixture
def _honest_judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with serving() as url:
        monkeypatch.setenv("RLENV_JUDGE_URL", url)
        monkeypatch.setenv("RLENV_JUDGE_MODEL", "honest")
        yield


@pytest.mark.slow  # asks the judge a thousand times
@pytest.mark.usefixtures("_honest_judge")
def test_a_judge_hears_the_answer_and_nothing_else() -> None:
    clean(audited(OWN / "judge" / "env.toml", (*TEXTS, *FRESH), 4))


@pytest.mark.slow  # compiles each kernel
def test_kernels_are_paid_for_what_they_compute_and_for_nothing_else(tmp_path: Path) -> None:
    kernels = EXAMPLES / "kernels"
    rows = (kernels / "tasks.jsonl").read_text("utf-8").splitlines(keepends=True)
    shutil.copy(kernels / "env.toml", tmp_path)
    kept = [row for row in rows if json.loads(row)["id"] in KERNELS]
    (tmp_path / "tasks.jsonl").write_text("".join(kept), "utf-8")
    right = right_of(kernels / "responses.jsonl", KERNELS)

    probes = [
        *TEXTS[:4],
        "meaning.changed",
        "opinion.style",
        "exploits.injection",
        "exploits.injected",
    ]
    clean(audited(tmp_path / "env.toml", probes, 2, right))
