"""The stage that reads IFEval's and IFBench's own columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from rlenv.compose.stages import Attempt
from rlenv.model.errors import TaskError
from rlenv.model.values import Task
from rlenv_plugin_constraints.stages.ifeval import IFEval, loose_forms


def _task(ids: dict[str, dict[str, Any]], prompt: str = "Tell me about bread.") -> Task:
    info = {"instruction_id_list": list(ids), "kwargs": list(ids.values())}
    return Task(prompt, info=info, id="t1")


_TWO = _task(
    {
        "punctuation:no_comma": {"num_words": None, "keywords": None},
        "length_constraints:number_words": {
            "num_words": 5,
            "relation": "at least",
            "keyword": None,
        },
    }
)
_GOOD = "Bread is made of flour and water and yeast."


def test_all_or_a_share_of_the_instructions() -> None:
    half = "Flour, water."
    assert IFEval().check(Attempt(_TWO, _GOOD)).score == 1
    assert IFEval().check(Attempt(_TWO, half)).score == 0
    assert (
        IFEval(score="fraction").check(Attempt(_TWO, "Bread, of flour and water and yeast.")).score
        == 0.5
    )


def test_the_data_name_the_instructions() -> None:
    data: Mapping[str, Any] = IFEval().check(Attempt(_TWO, _GOOD)).data
    kinds = [row["kind"] for row in data["constraints"]]
    assert kinds == _TWO.info["instruction_id_list"]
    assert data["satisfied"] == data["total"] == 2


@pytest.mark.parametrize(
    "said", ["", ".", "12345", "ok", _TWO.prompt, "I'm sorry, but I can't help with that."]
)
def test_what_says_nothing_earns_nothing(said: str) -> None:
    task = _task({"punctuation:no_comma": {}})
    assert IFEval().check(Attempt(task, said)).score == 0


def test_official_takes_what_says_nothing_unless_asked_not_to() -> None:
    task = _task({"punctuation:no_comma": {}})
    assert IFEval(mode="official").check(Attempt(task, "12345")).score == 1
    assert IFEval(mode="official", content=True).check(Attempt(task, "12345")).score == 0
    assert IFEval(mode="official").check(Attempt(task, "  ")).score == 0


def test_loose_forms_are_eight_at_most_and_begin_with_the_response() -> None:
    forms = loose_forms("Sure!\n**Bread** rises.\nBye!")
    assert forms[0].startswith("Sure!")
    assert "Bread rises." in forms
    assert len(forms) == 8


@pytest.mark.parametrize("mode", ["strict", "official"])
def test_loose_looks_behind_a_first_line(mode: Any) -> None:
    task = _task({"startend:quotation": {}})
    said = 'Here it is:\n"Bread rises in the warm oven."'
    assert IFEval(mode=mode).check(Attempt(task, said)).score == 0
    assert IFEval(mode=mode, loose=True).check(Attempt(task, said)).score == 1


@pytest.mark.parametrize("mode", ["strict", "official"])
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ({"keywords:existence": {}}, "keywords:existence: 'keywords' is missing"),
        ({"keywords:exist": {}}, "keywords:existence"),
        ({"count:numbers": {"N": "two"}}, "count:numbers: N = 'two'"),
    ],
)
def test_a_task_that_cannot_be_checked_is_named(mode: Any, ids: dict[str, Any], said: str) -> None:
    with pytest.raises(TaskError, match="t1") as caught:
        IFEval(mode=mode).validate(_task(ids))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "info",
    [
        {"instruction_id_list": [], "kwargs": []},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []},
        {"instruction_id_list": "punctuation:no_comma", "kwargs": [{}]},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": ["x"]},
    ],
)
def test_columns_of_another_shape_are_named(info: dict[str, Any]) -> None:
    with pytest.raises(TaskError, match="info"):
        IFEval().validate(Task("Tell.", info=info, id="t1"))


def test_instructions_that_contradict_one_another_are_refused_when_strict() -> None:
    task = _task({"change_case:english_capital": {}, "change_case:english_lowercase": {}})
    with pytest.raises(TaskError, match="t1"):
        IFEval().validate(task)


@pytest.mark.parametrize(
    "said", ["\ud800", "a" * 50_000, "(" * 20_000, "*" * 20_000, "\x00", "\"'" * 9_000]
)
@pytest.mark.parametrize("mode", ["strict", "official"])
def test_no_response_breaks_it(mode: Any, said: str) -> None:
    outcome = IFEval(mode=mode, loose=True).check(Attempt(_TWO, said))
    assert 0 <= outcome.score <= 1
