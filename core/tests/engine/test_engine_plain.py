"""An odd outcome or artifact is the same in the caller's process, in a worker, on a loop and in a
batch.
"""

from __future__ import annotations

import asyncio
import enum
from collections import OrderedDict, namedtuple
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal

import pytest
from attrs import field, frozen
from rlenv import Attempt, Environment, Outcome, Slot, Task, stage
from rlenv.runtime.serialization import pack, unpack
from rlenv.workers import wire

TASK = Task("p", answer="a", id="t")


class Color(enum.StrEnum):
    RED = "red"


class Mute:
    def __str__(self) -> str:
        raise SystemExit(1)


def deep(levels: int) -> Any:
    made: Any = 0
    for _ in range(levels):
        made = [made]
    return made


def looped() -> Any:
    made: dict[str, Any] = {}
    made["twice"] = [made, made]
    return made


def changed(name: str, value: object) -> Outcome:
    outcome = Outcome(1.0)
    object.__setattr__(outcome, name, value)
    return outcome


Point = namedtuple("Point", "x y")  # noqa: PYI024 - what a stage may well return

odd: Any = Outcome  # which these are not typed for
ODD: dict[str, Any] = {
    "tuples": lambda: odd(1.0, "", {"a": (1, (2, 3)), "b": Point(1, 2)}),
    "sets": lambda: odd(0.5, "", {"a": {3, 1, 2}, "b": frozenset("cab"), "c": {1, "1"}}),
    "numbers": lambda: odd(1.0, "", {"a": Fraction(1, 3), "b": Decimal("0.1"), "c": 1j, "d": -0.0}),
    "no numbers": lambda: odd(1.0, "", {"a": float("nan"), "b": [float("-inf")]}),
    "huge integers": lambda: odd(1.0, "", {"a": 10**4_000, "b": -(10**5_000)}),
    "odd keys": lambda: odd(1.0, "", {1: "a", None: "b", (1, 2): "c", 1.5: "d"}),
    "enums": lambda: odd(1.0, Color.RED, {"a": Color.RED, "b": True}),
    "objects": lambda: odd(1.0, "", {"a": object(), "b": lambda: 1, "c": int, "d": b"x"}),
    "mappings": lambda: odd(1.0, "", MappingProxyType({"a": OrderedDict(b=1)})),
    "deep": lambda: odd(1.0, "", {"a": deep(150)}),
    "too deep": lambda: odd(1.0, "", {"a": deep(100_000)}, None, {"b": deep(201)}),
    "its own part": lambda: odd(1.0, "", looped(), None, looped()),
    "surrogates": lambda: odd(1.0, "\ud800 \ud83d\ude00", {"\udfff": "\x00\ud83d\ude00"}),
    "private": lambda: odd(0.0, "", {}, None, {"gold": (1, {2})}),
    "steps": lambda: odd(1.0, "", {}, [(True, 1), (3, Fraction(1, 2))]),
    "huge steps": lambda: odd(1.0, "", {}, [(10**5_000, 1.0)]),
    "a list": lambda: odd(1.0, "", [1, 2]),
    "nothing": lambda: odd(1.0, "", None),
    "no dict": lambda: odd(1.0, "", {}, None, "private"),
    "no text": lambda: odd(1.0, 5),
    "mute": lambda: odd(1.0, "", {"a": Mute()}),
    "a mute detail": lambda: odd(1.0, Mute()),
    "changed data": lambda: changed("data", (1, 2)),
    "changed steps": lambda: changed("steps", [[0, 1]]),
    "changed score": lambda: changed("score", 2.0),
}


@frozen
class Says:
    phase = "diff"
    where: str

    def check(self, attempt: Attempt) -> Outcome:
        return ODD[attempt.response]()  # type: ignore[no-any-return]


@frozen
class SaysLater:
    phase = "diff"
    where: str

    async def check(self, attempt: Attempt) -> Outcome:
        await asyncio.sleep(0)
        return ODD[attempt.response]()  # type: ignore[no-any-return]


@frozen
class SaysTogether:
    phase = "diff"
    where: str

    def check_group(self, attempts: list[Attempt]) -> list[Outcome]:
        return [ODD[attempt.response]() for attempt in attempts]


