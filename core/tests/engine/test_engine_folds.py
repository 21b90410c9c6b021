"""What each composite makes of its children's results: value, raw sum, fault, who ended it, who
ran.
"""

import math
import re

import pytest
from attrs import frozen
from hypothesis import example, given
from hypothesis import strategies as st
from rlenv import (
    AllOf,
    AnyOf,
    Attempt,
    ConfigError,
    First,
    Outcome,
    Pipeline,
    Product,
    Quorum,
    Slot,
)
from rlenv.compose.composites import Combined, Composite, clamp, shape
from rlenv.model.values import Fault, StageResult


@frozen
class Plain:
    phase = "diff"

    def check(self, attempt: Attempt) -> Outcome:
        raise AssertionError("a fold is told the results")


@frozen
class Gate(Plain):
    default_gate = 0.5


class Words:
    """An artifact."""


class Lines(Words):
    """Another."""


@frozen
class Makes(Plain):
    makes = (Words,)


@frozen
class Needs(Plain):
    needs = (Words,)


@frozen
class NeedsOther(Plain):
    needs = (Lines,)


STAGE = Plain()
A = Fault("error", "a broke")
B = Fault("timeout", "b was slow")


def named(*names, **more):
    return [Slot(name, STAGE, **more) for name in names]


def folded(composite, *said):
    """(what the children are worth together, how many ran); ``said`` holds scores and faults."""
    fold = composite.fold()
    ran = [next(fold)]
    try:
        while True:
            told = said[len(ran) - 1]
            outcome = None if isinstance(told, Fault) else Outcome(told)
            fault = told if isinstance(told, Fault) else None
            ran.append(fold.send(StageResult(f"path/{ran[-1]}", outcome, fault)))
    except StopIteration as stop:
        assert ran == list(range(len(ran)))
        return stop.value, len(ran)


ANY, ALL, PRODUCT, FIRST = (make(named("a", "b", "c")) for make in (AnyOf, AllOf, Product, First))
TWO = Quorum(named("a", "b", "c"), 2, at=0.5)


@pytest.mark.parametrize(
    ("composite", "said", "combined", "ran"),
    [
        (ANY, (0.2, 0.7, 0.3), Combined(0.7, 0.7), 3),
        (ANY, (0.2, 1.0), Combined(1.0, 1.0, None, "path/1"), 2),
        (ANY, (A, 1.0), Combined(1.0, 1.0, None, "path/1"), 2),
        (ANY, (0.0, 0.0, 0.0), Combined(0.0, 0.0), 3),
        (ANY, (A, 0.7, B), Combined(None, None, A), 3),
        (ALL, (0.8, 0.3, 0.7), Combined(0.3, 0.3), 3),
        (ALL, (0.8, 0.0), Combined(0.0, 0.0, None, "path/1"), 2),
        (ALL, (A, 0.0), Combined(0.0, 0.0, None, "path/1"), 2),
        (ALL, (1.0, 1.0, 1.0), Combined(1.0, 1.0), 3),
        (ALL, (A, 0.7, B), Combined(None, None, A), 3),
        (PRODUCT, (0.5, 1.0, 0.5), Combined(0.25, 0.25), 3),
        (PRODUCT, (0.5, 0.0), Combined(0.0, 0.0, None, "path/1"), 2),
        (PRODUCT, (A, 0.0), Combined(0.0, 0.0, None, "path/1"), 2),
        (PRODUCT, (A, 0.5, B), Combined(None, None, A), 3),
        (FIRST, (0.0,), Combined(0.0, 0.0, None, "path/0"), 1),
        (FIRST, (A, 0.4), Combined(0.4, 0.4, None, "path/1"), 2),
        (FIRST, (A, A, B), Combined(None, None, B), 3),
        (TWO, (0.5, 0.5), Combined(1.0, 1.0, None, "path/1"), 2),
        (TWO, (1.0, 0.0, 1.0), Combined(1.0, 1.0, None, "path/2"), 3),
        (TWO, (0.4, 0.0), Combined(0.0, 0.0, None, "path/1"), 2),
        (TWO, (1.0, 0.0, 0.0), Combined(0.0, 0.0, None, "path/2"), 3),
        (TWO, (A, 0.0, 0.0), Combined(0.0, 0.0, None, "path/2"), 3),
        (TWO, (A, 1.0, 1.0), Combined(1.0, 1.0, None, "path/2"), 3),
        (TWO, (A, 0.0, 1.0), Combined(None, None, A), 3),
        (TWO, (A, B, 0.0), Combined(None, None, A), 3),
        (Quorum(named("a", "b"), 2), (1.0, 0.99), Combined(0.0, 0.0, None, "path/1"), 2),
        (Quorum(named("a"), 1), (A,), Combined(None, None, A), 1),
    ],
)
def test_a_composite_is_worth_what_its_table_says(composite, said, combined, ran):
    assert folded(composite, *said) == (combined, ran)


