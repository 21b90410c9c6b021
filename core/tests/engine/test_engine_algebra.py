"""The arithmetic of rewards: law 12, as properties."""

import math
from fractions import Fraction

import pytest
from attrs import frozen
from hypothesis import assume, given
from hypothesis import strategies as st
from rlenv import (
    AllOf,
    AnyOf,
    Attempt,
    ConfigError,
    Environment,
    First,
    Outcome,
    Pipeline,
    Product,
    Quorum,
    Slot,
    Task,
)

TASK = Task("p", id="t")


@frozen
class Says:
    """Scores what it is told; None is a fault."""

    score: float | None
    phase = "diff"
    where = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        if self.score is None:
            raise RuntimeError("broken")
        return Outcome(self.score)


scores = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5])
amounts = st.floats(0, 3) | st.just(0.0)
weights = st.floats(1e-3, 1e3)
parts = st.lists(
    st.fixed_dictionaries(
        {"score": scores, "weight": weights | st.just(0.0), "bonus": amounts, "penalty": amounts}
    ),
    min_size=1,
    max_size=6,
).filter(lambda ps: any(p["weight"] for p in ps))


def slots(ps: list[dict[str, float]]) -> list[Slot]:
    return [
        Slot(f"s{i}", Says(p["score"]), p["weight"], bonus=p["bonus"], penalty=p["penalty"])
        for i, p in enumerate(ps)
    ]


def value(root, *more):
    return Environment("e", root).evaluate(TASK, "r")


@given(parts, st.floats(0.1, 2))
def test_the_shaping_formula_is_exact_to_1e_12(ps, base):
    exact = Fraction(0)
    total = sum(Fraction(p["weight"]) for p in ps)
    mean = sum(Fraction(p["weight"]) * Fraction(p["score"]) for p in ps) / total
    exact = Fraction(base) * mean
    assume(mean == 0 or float(mean) > 1e-300)
    for p in ps:
        exact += Fraction(p["bonus"]) * Fraction(p["score"]) if mean > 0 else 0
        exact -= Fraction(p["penalty"]) * (1 - Fraction(p["score"]))

    verdict = value(Pipeline(slots(ps), base=base))

    assert math.isclose(verdict.raw, float(exact), rel_tol=1e-12, abs_tol=1e-12)
    assert verdict.value == min(1.0, max(0.0, verdict.raw))


@given(parts, st.integers(0, 5), scores)
def test_raising_one_score_never_lowers_the_value(ps, at, score):
    at %= len(ps)
    raised = [dict(p) for p in ps]
    raised[at]["score"] = max(score, ps[at]["score"])

    assert value(slots(raised)).value >= value(slots(ps)).value


@given(parts, st.floats(1e-300, 1e300))
def test_weights_are_free_of_scale(ps, scale):
    scaled = [{**p, "weight": p["weight"] * scale} for p in ps]
    assume(
        all(
            math.isfinite(p["weight"]) and (p["weight"] > 1e-290) == bool(q["weight"])
            for p, q in zip(scaled, ps, strict=True)
        )
    )

    assert math.isclose(value(slots(scaled)).value, value(slots(ps)).value, abs_tol=1e-12)


@given(parts, scores)
def test_a_stage_without_weight_changes_nothing(ps, score):
    extra = [*slots(ps), Slot("extra", Says(score), 0.0)]

    assert value(extra).value == value(slots(ps)).value


@given(parts)
def test_a_stage_without_weight_that_breaks_changes_nothing(ps):
    extra = [Slot("extra", Says(None), 0.0), *slots(ps)]

    verdict = value(extra)

    assert verdict.value == value(slots(ps)).value
    assert verdict.results[0].fault is not None


@given(parts, st.floats(0.01, 1), scores)
def test_a_failed_gate_is_worth_nothing_and_later_stages_never_run(ps, gate, score):
    assume(score < gate)
    verdict = value([Slot("gate", Says(score), gate=gate), *slots(ps)])

    assert verdict.value == 0.0
    assert verdict.stopped_at == "gate"
    assert len(verdict.results) == 1


@given(parts, st.floats(0.01, 1), scores)
def test_a_passed_gate_changes_nothing(ps, gate, score):
    assume(score >= gate)

    assert value([Slot("gate", Says(score), gate=gate), *slots(ps)]).value == value(slots(ps)).value


@given(parts, st.integers(0, 5))
def test_a_stage_that_counts_and_breaks_leaves_the_value_open(ps, at):
    at %= len(ps)
    assume(ps[at]["weight"] or ps[at]["bonus"] or ps[at]["penalty"])
    broken = slots(ps)
    broken[at] = Slot(
        "x", Says(None), ps[at]["weight"], bonus=ps[at]["bonus"], penalty=ps[at]["penalty"]
    )

    verdict = value(broken)

    assert verdict.value is None
    assert verdict.fault.kind == "error"
    assert verdict.stopped_at == "x"


