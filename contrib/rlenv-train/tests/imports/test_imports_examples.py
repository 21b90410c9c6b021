"""Every stage of another framework's functions has examples, which the laws hold where the
framework is installed.
"""

from __future__ import annotations

import pytest
from rlenv import ConfigError, Environment, Slot, Task
from rlenv.plugins.registry import registry
from rlenv_testing import broken_laws
from rlenv_testing.capabilities import lacking
from rlenv_testing.installed import subjects
from rlenv_train.imports.examples import EXAMPLES, trl_exact, verl_exact
from rlenv_train.imports.trl import Trl
from rlenv_train.imports.verl import Verl
from rlenv_train.plugin import rlenv_examples, rlenv_stages

PACKAGES = {
    "verifiers": "verifiers.types",
    "inspect": "inspect_ai",
    "reasoning-gym": "reasoning_gym",
}
LAWS = ["range", "uses", "right-passes", "wrong-fails", "travels", "swap"]


def test_every_stage_has_examples() -> None:
    assert set(rlenv_examples()) == set(rlenv_stages())
    assert {subject.name for subject in subjects("train")} == {f"train/{name}" for name in EXAMPLES}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_laws_hold_on_the_examples(name: str) -> None:
    lack = lacking([f"package:{PACKAGES[name]}"]) if name in PACKAGES else None
    if lack:
        pytest.skip(lack)
    examples = EXAMPLES[name]
    stage = registry().stage_type(f"train/{name}")(**examples.options)
    assert broken_laws(stage, examples, laws=LAWS, max_examples=5, patience=60.0) == {}


def test_a_stage_of_a_framework_says_which_package_it_requires() -> None:
    for name, package in PACKAGES.items():
        assert registry().stage_type(f"train/{name}").requires == (f"package:{package}",)


@pytest.mark.parametrize("stage", [Trl(trl_exact), Verl(verl_exact)])
def test_a_task_without_the_answer_that_a_function_requires_is_rejected(stage: object) -> None:
    with pytest.raises(ConfigError, match=r"needs task\.answer, which is missing"):
        Environment("e", [Slot("s", stage)], [Task("What is 1 + 1?", id="t")])


def test_a_function_that_needs_no_answer_takes_tasks_without() -> None:
    def short(completions: list[str], answer: object = None) -> list[float]:
        return [float(len(text) < 5) for text in completions]

    assert Trl(short).uses == ()
