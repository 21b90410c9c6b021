"""Constraints of constraints, what contradicts what, and how tables become constraints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import frozen
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.constraint import Constraint, Finding
from rlenv_plugin_constraints.contradictions import contradictions
from rlenv_plugin_constraints.kinds import KINDS
from rlenv_plugin_constraints.kinds.combine import All, AnyOf, AtLeast, Not
from rlenv_plugin_constraints.registry import build, build_all, kind_of
from rlenv_plugin_constraints.text import Text

CAT = {"kind": "contains", "words": ["cat"]}
DOG = {"kind": "contains", "words": ["dog"]}
COW = {"kind": "contains", "words": ["cow"]}


@frozen
class Undecided:
    kind: ClassVar[str] = "undecided"

    def check(self, text: Text) -> Finding:
        return Finding(satisfied=False, undecided=True, note="the budget ran out")


@pytest.mark.parametrize("raw", ["", "cat", "cat dog", "cat dog cow", "cow"])
def test_all_any_not_and_at_least_count(raw: str) -> None:
    held = sum(word in raw for word in ("cat", "dog", "cow"))
    parts = [CAT, DOG, COW]
    for table, fits in (
        ({"kind": "all", "constraints": parts}, held == 3),
        ({"kind": "any", "constraints": parts}, held >= 1),
        ({"kind": "at_least", "n": 2, "constraints": parts}, held >= 2),
        ({"kind": "not", "constraint": {"kind": "any", "constraints": parts}}, held == 0),
    ):
        assert build(table).check(Text(raw)).satisfied is fits


def test_spans_are_those_that_decided() -> None:
    either = build({"kind": "any", "constraints": [CAT, DOG]})
    assert either.check(Text("a dog")).spans == ((2, 5),)
    none = build({"kind": "not", "constraint": {"kind": "contains", "words": ["dog"]}})
    assert none.check(Text("a dog")).spans == ((2, 5),)
    both = build({"kind": "all", "constraints": [{"kind": "no_comma"}, CAT]})
    found = both.check(Text("a, b"))
    assert (found.satisfied, found.spans) == (False, ((1, 2),))
    assert "no_comma" in found.note
    assert "missing: cat" in found.note


def test_what_ran_out_of_its_budget_holds_in_no_direction() -> None:
    part = Undecided()
    cat = build(CAT)
    assert not Not(part).check(Text("x")).satisfied
    assert not Not(Not(part)).check(Text("x")).satisfied
    found = AnyOf([part, cat]).check(Text("x"))
    assert (found.satisfied, found.undecided) == (False, True)
    assert AnyOf([part, cat]).check(Text("cat")).satisfied
    assert not Not(AnyOf([part, cat])).check(Text("x")).satisfied
    assert not Not(All([part, cat])).check(Text("cat")).satisfied
    assert Not(All([part, cat])).check(Text("x")).satisfied
    assert AtLeast(1, [part, cat]).check(Text("x")).undecided


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ConfigError, match="n = 3 of 2"):
        build({"kind": "at_least", "n": 3, "constraints": [CAT, DOG]})


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_is_a_documented_constraint_of_its_name(name: str) -> None:
    cls = kind_of(name)
    assert cls.kind == name
    assert cls.__doc__
    assert not cls.__doc__.startswith("Method generated")
    assert callable(cls.check)


def test_mistakes_are_told_all_at_once_with_their_places() -> None:
    tables = [
        {"kind": "max_wrds", "n": 4},
        {"kind": "max_words", "m": 4},
        4,
        {"kind": "any", "constraints": [{"kind": "max_words", "n": 0}]},
    ]
    with pytest.raises(ConfigError) as refused:
        build_all(tables)
    told = str(refused.value)
    assert (
        "constraints[0].kind: there is no constraint of kind 'max_wrds'; did you mean"
        ' "max_words"?' in told
    )
    assert "constraints[1].m: unknown key" in told
    assert "constraints[1].n: required, and missing" in told
    assert "constraints[2]: a constraint is a table" in told
    assert "constraints[3].constraints[0].n: 0 is rejected" in told


@pytest.mark.parametrize("tables", [[], (), {}, "max_words", None, 3])
def test_no_list_of_constraints_is_refused(tables: Any) -> None:
    with pytest.raises(ConfigError, match="at least one constraint"):
        build_all(tables)


@pytest.mark.parametrize(
    "tables",
    [
        [{"kind": "words", "min": 5}, {"kind": "max_words", "n": 3}],
        [{"kind": "min_words", "n": 5}, {"kind": "words", "max": 3}],
        [{"kind": "sentences", "min": 3}, {"kind": "sentences", "max": 2}],
        [{"kind": "paragraphs", "min": 2, "max": 2}, {"kind": "paragraphs", "min": 3, "max": 3}],
        [{"kind": "bullets", "min": 2, "max": 2}, {"kind": "bullets", "min": 3, "max": 3}],
        [{"kind": "contains", "words": ["cat"]}, {"kind": "forbids", "words": ["CAT"]}],
        [{"kind": "contains", "words": ["big cat"]}, {"kind": "forbids", "words": ["cat"]}],
        [{"kind": "forbids", "words": ["end"]}, {"kind": "ends_with", "text": "the end"}],
        [
            {"kind": "keyword", "word": "cat", "n": 3},
            {"kind": "keyword", "word": "Cat", "n": 3, "relation": "less than"},
        ],
        [
            {"kind": "keyword", "word": "cat", "n": 2, "relation": "exactly"},
            {"kind": "keyword", "word": "cat", "n": 3, "relation": "exactly"},
        ],
        [
            {"kind": "keyword", "word": "cat", "n": 1, "relation": "less than"},
            {"kind": "contains", "words": ["cat"]},
        ],
        [
            {"kind": "letter", "letter": "c", "n": 1, "relation": "less than"},
            {"kind": "contains", "words": ["Cat"]},
        ],
        [{"kind": "contains", "words": ["a, b"]}, {"kind": "no_comma"}],
        [{"kind": "no_characters", "characters": "?"}, {"kind": "ends_with", "text": "why?"}],
        [{"kind": "uppercase"}, {"kind": "lowercase"}],
        [{"kind": "lowercase"}, {"kind": "capital_words", "min": 2}],
        [{"kind": "starts_with", "text": "Yes"}, {"kind": "starts_with", "text": "No"}],
        [{"kind": "ends_with", "text": "Yes"}, {"kind": "ends_with", "text": "No"}],
        [{"kind": "choice", "options": ["yes, it is", "no, it is not"]}, {"kind": "no_comma"}],
        [{"kind": "responses", "n": 2}, {"kind": "responses", "n": 3}],
        [
            {"kind": "max_words", "n": 3},
            {"kind": "all", "constraints": [{"kind": "min_words", "n": 5}]},
        ],
    ],
)
def test_contradictions_are_found_in_either_order(tables: list[dict[str, Any]]) -> None:
    parts = build_all(tables)
    assert len(contradictions(parts)) == 1
    assert len(contradictions(parts[::-1])) == 1
    assert "no response satisfies both" in contradictions(parts)[0]


@pytest.mark.parametrize(
    "tables",
    [
        [{"kind": "words", "min": 3}, {"kind": "max_words", "n": 3}],
        [{"kind": "contains", "words": ["concatenate"]}, {"kind": "forbids", "words": ["cat"]}],
        [
            {"kind": "keyword", "word": "cat", "n": 3},
            {"kind": "keyword", "word": "dog", "n": 3, "relation": "less than"},
        ],
        [
            {"kind": "paragraphs", "min": 2, "max": 2},
            {"kind": "paragraphs", "min": 3, "separator": "***"},
        ],
        [{"kind": "uppercase"}, {"kind": "contains", "words": ["cat"]}],
        [{"kind": "starts_with", "text": "Yes"}, {"kind": "starts_with", "text": "Yes, it is"}],
        [{"kind": "choice", "options": ["yes, it is", "no"]}, {"kind": "no_comma"}],
        [
            {"kind": "max_words", "n": 3},
            {"kind": "any", "constraints": [{"kind": "min_words", "n": 5}, {"kind": "no_comma"}]},
        ],
        [{"kind": "lowercase"}, {"kind": "capital_words", "max": 0}],
    ],
)
def test_what_can_be_satisfied_together_is_no_contradiction(tables: list[dict[str, Any]]) -> None:
    assert contradictions(build_all(tables)) == []


STRANGER = '''
from typing import ClassVar

import rlenv
from attrs import field, frozen
from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.text import Text

RLENV_API = 1


@frozen
class Emoji:
    """At most ``n`` emoji."""

    kind: ClassVar[str] = "emoji"
    n: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        spans = [(at, at + 1) for at, c in enumerate(text.raw) if c >= "\\U0001f300"]
        return Finding(len(spans) <= self.n, len(spans), {"max": self.n}, spans)


@rlenv.hookimpl
def rlenv_parts():
    return {"constraint": {"emoji": Emoji}}
'''
USE = """
import rlenv
from rlenv.model.values import Task
from rlenv.environment import Environment

