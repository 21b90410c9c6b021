"""Every mistake of a configuration is told at once, with its path, its value and the nearest valid
name.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import AnyOf, ConfigError, Environment, Slot
from rlenv.compose.equal import Equal
from rlenv.model.record import dumps

EQUAL = {"use": "core/equal"}


def env(**tables: Any) -> dict[str, Any]:
    return {"name": "x", "stage": [EQUAL], **tables}


def problems(mapping: Any, **settings: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        Environment.from_dict(mapping, **settings)
    assert all("\n" not in problem for problem in caught.value.problems)
    return caught.value.problems


def test_all_at_once() -> None:
    found = problems(
        {
            "nme": "x",
            "pass_mark": 1.5,
            "observers": ["nobody", 3],
            "stage": [
                {"use": "core/equl", "wieght": 3},
                {"use": "core/equal", "weight": "much", "options": {"cse": True, "strip": 1}},
                {"use": "core/any", "stage": [{"use": "core/equal", "options": {"nfk": True}}]},
                {"use": "core/quorum", "options": {"k": "2"}},
                {"weight": 1},
                "core/equal",
            ],
            "tasks": {"path": "${RLENV_UNSET}/t.jsonl", "promt": "q"},
            "task": [{"prompt": " ", "answr": 3}],
        }
    )

    assert {line.split(": ")[0] for line in found} == {
        "nme", "name", "pass_mark", "observers[0]", "observers[1]",
        "stage[0].use", "stage[0].wieght",
        "stage[1].weight", "stage[1].options.cse", "stage[1].options.strip",
        "stage[2].stage[0].options.nfk",
        "stage[3].options.k", "stage[3].stage",
        "stage[4].use", "stage[5]",
        "tasks.path", "tasks.promt", "task[0].prompt", "task[0].answr",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("tables", "line"),
    [
        ({"nam": 1}, 'nam: unknown key; did you mean "name"?'),
        ({"name": 3}, "name: expected a string, got 3"),
        ({"name": " "}, 'name: " " is rejected: a string that is not blank is expected'),
        ({"pass_mark": 0}, "pass_mark: 0 is rejected: a number in (0, 1] is expected"),
        ({"pass_mark": True}, "pass_mark: expected a number, got true"),
        ({"pass_mark": float("nan")}, "pass_mark: expected a number, got NaN"),
        ({"base": "1"}, 'base: expected a number, got "1"'),
        ({"base": -1}, "base: -1 is rejected: a number > 0 is expected"),
        ({"observers": "core"}, 'observers: expected a list of strings, got "core"'),
        (
            {"stage": EQUAL},
            (
                'stage: expected a list of tables, got {"use": "core/equal"}; in TOML such a list'
                " is written [[in double brackets]]"
            ),
        ),
        ({"stage": []}, 'stage: there is no stage; write [[stage]] and use = "core/equal"'),
        ({"stage": [{}]}, "stage[0].use: required, and missing; expected a string"),
        ({"stage": [{"use": 3}]}, "stage[0].use: expected a string, got 3"),
        ({"stage": [{**EQUAL, "weight": -1}]}, "stage[0].weight: -1 is rejected: weight is ≥ 0"),
        (
            {"stage": [{**EQUAL, "name": "a/b"}]},
            'stage[0].name: "a/b" is rejected: a name without "/" is expected',
        ),
        (
            {"stage": [{**EQUAL, "weight": float("nan")}]},
            "stage[0].weight: expected a number, got NaN",
        ),
        (
            {"stage": [{**EQUAL, "name": "a"}, {**EQUAL, "name": "a"}]},
            'stage[1].name: "a" is the name of stage[0] already; give it another',
        ),
        (
            {"stage": [{**EQUAL, "stage": [EQUAL]}]},
            (
                "stage[0].stage: core/equal takes no [[stage.stage]]; only composites such as"
                " core/any do"
            ),
        ),
        (
            {"stage": [{"use": "core/any"}]},
            "stage[0].stage: a composite has stages of its own; write [[stage.stage]] below it",
        ),
        (
            {"stage": [{**EQUAL, "options": {"aliases": {"a": "b"}}}]},
            'stage[0].options.aliases.a: expected a list of strings, got "b"',
        ),
        (
            {"stage": [{**EQUAL, "options": {"aliases": {"a b": ["b", 3]}}}]},
            'stage[0].options.aliases."a b"[1]: expected a string, got 3',
        ),
        (
            {"stage": [{**EQUAL, "options": {"aliases": {"a": object}}}]},
            (
                "stage[0].options.aliases.a: <class 'object'> is not a JSON value; write it as a"
                " string, or build the stage by hand in a Slot"
            ),
        ),
        ({"stage": [{**EQUAL, "options": []}]}, "stage[0].options: expected a table, got []"),
        ({"tasks": []}, "tasks: expected a table, got []"),
        ({"tasks": {}}, 'tasks: give either path = "tasks.jsonl" or use = "plugin/source"'),
        (
            {"task": {"prompt": "p"}},
            (
                'task: expected a list of tables, got {"prompt": "p"}; in TOML such a list is'
                " written [[in double brackets]]"
            ),
        ),
        ({"task": [{}]}, "task[0].prompt: required, and missing; expected a string"),
    ],
)
def test_each_mistake_in_its_words(tables: dict[str, Any], line: str) -> None:
    assert line in problems({**env(), **tables})


def test_weights_that_sum_to_zero() -> None:
    (line,) = problems(env(stage=[{**EQUAL, "weight": 0}]))

    assert line.startswith("the weights sum to zero")


def test_a_task_that_its_stage_refuses_is_named() -> None:
    (line,) = problems(env(task=[{"id": "t1", "prompt": "p", "answer": ""}]))

    assert "task 't1'" in line
    assert "blank" in line


def test_two_tasks_with_one_id() -> None:
    (line,) = problems(env(task=[{"id": "a", "prompt": "p", "answer": 1}] * 2))

    assert "tasks 0 and 1 have the same id 'a'" in line


def test_a_stage_without_what_it_uses() -> None:
    (line,) = problems(env(task=[{"prompt": "p"}]))

    assert "needs task.answer, which is missing" in line


def test_a_mapping_is_a_mapping() -> None:
    with pytest.raises(TypeError, match="an environment is a mapping"):
        Environment.from_dict("env.toml")  # type: ignore[arg-type]


def test_tables_that_never_end_are_refused() -> None:
    stage: dict[str, Any] = {"use": "core/any"}
    stage["stage"] = [stage]

    assert problems(env(stage=[stage]))[-1] == "the tables are nested too deep to be read"


def test_names_are_made_unique() -> None:
    built = Environment.from_dict(env(stage=[EQUAL, {**EQUAL, "name": "equal-2"}, EQUAL, EQUAL]))

    assert [slot.name for slot in built.slots] == ["equal", "equal-2", "equal-3", "equal-4"]


def test_composites_nest() -> None:
    inner = {"use": "core/pipeline", "options": {"base": 0.5}, "stage": [EQUAL]}
    quorum = {"use": "core/quorum", "options": {"k": 1}, "stage": [EQUAL, inner]}
    built = Environment.from_dict(env(stage=[quorum], task=[{"prompt": "p", "answer": "a"}]))

    assert built.verify("p", "a") == 1.0
    assert repr(built.root) == "Pipeline(quorum)"
    stage: Any = built.slots[0].stage
    assert stage.slots[1].stage.base == 0.5


def test_all_keys_of_a_stage_reach_its_slot() -> None:
    table = {**EQUAL, "name": "n", "weight": 2, "gate": 0.5, "penalty": 0.1, "bonus": 0.2}
    slot = Environment.from_dict(
        env(stage=[{**table, "options": {"aliases": {"a": ("b",)}}}])
    ).slots[0]

    assert (slot.name, slot.weight, slot.gate, slot.penalty, slot.bonus) == ("n", 2, 0.5, 0.1, 0.2)
    assert slot.options == {"aliases": {"a": ["b"]}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["use", "name", "stage", "options", "weight", "task", "prompt", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["name", "stage", "task", "tasks", "base", "pass_mark", "observers", "y"]),
        JSON,
    )
)
def test_any_mapping_is_an_environment_or_a_config_error(mapping: dict[str, Any]) -> None:
    found: tuple[str, ...] = ("built",)
    try:
        Environment.from_dict(mapping)
    except ConfigError as error:
        found = error.problems

    assert found
    assert all(found)


def test_a_bad_number_is_reported_beside_a_stage_that_does_not_exist():
    mapping = {"name": "e", "stage": [{"use": "core/nothing", "weight": -1}]}

    with pytest.raises(ConfigError) as err:
        Environment.from_dict(mapping)

    assert len(err.value.problems) == 2
    assert "stage[0].weight: -1 is rejected: weight is ≥ 0" in str(err.value)


def test_no_mistake_hides_another():
    quorum = {"use": "core/quorum", "options": {"k": 5}, "stage": [{**EQUAL, "weight": -1}, EQUAL]}
    slot = {**EQUAL, "weight": "much", "penalty": -1, "gate": 2, "timeout": 0, "bonus": -1}
    found = problems(
        {
            "name": 3,
            "base": -1,
            "stage": [slot, {**quorum, "weight": "x"}],
            "tasks": {"path": "${RLENV_UNSET}/t", "answer": {"column": "a", "pattern": "("}},
        }
    )

    assert {line.split(": ")[0] for line in found} == {
        "name", "base", "stage[0].weight", "stage[0].penalty", "stage[0].gate", "stage[0].timeout",
        "stage[0].bonus", "stage[1].weight", "stage[1].stage[0].weight", "stage[1].options",
        "tasks.path", "tasks.answer.pattern",
    }  # fmt: skip


def test_one_mistake_is_told_once():
    twice = [{**EQUAL, "name": "a"}, {**EQUAL, "name": "a"}]

    assert len(problems(env(stage=twice))) == 1
    assert len(problems(env(stage=[{"use": "core/any", "stage": twice}]))) == 1
    assert len(problems(env(stage=[{"use": "core/any", "stage": []}]))) == 1
    assert len(problems(env(stage=[{**EQUAL, "weight": -1}]))) == 1


def test_weights_that_sum_to_zero_are_told_beside_other_mistakes():
    found = problems({"nme": "x", "stage": [{**EQUAL, "gate": 1}]})

    assert any(line.startswith("the weights sum to zero") for line in found)


def test_a_missing_option_hides_no_mistake_of_the_children():
    quorum = {"use": "core/quorum", "stage": [{**EQUAL, "weight": 3}]}
    paths = {line.split(": ")[0] for line in problems(env(stage=[quorum]))}

    assert paths == {"stage[0].options.k", "stage[0].options"}


def test_an_unknown_key_hides_nothing_that_a_constructor_rejects():
    quorum = {"use": "core/quorum", "options": {"k": 9, "kk": 1}, "stage": [EQUAL]}
    pipeline = {"use": "core/pipeline", "options": {"bse": 1}, "stage": [{**EQUAL, "gate": 1}]}
    found = problems(env(stage=[quorum, pipeline]))

    assert {line.split(": ")[0] for line in found} == {
        "stage[0].options.kk", "stage[0].options", "stage[1].options.bse", "stage[1].options",
    }  # fmt: skip


def test_mistakes_elsewhere_hide_none_of_the_tasks():
    twice = [{"prompt": "p", "answer": "a", "id": "t"}] * 2
    found = problems(
        {
            "nme": "x",
            "stage": [EQUAL, {"use": "core/equl"}, {**EQUAL, "timeout": 3}],
            "task": [{"prompt": "q", "answer": ""}, {"prompt": "r"}],
        }
    )
    told = "\n".join(found)

    assert "cannot be timed out" in told
    assert "the same id 't'" in "\n".join(problems({"stage": [EQUAL], "task": twice}))
    sound = {
        "stage": [EQUAL, {"use": "core/equl"}],
        "task": [{"prompt": "q", "answer": ""}, {"prompt": "r"}],
    }
    told = "\n".join(problems(sound))
    assert "an answer is blank" in told
    assert "needs task.answer, which is missing" in told


@pytest.mark.parametrize("deep", [33, 200, 1000])
def test_composites_nested_too_deep_are_told(deep):
    table = EQUAL
    for _ in range(deep):
        table = {"use": "core/any", "stage": [table]}

    (line,) = problems(env(stage=[table]))
    assert "nested" in line


def test_composites_nested_deep_are_scored_named_and_shown():
    table = EQUAL
    for _ in range(31):
        table = {"use": "core/any", "stage": [table]}
    built = Environment.from_dict(env(stage=[table], task=[{"prompt": "p", "answer": "a"}]))
    other = Environment.from_dict(env(stage=[table]), set_options={"core/equal.case": True})

    assert built.verify("p", "a") == 1.0
    assert built.fingerprint != other.fingerprint
    assert str(built.evaluate("p", "b")).startswith("reward 0")
    assert dumps(built.evaluate("p", "b").public())


def test_composites_built_by_hand_nest_no_deeper():
    stage = AnyOf([Slot("leaf", Equal())])
    for _ in range(31):
        stage = AnyOf([Slot("any", stage)])

    with pytest.raises(ConfigError, match="nested more than 32 deep"):
        AnyOf([Slot("any", stage)])


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"stage": EQUAL}, "[[in double brackets]]"),
        ({"stage": "core/equal"}, "expected a list of tables"),
        ({"stage": [{"use": "./my.py"}]}, "./file.py:name; name a function"),
        ({"stage": [{**EQUAL, "case": True}]}, "options of the stage itself go into options"),
        ({"task": [{"prompt": "Which city?"}]}, "(Which city?)"),
    ],
)
def test_one_mistake_is_one_line_that_names_the_remedy(tables, words):
    (line,) = problems(env(**tables))

    assert words in line