def said(verdicts):
    """What was said, without places in files, which differ by the path that led there."""
    return [
        (
            v.value,
            v.raw,
            [r.outcome for r in v.results],
            v.fault and (v.fault.kind, v.fault.message.partition(" (")[0]),
        )
        for v in verdicts
    ]


def test_odd_outcomes_are_the_same_in_every_way():
    rows = [(TASK, name) for name in ODD]
    with Environment("e", [Slot("s", Says("inline"))]) as env:
        wanted = said([env.evaluate(*row) for row in rows])
        assert said(asyncio.run(gathered(env, rows))) == wanted
        assert said(env.evaluate_many(rows, workers=1)) == wanted
    for says in (Says("worker"), SaysLater("worker"), SaysLater("caller")):
        with Environment("e", [Slot("s", says)]) as env:
            assert said([env.evaluate(*row) for row in rows]) == wanted, says
            assert said(env.evaluate_many(rows)) == wanted, says
            assert said(asyncio.run(gathered(env, rows))) == wanted, says
    for place in ("inline", "worker"):
        with Environment("e", [Slot("s", SaysTogether(place))]) as env:
            sound = [name for name, one in zip(ODD, wanted, strict=True) if one[0] is not None]
            found = said(env.evaluate_group(TASK, sound))
            assert found == [one for one in wanted if one[0] is not None], place


async def gathered(env, rows):
    return await asyncio.gather(*[env.aevaluate(*row) for row in rows])


@pytest.mark.parametrize("where", ["inline", "worker"])
def test_what_a_function_returns_becomes_plain_in_every_place(where):
    """Or a response that brings a set into its data would be unscored in a worker, and another
    outcome inline.
    """

    @stage(where=where)
    def mapped(response):
        data = {"a": {3}, "n": float("nan"), 5: b"x", "surrogates": "\ud83d" + "\ude00"}
        return {"score": 1.0, "detail": 5, "data": data, "found": {1, 2}}

    with Environment("e", mapped, [TASK]) as env:
        outcome = env.evaluate(TASK, "x").results[0].outcome
    wanted = {"a": [3], "n": "nan", "5": "b'x'", "surrogates": "\ud83d" + "\ude00"}
    assert (outcome.detail, outcome.data, outcome.private) == ("5", wanted, {"found": [1, 2]})


