"""Inspect: the value of the odd sample, and the mean of four samples."""

from __future__ import annotations

import tempfile

import inspect_ai
from conformance_cases import CASES, GROUP, environment, native, show, versions
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver
from rlenv_train import inspect_scorer


@solver
def saying():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("fixed", state.metadata["text"])
        return state

    return solve


@scorer(metrics=[mean()])
def plain():
    async def score(state, target):
        return Score(value=native(state.output.completion, state.metadata["case"]))

    return score


@scorer(metrics=[mean()])
def ones():
    async def score(state, target):
        return Score(value=1.0)

    return score


def evaluated(scorers, case):
    samples = [Sample("1=", target="", metadata={"text": text, "case": case}) for text in GROUP]
    task = inspect_ai.Task(dataset=samples, solver=saying(), scorer=scorers)
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_ai.eval(
            task, model="mockllm/model", log_dir=folder, display="none", fail_on_error=False
        )
        if log.status != "success":
            return "the evaluation ends with an error"
        odd = next(sample for sample in log.samples if sample.metadata["text"] == "odd")
        first = log.results.scores[0]
        score = (odd.scores or {}).get(first.name)
        said = f"value {score.value}, reason {score.reason}" if score else "an error of the sample"
        return f"{said}; mean {first.metrics['mean'].value:.4g} of {first.scored_samples}"


def ours(case, others):
    with environment() as env:
        return evaluated([inspect_scorer(env), *others], case)


versions("inspect-ai")
for case in CASES:
    show(case, "native, alone", lambda case=case: evaluated([plain()], case))
    show(case, "native, next to another", lambda case=case: evaluated([plain(), ones()], case))
    show(case, "rlenv, alone", lambda case=case: ours(case, []))
    show(case, "rlenv, next to another", lambda case=case: ours(case, [ones()]))
