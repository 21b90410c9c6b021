"""``train/inspect``: scorers of Inspect as stages, their own and others."""

from __future__ import annotations

import textwrap

import pytest
from leaks import EXPECTED, audited
from page import run_program, write_files
from rlenv import Environment, Task

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed here: `make test-trainers` runs this"
)

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, includes, match, mean, pattern, scorer
from inspect_policy import saying
from rlenv_train import inspect_scorer
from rlenv_train.imports.inspect import Inspect, _number

SCORERS = """
from inspect_ai.scorer import Score, accuracy, scorer
import asyncio, time

@scorer(metrics=[accuracy()])
def odd(case=""):
    async def score(state, target):
        text = case or state.output.completion
        if text == "raise": raise RuntimeError("broken")
        if text == "none": return None
        if text == "unscored": return Score.unscored(reason="scoring_failed")
        if text == "exit": raise SystemExit
        if text == "hang": await asyncio.sleep(60)
        if text == "block": time.sleep(60)
        if text == "list": return Score(value=[1, 0])
        if text == "level": return Score(value=state.metadata["level"] / 4, explanation=target.text)
        return Score(value=text)
    return score
"""


@pytest.fixture
def env(tmp_path):
    (tmp_path / "scorers.py").write_text(textwrap.dedent(SCORERS))

    def made(scorer="./scorers.py:odd", timeout=60, **options):
        stage = {
            "use": "train/inspect",
            "timeout": timeout,
            "options": {"scorer": scorer, **options},
        }
        return Environment.from_dict({"name": "x", "stage": [stage]}, base_dir=tmp_path)

    return made


TASK = Task("1+1=", answer="2", info={"level": 3})


def test_values_are_read_as_inspect_reads_them(env):
    values = {
        "C": 1.0,
        "P": 0.5,
        "I": 0.0,
        "N": 0.0,
        "yes": 1.0,
        "No": 0.0,
        "0.25": 0.25,
        "0": 0.0,
        "level": 0.75,
    }
    with env() as made:
        verdicts = [made.evaluate(TASK, text) for text in values]

    assert [verdict.value for verdict in verdicts] == list(values.values())
    assert verdicts[-1].results[0].outcome.private["explanation"] == "2"
    assert verdicts[-1].results[0].outcome.data == {}


def test_what_has_no_value_is_a_fault_and_no_zero(env):
    cases = ["raise", "none", "unscored", "exit", "list", "E", "", "-", "inf", "7"]
    with env() as made:
        faults = [made.evaluate(TASK, text).results[0].fault.kind for text in cases]

    assert faults == ["error", "contract", "contract", "error", *["contract"] * 6]


def test_unscored_abstains_where_that_is_declared(env):
    with env(may_abstain=True) as made:
        faults = [
            made.evaluate(TASK, text).results[0].fault.kind for text in ("none", "unscored", "list")
        ]

    assert faults == ["abstained", "abstained", "contract"]


@pytest.mark.parametrize("case", ["hang", "block"])
def test_a_scorer_that_hangs_is_killed(env, case):
    with env(timeout=15) as made:
        assert made.evaluate(TASK, "C").value == 1.0
    with env(timeout=5, arguments={"case": case}) as made:
        assert made.evaluate(TASK, "C").results[0].fault.kind == "timeout"


def test_a_scorer_that_calls_a_model_without_one_leaves_the_response_unscored(env):
    scorer = {"scorer": "inspect_ai.scorer:model_graded_qa"}
    with env(**scorer, deterministic=False) as made:
        fault = made.evaluate(TASK, "2").results[0].fault

    assert fault.kind == "error"
    assert "No model specified" in fault.message


@scorer(metrics=[mean()])
def length():
    async def score(state, target):
        return (
            Score.unscored()
            if "?" in state.output.completion
            else Score(value=len(state.output.completion) / 20)
        )

    return score


TEXTS = ["2", " 2\n", "the answer is 2.", "22", "3", "", "what?"]


@pytest.mark.parametrize(
    ("made", "arguments"),
    [
        (match, {}),
        (match, {"location": "any"}),
        (includes, {}),
        (pattern, {"pattern": r"(\d+)"}),
        (length, {}),
    ],
)
def test_a_scorer_gives_the_score_that_inspect_takes_from_it(tmp_path, made, arguments):
    samples = [Sample("1+1=", target="2") for _ in TEXTS]
    with Environment("x", Inspect(made, arguments=arguments, may_abstain=True)) as env:
        scorers = [made(**arguments), inspect_scorer(env)]
        task = inspect_ai.Task(
            dataset=samples, solver=saying(TEXTS), scorer=scorers, metrics=[accuracy()]
        )
        (log,) = inspect_ai.eval(
            task, model="mockllm/model", log_dir=str(tmp_path), display="none", max_samples=1
        )
    assert log.status == "success", log.error
    scores = [list(sample.scores.values()) for sample in log.samples]
    pairs = [
        [
            value if isinstance(value := score.value, float) and value != value else _number(value)
            for score in both
        ]
        for both in scores
    ]

    assert [through for _, through in pairs] == pytest.approx(
        [own for own, _ in pairs], nan_ok=True
    )


def test_the_program_of_the_page_runs(tmp_path):
    write_files("import-rewards.md", tmp_path)

    assert run_program("inspect_try.py", tmp_path).splitlines()[-1] == "1.0"


AUDITED = """
from inspect_ai.scorer import Score, accuracy, scorer

@scorer(metrics=[accuracy()])
def leaky():
    async def score(state, target):
        return Score(value=float(target.text in state.output.completion))
    return score

@scorer(metrics=[accuracy()])
def sound():
    async def score(state, target):
        return Score(value=float(target.text == state.output.completion.strip()))
    return score
"""


@pytest.mark.parametrize("option", ["", "scorer"], ids=["bare", "stage"])
def test_an_audit_finds_a_leak_and_clears_a_sound_one(tmp_path, monkeypatch, option):
    (tmp_path / "audited.py").write_text(AUDITED)
    monkeypatch.chdir(tmp_path)
    for name, statuses in EXPECTED.items():
        target = f"./audited.py:{name}"
        assert audited(tmp_path, target, "inspect", option) == statuses