@given(st.lists(scores, min_size=1, max_size=6))
def test_the_other_composites_are_what_their_names_say(ss):
    children = [Slot(f"s{i}", Says(s)) for i, s in enumerate(ss)]

    assert value(AnyOf(children)).value == max(ss)
    assert value(AllOf(children)).value == min(ss)
    assert math.isclose(
        value(Product(children)).value, math.prod(ss), rel_tol=1e-12, abs_tol=1e-300
    )
    assert value(First(children)).value == ss[0]
    for k in range(1, len(ss) + 1):
        assert value(Quorum(children, k, at=0.5)).value == float(sum(s >= 0.5 for s in ss) >= k)


maybe = st.lists(scores | st.none(), min_size=1, max_size=5)


@given(maybe, st.data())
def test_a_fault_never_decides_and_never_hides_what_is_decided(ss, data):
    """Whatever score each broken child would have had, a scored verdict would have been the
    same.
    """
    children = [Slot(f"s{i}", Says(s)) for i, s in enumerate(ss)]
    healed = [Slot(f"s{i}", Says(data.draw(scores) if s is None else s)) for i, s in enumerate(ss)]
    k = data.draw(st.integers(1, len(ss)))
    for make in (AnyOf, AllOf, Product, lambda c: Quorum(c, k, at=0.5)):
        broken = value(make(children))
        if broken.value is not None:
            assert broken.value == value(make(healed)).value


def test_any_is_scored_despite_a_fault_when_a_child_reaches_1():
    assert value(AnyOf([Slot("a", Says(None)), Slot("b", Says(1.0))])).value == 1.0
    assert value(AnyOf([Slot("a", Says(None)), Slot("b", Says(0.9))])).value is None


def test_all_and_product_are_scored_despite_a_fault_when_a_child_is_0():
    for make in (AllOf, Product):
        assert value(make([Slot("a", Says(None)), Slot("b", Says(0.0))])).value == 0.0
        assert value(make([Slot("a", Says(None)), Slot("b", Says(0.1))])).value is None


def test_first_falls_back_on_a_fault_only():
    assert value(First([Slot("a", Says(None)), Slot("b", Says(0.3))])).value == 0.3
    assert value(First([Slot("a", Says(0.0)), Slot("b", Says(1.0))])).value == 0.0
    assert value(First([Slot("a", Says(None))])).value is None


def test_outside_a_pipeline_a_child_below_its_gate_is_worth_nothing():
    assert value(AnyOf([Slot("a", Says(0.6), gate=0.7), Slot("b", Says(0.2))])).value == 0.2


def test_composites_nest_and_their_paths_tell_where():
    inner = Pipeline([Slot("run", Says(0.5), gate=0.6), Slot("speed", Says(1.0))])
    verdict = value([Slot("tests", inner, 0.5), Slot("style", Says(1.0), 0.5)])

    assert verdict.value == 0.5
    assert verdict.results[0].children[0].stage == "tests/run"
    assert verdict.results[0].outcome.data["stopped_at"] == "tests/run"


def test_bonuses_pay_nothing_when_the_mean_is_0():
    assert value([Slot("a", Says(0.0)), Slot("b", Says(1.0), bonus=0.5)]).value == 0.0


def test_the_value_is_clamped_and_the_raw_sum_is_kept():
    over = value([Slot("a", Says(1.0)), Slot("b", Says(1.0), bonus=0.5)])
    under = value([Slot("a", Says(0.1)), Slot("b", Says(0.0), penalty=0.5)])

    assert (over.value, over.raw) == (1.0, 1.5)
    assert (under.value, under.raw) == (0.0, -0.4)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Pipeline([]), "no stages"),
        (lambda: Pipeline([Slot("a", Says(1), gate=1)]), "weights sum to zero"),
        (lambda: Slot("a", Says(1), -1), "a: weight is ≥ 0, not -1"),
        (lambda: Slot("a", Says(1), math.nan), "a: weight is a finite number"),
        (lambda: Slot("a", Says(1), True), "a: weight is a finite number"),
        (lambda: Slot("a", Says(1), gate=-0.1), "a: gate is in [0, 1]"),
        (lambda: Slot("a", Says(1), gate=1.5), "a: gate is in [0, 1]"),
        (lambda: Slot("a", Says(1), penalty=-0.1), "a: penalty is ≥ 0"),
        (lambda: Slot("a", Says(1), timeout=0), "a: timeout is > 0"),
        (lambda: Slot("a/b", Says(1)), 'a string without "/"'),
        (lambda: Pipeline([Slot("a", Says(1)), Slot("a", Says(1))]), "two stages are named 'a'"),
        (lambda: AnyOf([Slot("a", Says(1), bonus=1)]), "have no meaning inside AnyOf"),
        (lambda: Quorum([Slot("a", Says(1))], 2), "k is an integer from 1"),
        (lambda: Quorum([Slot("a", Says(1))], 1, at=0), "at is in (0, 1]"),
        (lambda: Pipeline([Slot("a", Says(1))], base=0), "base is a finite number > 0"),
        (lambda: Environment("e", [Slot("a", Says(1))], pass_mark=0), "pass_mark is in (0, 1]"),
    ],
)
def test_nonsense_is_refused_by_name(make, says):
    with pytest.raises(ConfigError) as err:
        make()

    assert says in str(err.value)