@pytest.mark.parametrize(
    ("composite", "said", "value"),
    [
        (AnyOf(named("a", "b", gate=0.5)), (0.4, 0.1), 0.0),
        (AllOf(named("a", "b", gate=0.5)), (0.4,), 0.0),
        (Product(named("a", gate=0.5)), (0.4,), 0.0),
        (First(named("a", gate=0.5)), (0.4,), 0.0),
        (Quorum(named("a", gate=0.5), 1, at=0.3), (0.4,), 0.0),
        (First(named("a", gate=0.5)), (0.5,), 0.5),
        (First(named("a")), (0.4,), 0.4),
    ],
)
def test_a_child_below_its_gate_is_worth_nothing_in_any_composite(composite, said, value):
    assert folded(composite, *said)[0].value == value


@pytest.mark.parametrize(
    ("slots", "said", "combined", "ran"),
    [
        (named("a", "b"), (1.0, 0.5), Combined(0.75, 0.75), 2),
        ([Slot("a", STAGE, 3), Slot("b", STAGE, 1)], (1.0, 0.0), Combined(0.75, 0.75), 2),
        ([Slot("a", STAGE, gate=0.5), *named("b")], (0.5, 0.2), Combined(0.2, 0.2), 2),
        ([Slot("a", STAGE, gate=0.5), *named("b")], (0.4,), Combined(0.0, 0.0, None, "path/0"), 1),
        ([Slot("a", STAGE, bonus=0.5), *named("b")], (0.5, 0.5), Combined(0.75, 0.75), 2),
        ([Slot("a", STAGE, bonus=0.5), *named("b")], (1.0, 0.0), Combined(0.0, 0.0), 2),
        ([Slot("a", STAGE, bonus=0.5), *named("b")], (1.0, 1.0), Combined(1.0, 1.5), 2),
        ([Slot("a", STAGE, penalty=0.5), *named("b")], (0.5, 0.75), Combined(0.5, 0.5), 2),
        ([Slot("a", STAGE, penalty=0.5), *named("b")], (0.0, 0.25), Combined(0.0, -0.25), 2),
        ([Slot("a", STAGE, 0), *named("b")], (A, 0.5), Combined(0.5, 0.5), 2),
        ([Slot("a", STAGE, gate=1), *named("b")], (A,), Combined(None, None, A, "path/0"), 1),
        ([Slot("a", STAGE, bonus=1), *named("b")], (A,), Combined(None, None, A, "path/0"), 1),
        ([Slot("a", STAGE, penalty=1), *named("b")], (A,), Combined(None, None, A, "path/0"), 1),
        (named("a", "b"), (1.0, B), Combined(None, None, B, "path/1"), 2),
    ],
)
def test_a_pipeline_is_worth_what_its_table_says(slots, said, combined, ran):
    assert folded(Pipeline(slots), *said) == (combined, ran)


@pytest.mark.parametrize(
    ("watcher", "later", "ends"),
    [
        (STAGE, [STAGE], False),
        (Makes(), [STAGE], False),
        (STAGE, [Needs()], False),
        (Makes(), [Needs()], True),
        (Makes(), [NeedsOther()], False),
        (Makes(), [STAGE, Needs()], True),
        (First([Slot("in", Makes())]), [Needs()], True),
        (Makes(), [First([Slot("a", STAGE), Slot("b", Needs())])], True),
        (First([Slot("in", Needs())]), [Needs()], False),
    ],
)
def test_a_fault_of_a_weightless_stage_ends_a_pipeline_only_where_a_later_one_needs_what_it_makes(
    watcher, later, ends
):
    earlier = Slot("earlier", First([Slot("b", Makes()), Slot("a", Needs())]))
    slots = [earlier, Slot("watcher", watcher, weight=0)]
    slots += [Slot(f"later {i}", stage) for i, stage in enumerate(later)]

    found, ran = folded(Pipeline(slots), 1.0, A, *[1.0] * len(later))

    assert found == (Combined(None, None, A, "path/1") if ends else Combined(1.0, 1.0))
    assert ran == (2 if ends else len(slots))


