"""``verifiers_rubric`` in the API of verifiers before 0.2."""

from __future__ import annotations

import asyncio

import pytest
import rlenv
from rlenv import Environment
from rlenv_train import verifiers_rubric

pytest.importorskip(
    "verifiers.rubrics",
    reason="verifiers < 0.2 is not installed here: `make test-trainers` runs this",
)

from verifiers.types import State


@rlenv.stage(where="inline")
def right(response, prompt, answer, info):
    if response == "break":
        raise RuntimeError("broken")
    return (prompt, response, info["level"]) == ("1+1=", answer, 3)


@pytest.fixture
def env():
    with Environment("sums", [right]) as made:
        yield made


def scored(rubric, text):
    row = {
        "prompt": [{"role": "user", "content": "1+1="}],
        "answer": "2",
        "example_id": 0,
        "info": {"level": 3},
    }
    state = State(input=row)
    state.update(
        completion=[{"role": "assistant", "content": text}], task={}, timing={}, trajectory=[]
    )
    asyncio.run(rubric.score_rollout(state))
    return state["reward"], state["metrics"]["rlenv_unscored"]


def test_a_rubric_scores_and_says_what_is_unscored(env):
    rubric = verifiers_rubric(env, unscored=-1.0)

    assert scored(rubric, "2") == (1.0, 0.0)
    assert scored(rubric, "3") == (0.0, 0.0)
    assert scored(rubric, "break") == (-1.0, 1.0)
