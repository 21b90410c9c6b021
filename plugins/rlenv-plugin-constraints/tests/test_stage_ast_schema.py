"""The stages ``constraints/ast`` and ``constraints/schema``: their examples, options and tasks."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from rlenv.compose.stages import Attempt
from rlenv.environment import Environment
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Task
from rlenv_plugin_constraints.samples import examples
from rlenv_plugin_constraints.stages.ast import Ast
from rlenv_plugin_constraints.stages.schema import Schema

SUITES = [(Ast, suite) for suite in examples()["ast"]]
SUITES_OF_SCHEMA = [(Schema, suite) for suite in examples()["schema"]]
ROWS = [
    (make, suite.options, task, response, good)
    for make, suite in [*SUITES, *SUITES_OF_SCHEMA]
    for rows, good in ((suite.right, True), (suite.wrong, False))
    for task, response in rows
]
TASK = Task("Write it.", id="t")


def built(make: Any, options: Any) -> Any:
    return make(**{k: tuple(v) if isinstance(v, list) else v for k, v in options.items()})


@pytest.mark.parametrize(("make", "options", "task", "response", "good"), ROWS)
def test_the_examples_are_what_they_say(
    make: Any, options: Any, task: Task, response: str, good: bool
) -> None:
    stage = built(make, options)
    stage.validate(task)
    said = stage.check(Attempt(task, response))
    assert said.score == float(good)
    assert said.data["total"] == len(said.data["constraints"])
    assert pickle.loads(pickle.dumps(stage)).check(Attempt(task, response)) == said


def test_a_share_of_rules_and_none_without_a_program() -> None:
    stage = Ast(forbid_calls=("eval",), max_complexity=3, score="fraction")
    assert stage.check(Attempt(TASK, "eval('1')")).score == pytest.approx(2 / 3)
    assert stage.check(Attempt(TASK, "no program")).score == 0.0
    assert stage.check(Attempt(TASK, "")).score == 0.0


def test_a_stage_without_rules_wants_a_program() -> None:
    assert Ast().check(Attempt(TASK, "x = f(1)")).score == 1.0
    assert Ast().check(Attempt(TASK, "Just words here.")).score == 0.0


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (Ast, {"source": "answer"}, "info.ast"),
        (Ast, {"forbid_nodes": ("Whlie",)}, '"While"'),
        (Ast, {"signature": "f(x)"}, "def name"),
        (Ast, {"max_complexity": -1}, "max_complexity"),
        (Ast, {"within": "A"}, "signature"),
        (Schema, {}, "info.schema"),
        (Schema, {"schema": {}, "source": "info.schema"}, "info.schema"),
        (Schema, {"schema": {"type": "objekt"}}, "schema.type"),
        (Schema, {"schema": {}, "draft": "draft77"}, '"draft7"'),
    ],
)
def test_options_that_make_no_sense(make: Any, options: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(**options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("stage", "info", "said"),
    [
        (Ast(source="info.ast"), {"ast": {"signatur": "def f()"}}, '"signature"'),
        (Ast(source="info.ast"), {"ast": 3}, "a table"),
        (Ast(source="info.ast"), {}, "a table"),
        (Schema(source="info.schema"), {"schema": {"$ref": "x.json"}}, "leaves the schema"),
        (Schema(source="info.schema"), {"schema": "{"}, "no JSON"),
    ],
)
def test_a_task_whose_rules_are_none_is_refused(stage: Any, info: Any, said: str) -> None:
    with pytest.raises(TaskError) as caught:
        stage.validate(Task("p", info=info, id="t7"))
    assert said in str(caught.value)
    assert "t7" in str(caught.value)


def test_a_task_adds_to_the_rules_of_the_stage() -> None:
    stage = Ast(forbid_calls=("eval",), source="info.ast")
    task = Task("p", info={"ast": {"max_complexity": 1}})
    assert stage.check(Attempt(task, "print(1)")).score == 1.0
    assert stage.check(Attempt(task, "print(1 if x else 2)")).score == 0.0
    assert stage.check(Attempt(task, "eval('1')")).score == 0.0


def test_rules_of_a_task_are_told_to_the_operator_only() -> None:
    task = Task("p", info={"ast": {"signature": "def gold(x)"}, "schema": {"minItems": 77}})
    for stage in (Ast(source="info.ast"), Schema(source="info.schema")):
        said = stage.check(Attempt(task, "[]" if isinstance(stage, Schema) else "x = f(1)"))
        assert said.score == 0.0
        assert not {"gold", "77"} & set(repr((said.detail, said.data)).replace("(", " ").split())
        assert said.private["constraints"]


def test_an_environment_of_both() -> None:
    slots = [
        {"use": "constraints/schema", "options": {"schema": {"type": "array"}}},
        {"use": "constraints/ast", "options": {"forbid_nodes": ["Call"]}},
    ]
    env = Environment.from_dict({"name": "both", "stage": slots})
    assert env.verify(TASK, "[a for a in (1, 2)]") == 0.5
    assert env.verify(TASK, "[f(1)]") == 0.0
    env.close()