def test_the_base_is_the_worth_of_a_perfect_mean():
    assert folded(Pipeline(named("a"), base=0.5), 0.5)[0] == Combined(0.25, 0.25)
    shaped = Pipeline([*named("a"), Slot("b", STAGE, bonus=0.25)], base=0.5)
    assert folded(shaped, 0.5, 1.0)[0] == Combined(0.5, 0.5)
    assert folded(Pipeline(named("a"), base=2), 1.0)[0] == Combined(1.0, 2.0)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=12), st.floats(0, 1))
@example([0.1] * 6, 0.7)
def test_a_mean_of_equal_scores_is_that_score_and_of_perfect_ones_exactly_1(weights, score):
    pipeline = Pipeline([Slot(str(i), STAGE, weight) for i, weight in enumerate(weights)])

    assert folded(pipeline, *[1.0] * len(weights))[0] == Combined(1.0, 1.0)
    mean = folded(pipeline, *[score] * len(weights))[0].value
    assert mean == pytest.approx(score, rel=1e-15, abs=1e-300)


def test_the_formula_of_shaping_takes_each_part():
    part = Slot("a", STAGE, bonus=0.5, penalty=0.25)

    assert shape(0.5, 2.0, [(part, 0.5)]) == 1.125
    assert shape(0.5, 2.0, [(part, 0.5), (part, 0.5)]) == 1.25
    assert shape(0.0, 2.0, [(part, 0.5)]) == -0.125
    assert [clamp(x) for x in (-0.5, 0.0, 0.25, 1.0, 1.5)] == [0.0, 0.0, 0.25, 1.0, 1.0]
    assert math.copysign(1.0, clamp(-0.0)) == 1.0


@pytest.mark.parametrize(
    ("slot", "weight", "matters"),
    [
        (Slot("a", STAGE), 1.0, True),
        (Slot("a", STAGE, 0.5), 0.5, True),
        (Slot("a", STAGE, 0), 0.0, False),
        (Slot("a", STAGE, gate=0.5), 0.0, True),
        (Slot("a", Gate()), 0.0, True),
        (Slot("a", STAGE, bonus=0.5), 0.0, True),
        (Slot("a", STAGE, penalty=0.5), 0.0, True),
        (Slot("a", STAGE, 2, gate=0.5), 2.0, True),
    ],
)
def test_a_slot_weighs_1_unless_it_has_another_part(slot, weight, matters):
    assert (slot.weight, slot.matters) == (weight, matters)


def test_a_slot_takes_its_gate_from_its_stage_unless_it_names_one():
    assert Slot("a", Gate()).gate == 0.5
    assert Slot("a", Gate(), gate=0.25).gate == 0.25
    assert Slot("a", Gate(), gate=0).gate is None
    assert Slot("a", Gate(), gate=0).weight == 1.0
    assert Slot("a", Gate(), gate=0.0, penalty=0.1).weight == 0.0
    assert Slot("a", STAGE).gate is None