def env(table):
    stage = {"use": "constraints/all", "options": {"constraints": [table]}}
    return Environment.from_dict({"name": "e", "stage": [stage]})

with env({"kind": "stranger/emoji", "n": 1}) as one:
    verdict = one.evaluate(Task("Say something."), "two of them \\U0001f600 and \\U0001f600 here")
    row = verdict.results[0].outcome.data["constraints"][0]
    print(verdict.value, row["kind"], row["measured"], row["spans"])
    print(one.evaluate(Task("Say something."), "only one of them \\U0001f600").value)
for table in (
    {"kind": "stranger/emojy", "n": 1},
    {"kind": "stranger/emoji", "n": 0},
    {"kind": "strangr/emoji"},
):
    try:
        env(table)
    except Exception as err:
        print(type(err).__name__, err)
"""


def test_a_strangers_kind_is_used_like_our_own(tmp_path: Path) -> None:
    """A distribution that is installed by standing in a folder of PYTHONPATH."""
    info = tmp_path / "rlenv_plugin_stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: rlenv-plugin-stranger\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text("[rlenv]\nstranger = stranger_module\n")
    (tmp_path / "stranger_module.py").write_text(STRANGER)
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USE}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    first, second, near, bad, missing = ran.stdout.splitlines()
    assert first == "0.0 stranger/emoji 2 [[12, 13], [18, 19]]"
    assert second == "1.0"
    assert 'did you mean "emoji"?' in near
    assert "constraints[0].n: 0 is rejected" in bad
    assert "no plugin 'strangr' is installed" in missing


def test_a_class_that_is_no_constraint_is_no_protocol() -> None:
    assert isinstance(build(CAT), Constraint)
    assert not isinstance(object(), Constraint)
