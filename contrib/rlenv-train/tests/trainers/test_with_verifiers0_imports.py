"""``train/verifiers``: rubrics and environments of verifiers before 0.2 as stages."""

from __future__ import annotations

import asyncio
import textwrap

import pytest
from leaks import EXPECTED, audited
from page import run_program, write_files
from rlenv import Environment, Task
from rlenv_train import verifiers_rubric

pytest.importorskip(
    "verifiers.rubrics",
    reason="verifiers < 0.2 is not installed here: `make test-trainers` runs this",
)

from datasets import Dataset
from rlenv_train.imports.verifiers import Verifiers
from verifiers import MathRubric, Rubric, RubricGroup, SingleTurnEnv, ThinkParser
from verifiers.types import State

FILE = """
import time
import verifiers as vf
from datasets import Dataset

def right(completion, answer, parser): return float(parser.parse_answer(completion) == answer)
async def short(completion, info, **kwargs): return len(completion[0]["content"]) <= info["level"]
def raises(completion): raise RuntimeError("broken")
def none(completion): return None
def hangs(completion): time.sleep(60)
def compares(completions): return [1.0 for _ in completions]

def load_environment(first="right", weight=0.75):
    functions = [globals()[first], short, raises]
    rubric = vf.Rubric(funcs=functions, weights=[weight, 1 - weight, 0.0])
    rows = Dataset.from_list([{"question": "1+1=", "answer": "2"}])
    return vf.SingleTurnEnv(dataset=rows, rubric=rubric)

def empty(): return vf.Rubric()
"""
TASK = Task("1+1=", answer="2", info={"level": 3})


@pytest.fixture
def env(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(FILE))

    def made(function="load_environment", timeout=60, scale=(0, 1), **arguments):
        options = {"function": f"./mine.py:{function}", "arguments": arguments, "scale": [*scale]}
        stage = {"use": "train/verifiers", "timeout": timeout, "options": options}
        return Environment.from_dict({"name": "x", "stage": [stage]}, base_dir=tmp_path)

    return made


def test_the_rubric_of_an_environment_scores(env):
    with env() as made:
        values = [made.evaluate(TASK, text).value for text in ("2", "3", "2222", "3333")]
        outcome = made.evaluate(TASK, "2").results[0].outcome

    assert values == [1.0, 0.25, 0.0, 0.0]
    assert {name: outcome.private[name] for name in ("right", "short", "raises")} == {
        "right": 1.0,
        "short": 1.0,
        "raises": None,
    }


@pytest.mark.parametrize(
    ("function", "arguments", "says"),
    [
        ("load_environment", {"first": "raises"}, "RuntimeError: broken"),
        ("load_environment", {"first": "none"}, "return 0.0 for a response that you cannot read"),
        ("load_environment", {"first": "compares"}, "none of which compares responses"),
        (
            "load_environment",
            {"weight": 2.0},
            "a weight is negative: set scale = [-1, 2] in options",
        ),
        ("load_environment", {"other": 1}, "unexpected keyword argument 'other'"),
        ("empty", {}, "a rubric needs functions"),
    ],
)
def test_what_verifiers_scores_as_zero_is_a_fault(env, function, arguments, says):
    with env(function, **arguments) as made:
        fault = made.evaluate(TASK, "2").results[0].fault

    assert fault.kind in ("error", "contract")
    assert says in fault.message


def test_a_rubric_that_punishes_scores_all_responses_in_its_scale(env):
    with env(weight=2.0, scale=(-1, 2)) as made:
        values = [made.evaluate(TASK, text).value for text in ("2", "2222", "3")]

    assert values == pytest.approx([2 / 3, 1 / 3, 0.0])


def test_a_function_that_hangs_is_killed(env):
    with env(timeout=15, first="hangs") as made:
        assert made.evaluate(TASK, "2").results[0].fault.kind == "timeout"


def exact(completion, answer, parser):
    return float(parser.parse_answer(completion) == answer)


def level(info, state, **kwargs):
    return info["level"] / 4 * (state["completion"][0]["role"] == "assistant")


def plain():
    return Rubric(funcs=[exact, level], weights=[0.5, 0.25], parser=ThinkParser())


def group():
    return RubricGroup([plain(), Rubric(funcs=[exact], weights=[0.25])])


def environment():
    rows = Dataset.from_list([{"question": "1+1=", "answer": "2"}])
    return SingleTurnEnv(dataset=rows, rubric=plain())


def math():
    return MathRubric(max_workers=1)


def scored(rubric, text):
    row = {
        "prompt": [{"role": "user", "content": "1+1="}],
        "answer": "2",
        "example_id": 0,
        "info": {"level": 3},
    }
    state = State(input=row)
    message = {"role": "assistant", "content": text}
    state.update(completion=[message], task={}, timing={}, trajectory=[])
    asyncio.run(rubric.score_rollout(state))
    return state["reward"]


@pytest.mark.parametrize("make", [plain, group, environment, math])
def test_a_rubric_gives_the_reward_that_verifiers_takes_from_it(make):
    native = getattr(make(), "rubric", None) or make()
    texts = ["2", "<think>3</think>2", r"\boxed{2}", "3", ""]
    with Environment("x", Verifiers(make)) as env:
        through = verifiers_rubric(env)
        pairs = [(scored(through, text), scored(native, text)) for text in texts]

    assert [own for own, _ in pairs] == pytest.approx([other for _, other in pairs])
    assert len({own for own, _ in pairs}) > 1


def test_the_program_of_the_page_runs(tmp_path):
    write_files("import-rewards.md", tmp_path)

    assert run_program("verifiers_try.py", tmp_path).splitlines()[-1] == "1.0"


AUDITED = """
import verifiers as vf

def leaky_reward(completion, answer): return float(answer in completion[-1]["content"])
def sound_reward(completion, answer): return float(answer == completion[-1]["content"].strip())
def leaky(): return vf.Rubric(funcs=[leaky_reward])
def sound(): return vf.Rubric(funcs=[sound_reward])
"""


@pytest.mark.parametrize("option", ["", "function"], ids=["bare", "stage"])
def test_an_audit_finds_a_leak_and_clears_a_sound_one(tmp_path, monkeypatch, option):
    (tmp_path / "audited.py").write_text(AUDITED)
    monkeypatch.chdir(tmp_path)
    for name, statuses in EXPECTED.items():
        target = f"./audited.py:{name}" + ("" if option else "_reward")
        assert audited(tmp_path, target, "verifiers", option) == statuses
