"""Options are fitted to the types that a stage's class declares, whatever sort of class it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NewType, TypedDict

import pytest
from attrs import define, field, frozen, validators
from rlenv import ConfigError, Environment, Outcome, hookimpl
from rlenv.config.fit import fit, options_of
from rlenv.config.problems import BAD, Problems
from rlenv.plugins.registry import registry
from rlenv_cli.commands.stages import default_of, doc_of

if TYPE_CHECKING:
    from decimal import Decimal


class Base:
    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"

    def check(self, attempt: object) -> Outcome:
        return Outcome(1.0)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


Meters = NewType("Meters", float)


class Point(TypedDict):
    x: int
    y: int


@frozen
class Rule:
    kind: Literal["max_words", "min_words"]
    n: int = field(validator=validators.ge(1))


@dataclasses.dataclass
class Inner:
    size: int


@frozen
class Rich(Base):
    """A stage.

    Args:
        rules: what to check,
            in order.
        mode, level: how strictly.
    """

    rules: Sequence[Rule]
    mode: Literal["fast", "slow"] = "fast"
    level: int | None = None
    share: float = 0.5
    words: list[str] = field(factory=list)
    table: Mapping[str, float] = field(factory=dict)
    either: str | list[str] = ""
    pair: tuple[int, str] = (1, "a")
    color: Color = Color.RED
    folder: Path = Path()
    length: Meters = Meters(1.0)
    point: Point | None = None
    inner: Inner | None = None
    anything: Any = None
    _hidden: bool = False
    made: int = field(default=3, init=False)
    turned: int = field(default=1, converter=int, validator=validators.le(9))
    exact: Decimal | None = None
    documented: str = field(default="", metadata={"doc": "Said here."})


class Plain(Base):
    def __init__(self, size: int, *, name: str = "n", later: Decimal | None = None) -> None:
        if size < 0:
            raise ValueError("'size' must not be negative")
        self.size = size


class Open(Base):
    def __init__(self, **options: object) -> None:
        self.options = options


class Grumpy(Base):
    def __init__(self) -> None:
        raise RuntimeError("not today")


class Many(Base):
    def __init__(self) -> None:
        raise ConfigError("first thing", "second thing")


@define(init=False)
class Own(Base):
    area: int

    def __init__(self, side: int) -> None:
        self.area = side * side


class Child(Rule):
    """Inherits fields, builds itself."""

    def __init__(self, word: str) -> None:
        super().__init__("max_words", len(word))


@dataclasses.dataclass
class Data(Base):
    size: int
    tags: list[str] = dataclasses.field(default_factory=list)


@pytest.fixture(autouse=True)
def plugin() -> Any:
    stages = {
        "rich": Rich, "plain": Plain, "open": Open, "grumpy": Grumpy, "many": Many, "data": Data,
        "bare": Base, "own": Own,
    }  # fmt: skip

    @hookimpl
    def rlenv_stages() -> dict[str, type]:
        return stages

    registry().register(SimpleNamespace(rlenv_stages=rlenv_stages), "fake")
    yield
    registry().unregister("fake")


def built(use: str, **options: Any) -> Any:
    mapping = {"name": "x", "stage": [{"use": f"fake/{use}", "options": options}]}
    return Environment.from_dict(mapping).slots[0].stage


def problems(use: str, **options: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        built(use, **options)
    return [line.removeprefix("stage[0].options") for line in caught.value.problems]


def test_every_sort_of_value_fits() -> None:
    stage = built(
        "rich",
        rules=[{"kind": "max_words", "n": 3}],
        level=2,
        share=1,
        words=["a"],
        table={"a": 1},
        either=["b"],
        pair=[2, "c"],
        color="blue",
        folder="/a/b",
        length=3,
        point={"x": 1, "y": 2},
        anything={"q": [1]},
        hidden=True,
        turned="7",
    )

    assert stage == Rich(
        rules=(Rule("max_words", 3),),
        level=2,
        share=1.0,
        words=["a"],
        table={"a": 1.0},
        either=["b"],
        pair=(2, "c"),
        color=Color.BLUE,
        folder=Path("/a/b"),
        length=Meters(3.0),
        point={"x": 1, "y": 2},
        anything={"q": [1]},
        hidden=True,
        turned=7,
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({}, ".rules: required, and missing; expected a list of tables"),
        ({"rules": {}}, ".rules: expected a list of tables, got {}"),
        ({"rules": "ab"}, '.rules: expected a list of tables, got "ab"'),
        (
            {"rules": [{"kind": "max_wrods", "n": 1}]},
            (
                '.rules[0].kind: expected one of "max_words", "min_words", got "max_wrods"; did you'
                ' mean "max_words"?'
            ),
        ),
        (
            {"rules": [{"kind": "max_words", "n": 0}]},
            ".rules[0].n: 0 is rejected: 'n' must be >= 1: 0",
        ),
        (
            {"rules": [{"kind": "max_words"}]},
            ".rules[0].n: required, and missing; expected an integer",
        ),
        (
            {"rules": [{"kind": "max_words", "n": 1, "m": 2}]},
            ".rules[0].m: unknown key; valid keys are: kind, n",
        ),
        ({"rules": [3]}, ".rules[0]: expected a table, got 3"),
        ({"mode": "fst"}, '.mode: expected one of "fast", "slow", got "fst"; did you mean "fast"?'),
        ({"level": 2.0}, ".level: expected an integer, got 2.0"),
        ({"level": True}, ".level: expected an integer, got true"),
        ({"level": "2"}, '.level: expected an integer, got "2"'),
        ({"share": "half"}, '.share: expected a number, got "half"'),
        ({"words": "abc"}, '.words: expected a list of strings, got "abc"'),
        ({"words": ["a", 1]}, ".words[1]: expected a string, got 1"),
        ({"table": {"a": "b"}}, '.table.a: expected a number, got "b"'),
        ({"either": 3}, ".either: expected a string or a list of strings, got 3"),
        ({"either": [3]}, ".either[0]: expected a string, got 3"),
        ({"pair": [1]}, ".pair: expected a list of 2, got [1]"),
        ({"pair": ["a", "b"]}, '.pair[0]: expected an integer, got "a"'),
        ({"color": "green"}, '.color: expected one of "red", "blue", got "green"'),
        ({"folder": 3}, ".folder: expected Path, got 3"),
        ({"length": "3"}, '.length: expected a number, got "3"'),
        ({"inner": {"size": "3"}}, '.inner.size: expected an integer, got "3"'),
        ({"inner": 3}, ".inner: expected a table, got 3"),
        (
            {"turned": "x"},
            ".turned: \"x\" is rejected: invalid literal for int() with base 10: 'x'",
        ),
        ({"turned": 10}, ".turned: 10 is rejected: 'turned' must be <= 9: 10"),
        ({"made": 3}, '.made: unknown key; did you mean "mode"?'),
        ({"_hidden": True}, '._hidden: unknown key; did you mean "hidden"?'),
    ],
)
def test_what_does_not_fit_is_told_with_its_path(options: dict[str, Any], line: str) -> None:
    assert line in problems("rich", **{"rules": []} | options if options else {})


def test_a_typed_dict_is_checked() -> None:
    (line,) = problems("rich", rules=[], point={"x": "a"})

    assert line.startswith(".point: expected ")


def test_every_misfit_at_once() -> None:
    found = problems(
        "rich", rules=[{"kind": "no", "n": 0}, {"n": "x"}], mode=1, turned=10, share="x"
    )

    assert {line.split(": ")[0] for line in found} == {
        ".rules[0].kind", ".rules[0].n", ".rules[1].n", ".rules[1].kind", ".mode", ".turned",
        ".share",
    }  # fmt: skip


def test_a_plain_class_is_read_by_its_signature() -> None:
    assert built("plain", size=3).size == 3
    assert problems("plain", size="3", nme="x") == [
        '.size: expected an integer, got "3"',
        '.nme: unknown key; did you mean "name"?',
    ]
    assert problems("plain") == [".size: required, and missing; expected an integer"]
    assert problems("plain", size=-1) == [".size: -1 is rejected: 'size' must not be negative"]


def test_a_dataclass_will_do() -> None:
    assert built("data", size=3, tags=["a"]).tags == ["a"]
    assert problems("data", size=1, tags=[1]) == [".tags[0]: expected a string, got 1"]


def test_a_constructor_of_its_own_is_what_counts() -> None:
    assert built("own", side=3).area == 9
    assert ".area: unknown key; valid keys are: side" in problems("own", area=9)
    assert [option.name for option in options_of(Child)[0]] == ["word"]


def test_defaults_are_made_when_asked_for() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 3

    @frozen
    class Eager:
        costly: int = field(factory=make)
        other: int = field()

        @other.default
        def _other(self) -> int:
            return self.costly

    costly, other = options_of(Eager)[0]

    assert made == []
    assert (default_of(costly), default_of(other), other.required) == (3, None, False)


def test_a_class_without_options_takes_none() -> None:
    assert problems("bare", size=1) == [".size: unknown key; it takes none"]


def test_a_class_may_take_anything() -> None:
    assert built("open", a=1, b=[2]).options == {"a": 1, "b": [2]}


def test_a_constructor_that_raises_is_told() -> None:
    assert problems("grumpy") == [": not today"]
    assert problems("many") == [": first thing", ": second thing"]


def test_options_of_tells_types_defaults_and_docs() -> None:
    options = {option.name: option for option in options_of(Rich)[0]}

    assert "made" not in options
    assert options["rules"].required
    assert doc_of(options["rules"]) == "what to check, in order."
    assert doc_of(options["level"]) == "how strictly."
    assert doc_of(options["documented"]) == "Said here."
    assert options["share"].kind is float
    assert default_of(options["words"]) == []
    assert options["exact"].kind is Any


def test_a_builtin_without_signature_takes_anything() -> None:
    assert options_of(type) == ((), True)


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        ([1, 1], set[int], {1}),
        ([1], frozenset[int], frozenset((1,))),
        ([1, 2], tuple[int, ...], (1, 2)),
        ([[1]], list[list[int]], [[1]]),
        ([], tuple, ()),
        ({}, dict, {}),
        (None, None, None),
        ([[1]], set, BAD),
        (1, None, BAD),
        ("a", Sequence[str], BAD),
        (1e400, float, BAD),
        (10**400, float, BAD),
        (1, Literal[True], BAD),
    ],
)
def test_containers_keep_their_kind(value: Any, kind: Any, wanted: Any) -> None:
    found = Problems()

    assert fit(value, kind, "x", found) == wanted
    assert bool(found.found) == (wanted is BAD)
