"""The audit takes what an environment takes: a function, a stage, a list of them, by module or by
file, or an env.toml of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rlenv.model.errors import ConfigError
from rlenv_auditor import audit

SOURCE = """
import rlenv

def score(response, answer):
    return float(response.strip() == answer)

async def later(visible, info, answer):
    return {"score": visible.strip() == answer}

@rlenv.stage(where="inline", uses=("answer",))
def declared(attempt):
    return rlenv.Outcome(float(attempt.response.strip() == attempt.task.answer))

class City:
    where = "inline"
    uses = ("answer",)

    def check(self, attempt):
        return rlenv.Outcome(float(attempt.response.strip() == attempt.task.answer))

BUILT = City()
BOTH = [score, BUILT]

def loose(response):
    return 1.0

def foreign(solution_str, ground_truth):
    return 1.0

def positional(thing, other):
    return 1.0

def talking(prompts, completions, answer, **columns):
    # of TRL, for data sets of conversations
    said = [messages[-1]["content"] for messages in completions]
    return [
        float(prompt[-1]["role"] == "user" and text.strip() == want)
        for prompt, text, want in zip(prompts, said, answer)
    ]

def failing(prompts, completions, **columns):
    raise TypeError("string indices must be integers, not 'str'")
"""
ENV = """
name = "mine"
[tasks]
path = "tasks.jsonl"
id = "id"
prompt = "prompt"
answer = "answer"
[[stage]]
use = "./written.py:score"
"""
SOUND = [
    "written:score", "./written.py:score", "written:later", "written:declared", "written:City",
    "written:BUILT", "written:BOTH", "env.toml",
]  # fmt: skip
ONLY = ("gold.passes", "baselines.empty", "determinism.folder")


@pytest.fixture
def home(written: Callable[..., Path]) -> Path:
    folder = written(SOURCE)
    (folder / "env.toml").write_text(ENV)
    return folder


@pytest.mark.parametrize("target", SOUND)
def test_every_form_of_a_verifier_is_asked(home: Path, target: str) -> None:
    tasks = "" if target.endswith(".toml") else "tasks.jsonl"
    card = audit(target, tasks_from=tasks, only=ONLY, tasks=4)

    assert {result.probe: result.status for result in card.results} == dict.fromkeys(ONLY, "clean")
    assert card.archetypes == ()


@pytest.mark.parametrize("target", ["written:loose", "./written.py:loose"])
def test_a_hole_of_a_function_is_found_in_a_module_and_in_a_file(home: Path, target: str) -> None:
    card = audit(target, tasks_from="tasks.jsonl", only=["baselines.empty"], tasks=2)

    assert card.findings
    assert all(one.more["replays"] for one in card.findings)


@pytest.mark.parametrize(("name", "said"), [("foreign", "verl"), ("positional", "thing, other")])
def test_a_parameter_is_never_guessed_from_its_place(home: Path, name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot supply .*{said}|{said}") as error:
        audit(f"written:{name}", tasks_from="tasks.jsonl", only=["baselines.empty"])
    assert "--as" in str(error.value)


def test_a_function_of_trl_that_reads_messages_is_given_some(written: Callable[..., Path]) -> None:
    written(SOURCE)
    card = audit(
        "written:talking", signature="trl", tasks_from="tasks.jsonl", only=ONLY, budget=120.0
    )
    broken = audit(
        "written:failing", signature="trl", tasks_from="tasks.jsonl", only=ONLY[:2], budget=120.0
    )

    assert card.findings == ()
    assert "TypeError: string indices" in broken.findings[0].title
