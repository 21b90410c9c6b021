"""Each instruction id of IFEval and IFBench at its word, on cases that are hard."""

from __future__ import annotations

import importlib.util
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.ids import spec_of
from rlenv_plugin_constraints.instructions import INSTRUCTIONS
from rlenv_plugin_constraints.registry import build
from rlenv_plugin_constraints.text import Text

_Case = tuple[str, dict[str, Any], str, bool, str]


@cache
def _cases() -> tuple[_Case, ...]:
    found: list[_Case] = []
    for name in ("ifeval", "ifbench"):
        path = Path(__file__).parent / "cases" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"instruction_cases_{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += module.CASES
    return tuple(found)


@pytest.mark.parametrize(
    "case", _cases(), ids=[f"{at}-{case[0]}-{case[4][:30]}" for at, case in enumerate(_cases())]
)
def test_an_instruction_is_taken_at_its_word(case: _Case) -> None:
    name, kwargs, response, right, why = case
    found = build({"kind": name, **kwargs}).check(Text(response, "Say it."))
    assert found.satisfied is right, (why, found)


def test_there_are_83_instructions_and_four_cases_of_each_at_least() -> None:
    counts = Counter(case[0] for case in _cases())
    assert len(INSTRUCTIONS) == 83
    assert not [name for name in INSTRUCTIONS if counts[name] < 4]


def test_both_verdicts_occur_for_each_instruction() -> None:
    both = {(case[0], case[3]) for case in _cases()}
    assert not [name for name in INSTRUCTIONS if not {(name, True), (name, False)} <= both]


@pytest.mark.parametrize("name", sorted(INSTRUCTIONS))
def test_a_blank_response_follows_nothing_that_asks_for_something(name: str) -> None:
    kwargs = next(case[1] for case in _cases() if case[0] == name)
    bounded = "less than" in kwargs.values() or name in (
        "punctuation:no_comma", "keywords:forbidden_words", "count:numbers",
        "detectable_format:number_bullet_lists",
    )  # fmt: skip
    assert bounded or not build({"kind": name, **kwargs}).check(Text("")).satisfied


@pytest.mark.parametrize("name", sorted(n for n, i in INSTRUCTIONS.items() if i.parameters))
def test_parameters_are_never_made_up(name: str) -> None:
    with pytest.raises(ConfigError, match="is missing") as caught:
        spec_of(name, dict.fromkeys(INSTRUCTIONS[name].parameters))
    assert all(repr(key) in str(caught.value) for key in INSTRUCTIONS[name].parameters)


@pytest.mark.parametrize(
    ("name", "kwargs", "said"),
    [
        ("keywords:existance", {}, "keywords:existence"),
        ("keywords:existence", {"keywords": []}, "a list of strings"),
        ("count:numbers", {"N": 2.5}, "an integer"),
        ("count:numbers", {"N": -1}, "an integer"),
        ("count:numbers", {"N": 2, "M": 3}, "unknown parameter 'M'"),
        ("length_constraints:number_words", {"num_words": 2, "relation": "about"}, "less than"),
    ],
)
def test_a_mistake_is_named(name: str, kwargs: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        spec_of(name, kwargs)


def test_whole_numbers_may_be_written_as_the_benchmark_writes_them() -> None:
    assert spec_of("count:numbers", {"N": 2.0, "M": None}) == {"kind": "numbers", "n": 2}
