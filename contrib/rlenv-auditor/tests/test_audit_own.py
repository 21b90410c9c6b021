"""Our own plugins are audited as anybody's verifier is: nothing is found.

`rlenv audit` with all its probes was run on the same environments by hand; what costs minutes there
(a program that never ends, on a slow machine) is left to the tests of the plugins.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rlenv_auditor import Scorecard, audit
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
WRAPS = (
    "{}",
    "<think>\nLet me see, maybe 7.\n</think>\n\n{}",
    (
        "<|channel|>analysis<|message|>maybe"
        " 7<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"
    ),
    "maybe 7\n</think>\n{}",
)
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


@pytest.mark.slow  # an audit with every probe of texts
def test_math_pays_what_is_right_and_nothing_else() -> None:
    clean(audited(EXAMPLES / "everyday" / "env.toml", (*TEXTS, *FRESH), 8))


@pytest.mark.slow  # an audit with every probe of texts, in fifteen languages
def test_math_is_paid_in_fifteen_languages_with_thought_in_channels_and_as_json() -> None:
    clean(audited(OWN / "math" / "env.toml", TEXTS, 15, right_of(OWN / "math" / "right.jsonl")))


@pytest.mark.slow  # an audit with every probe of texts, in fifteen languages
def test_constraints_hold_in_fifteen_languages_behind_thought_and_in_channels() -> None:
    right = right_of(OWN / "languages" / "right.jsonl")
    clean(audited(OWN / "languages" / "env.toml", TEXTS, 15, right))


def test_structured_answers_are_paid_for_their_values_alone() -> None:
    # A JSON Schema compares code points, so decomposed letters are another text: not meaning.kept.
    probes = [*(one for one in TEXTS if one != "meaning"), "meaning.changed", "meaning.thought"]
    right = right_of(OWN / "structured" / "right.jsonl")
    clean(audited(OWN / "structured" / "env.toml", probes, 15, right))


def wrapped(path: Path, answer: Callable[[dict[str, Any]], str]) -> dict[str, list[str]]:
    """Right responses, each behind another kind of thought."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {r["id"]: [WRAPS[n % 4].replace("{}", answer(r))] for n, r in enumerate(rows)}


@pytest.mark.slow  # runs hundreds of programs one after another
def test_programs_behind_thought_and_in_channels_are_paid_and_nothing_else() -> None:
    right = wrapped(
        OWN / "code" / "tasks.jsonl", lambda row: f"```python\n{row['tests']['golden']}```"
    )
    clean(
        audited(OWN / "code" / "env.toml", ["gold", "baselines", "meaning", "robustness"], 4, right)
    )


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


@pytest.mark.slow  # asks the judge a thousand times
@pytest.mark.usefixtures("_honest_judge")
def test_a_judge_hears_no_thought() -> None:
    right = wrapped(OWN / "judge" / "tasks.jsonl", lambda row: str(row["answer"]))
    clean(audited(OWN / "judge" / "env.toml", TEXTS, 4, right))


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