@pytest.mark.parametrize("text", [",", "[{", '"', "\\", "a "])
@pytest.mark.parametrize("words", [False, True])
def test_no_long_response_is_unscored_because_a_function_returns_it(text, words):
    """Commas in a text count as no values, and of more values than can be sent the rest is left
    out.
    """

    def echoed(response):
        return {"score": 1.0, "found": response.split() if words else response}

    with Environment("e", echoed, [TASK]) as env:
        assert env.verify(TASK, text * (3_600_000 // len(text))) == 1.0


def test_what_is_odd_becomes_plain():
    with Environment("e", [Slot("s", Says("inline"))]) as env:
        data = {name: env.evaluate(TASK, name).results[0] for name in ODD}
    assert data["tuples"].outcome.data == {"a": [1, [2, 3]], "b": [1, 2]}
    assert data["numbers"].outcome.data["a"] == "1/3"
    assert data["its own part"].outcome.data == {"twice": ["...", "..."]}
    assert type(data["enums"].outcome.detail) is str
    for name in (
        "a list",
        "nothing",
        "no dict",
        "mute",
        "huge steps",
        "changed data",
        "changed score",
    ):
        assert data[name].fault.kind == "contract", name


# -- artifacts -------------------------------------------------------------------------------------


@frozen
class Inner:
    name: str
    kind: Literal["a", "b"] = "a"


def _tuple(many: Iterable[Inner]) -> tuple[Inner, ...]:
    return tuple(many)


@frozen
class Outer:
    inner: Inner | None = None
    many: tuple[Inner, ...] = field(default=(), converter=_tuple)
    by_name: dict[str, list[Inner]] = field(factory=dict)
    pair: tuple[int, Inner] | None = None
    blob: bytes = b""
    anything: Any = None
    share: float = 0.5
    hidden: str = field(default="set by the class", init=False)


@frozen
class Loose:
    what: object


INNER = Inner("i", "b")
WHOLE = Outer(
    INNER,
    (INNER, INNER),
    {"x": [INNER], "y": []},
    (3, INNER),
    b"\x00\xff",
    {
        (1, 2): {3},
        None: frozenset((1j,)),
        b"k": [float("inf"), 2**20_000, -0.0, True],
        5: "\ud83d\ude00",
    },
    1,
)


def test_an_artifact_arrives_as_it_was_sent():
    (made,) = unpack((Inner, Outer), wire.load(wire.dump([[1, *pack(WHOLE)]])))
    assert made == WHOLE
    for (key, value), (other, twin) in zip(
        WHOLE.anything.items(), made.anything.items(), strict=True
    ):
        assert (type(key), type(value)) == (type(other), type(twin))


@pytest.mark.parametrize(
    "value", [INNER, object(), 1 + 0 * Fraction(1), lambda: 1, [object()], range(3)]
)
def test_an_artifact_that_holds_more_than_plain_data_is_not_sent(value):
    with pytest.raises(TypeError, match=r"cannot be sent on|annotation does not name it"):
        unpack((Loose,), [[0, *pack(Loose(value))]])


@pytest.mark.parametrize(
    "forged",
    [
        [[0, 5, "a"]],
        [[0, "x", "c"]],
        [[0, "x"]],
        [[2, "x", "a"]],
        [["0", "x", "a"]],
        [[0, ["attrs", "Outer"], "a"]],
        [[1, ["attrs", "Outer", None], ["tuple"], ["dict"], None, ["bytes", ""], None, 0.5]],
        [[1, None, ["tuple", "x"], ["dict"], None, ["bytes", ""], None, 0.5]],
        [[1, None, ["list"], ["dict"], None, ["bytes", ""], None, 0.5]],
        [[1, None, ["tuple"], ["dict", [1, ["list"]]], None, ["bytes", ""], None, 0.5]],
        [[1, None, ["tuple"], ["dict"], ["tuple", 1], ["bytes", ""], None, 0.5]],
        [[1, None, ["tuple"], ["dict"], None, "", None, 0.5]],
        [[1, None, ["tuple"], ["dict"], None, ["bytes", "?"], ["eval", "1"], 0.5]],
        [[1, None, ["tuple"], ["dict"], None, ["bytes", ""], ["attrs", "Inner", "x", "a"], 0.5]],
        [[1, None, ["tuple"], ["dict"], None, ["bytes", ""], ["dict", [["list"], 1]], 0.5]],
        {"0": 1},
        5,
        [[]],
    ],
)
def test_forged_artifacts_are_rejected(forged):
    with pytest.raises((TypeError, ValueError, LookupError, StopIteration)):
        unpack((Inner, Outer), forged)


@frozen
class Puts:
    phase = "parse"
    makes = (Outer,)
    where: str = "worker"

    def check(self, attempt: Attempt) -> Outcome:
        if attempt.response == "undeclared":
            attempt.put(Inner("x"))
        elif attempt.response == "plain":
            attempt.put("text")
        else:
            attempt.put(WHOLE)
        return Outcome(1.0)


@frozen
class PutsLater(Puts):
    async def check(self, attempt: Attempt) -> Outcome:  # type: ignore[override]
        return super().check(attempt)


@frozen
class Takes:
    phase = "diff"
    takes = (Outer,)
    where: str = "worker"

    def check(self, attempt: Attempt) -> Outcome:
        return Outcome(float(attempt.find(Outer) == WHOLE), str(attempt.find(Inner)))


@pytest.mark.parametrize("taker", ["inline", "worker"])
@pytest.mark.parametrize(
    "maker", [Puts("inline"), Puts(), PutsLater(), PutsLater("caller")], ids=str
)
def test_only_declared_artifacts_travel_and_they_are_the_same_everywhere(maker, taker):
    with Environment("e", [Slot("puts", maker), Slot("takes", Takes(taker))]) as env:
        responses = ("sound", "undeclared", "plain")
        for way in (
            [env.evaluate(TASK, response) for response in responses],
            list(env.evaluate_many([(TASK, response) for response in responses])),
            env.evaluate_group(TASK, responses),
        ):
            assert way[0].value == 1.0
            for verdict in way[1:]:
                assert verdict.fault.kind == "contract"
                assert "makes = (" in verdict.fault.message