def test_a_slot_is_called_what_the_configuration_called_it_else_its_class():
    assert Slot("a", STAGE, use="core/equal").kind == "core/equal"
    assert Slot("a", STAGE).kind == f"{Plain.__module__}:Plain"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Slot("a", STAGE, 0, gate=1, penalty=0, bonus=0, timeout=0.001),
        lambda: Slot("a", STAGE, 1e300, gate=1e-9, penalty=1e300, bonus=7, timeout=1e9),
        lambda: Quorum(named("a", "b"), 2, at=1),
        lambda: Quorum(named("a", "b"), 1, at=1e-9),
        lambda: Pipeline(named("a"), base=0.01),
        lambda: AnyOf([Slot("a", STAGE, 0), Slot("b", STAGE, 1)]),
    ],
)
def test_what_makes_sense_is_accepted(make):
    make()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Slot("a", STAGE, -1), "a: weight is ≥ 0, not -1"),
        (lambda: Slot("a", STAGE, "1"), "a: weight is a finite number, not '1'"),  # type: ignore[arg-type]
        (lambda: Slot("a", STAGE, math.inf), "a: weight is a finite number, not inf"),
        (lambda: Slot("a", STAGE, True), "a: weight is a finite number, not True"),
        (lambda: Slot("a", STAGE, penalty=-1), "a: penalty is ≥ 0, not -1"),
        (lambda: Slot("a", STAGE, bonus=-1), "a: bonus is ≥ 0, not -1"),
        (lambda: Slot("a", STAGE, bonus=math.nan), "a: bonus is a finite number, not nan"),
        (lambda: Slot("a", STAGE, gate=-0.5), "a: gate is in [0, 1], not -0.5"),
        (lambda: Slot("a", STAGE, gate=1.1), "a: gate is in [0, 1], not 1.1"),
        (lambda: Slot("a", STAGE, timeout=0), "a: timeout is > 0, not 0"),
        (lambda: Slot("a", STAGE, timeout=-1), "a: timeout is > 0, not -1"),
        (lambda: Slot("", STAGE), "a slot's name is a string without \"/\", not ''"),
        (lambda: Slot(7, STAGE), 'a slot\'s name is a string without "/", not 7'),  # type: ignore[arg-type]
        (lambda: AnyOf([]), "AnyOf has no stages: give it at least one"),
        (lambda: Pipeline(named("a"), base=-1), "base is a finite number > 0, not -1"),
        (lambda: Pipeline(named("a"), base=math.inf), "base is a finite number > 0, not inf"),
        (
            lambda: Quorum(named("a"), 0),
            "k is an integer from 1 to the number of stages (1), not 0",
        ),
        (
            lambda: Quorum(named("a"), 2),
            "k is an integer from 1 to the number of stages (1), not 2",
        ),
        (
            lambda: Quorum(named("a"), 1.0),  # type: ignore[arg-type]
            "k is an integer from 1 to the number of stages (1), not 1.0",
        ),
        (
            lambda: Quorum(named("a"), True),
            "k is an integer from 1 to the number of stages (1), not True",
        ),
        (lambda: Quorum(named("a"), 1, at=0), "at is in (0, 1], not 0"),
        (lambda: Quorum(named("a"), 1, at=1.5), "at is in (0, 1], not 1.5"),
        (lambda: Quorum(named("a"), 1, at="1"), "at is in (0, 1], not '1'"),  # type: ignore[arg-type]
        (
            lambda: AllOf([*named("a"), *named("a")]),
            "two stages are named 'a': give one another name",
        ),
    ],
)
def test_nonsense_is_refused_in_these_words(make, says):
    with pytest.raises(ConfigError, match=f"^{re.escape(says)}$"):
        make()


@pytest.mark.parametrize("more", [{"weight": 0.5}, {"penalty": 1}, {"bonus": 1}])
def test_shaping_means_something_in_a_pipeline_only(more):
    with pytest.raises(
        ConfigError, match=r"^b: weight, penalty and bonus have no meaning inside First;"
    ):
        First([*named("a"), Slot("b", STAGE, **more)])


def test_every_mistake_is_named_at_once():
    with pytest.raises(ConfigError) as err:
        Slot("a/b", STAGE, -1, gate=2)

    assert len(err.value.problems) == 3
    with pytest.raises(ConfigError) as err:
        Pipeline([], base=0)
    assert len(err.value.problems) == 2


def test_a_pipeline_without_weights_says_what_to_do():
    with pytest.raises(ConfigError, match=r"the weights sum to zero, .*: give one stage a weight$"):
        Pipeline(named("a", gate=0.5))


def test_a_composite_shows_its_slots_by_name():
    assert repr(AnyOf(named("a", "b"))) == "AnyOf(a, b)"


def test_a_composite_has_to_say_how_it_combines():
    with pytest.raises(NotImplementedError):
        Composite(named("a")).fold()
