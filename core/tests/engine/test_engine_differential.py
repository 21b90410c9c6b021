"""One composition evaluated in every way there is: the verdicts are equal, up to seconds."""

import asyncio
import json
import threading
from typing import Any

import pytest
from attrs import evolve, frozen
from engine_stages import Guards
from engine_tables import HOSTILE, ORDERS, AsyncGroupTable, AsyncTable, GroupTable, Table, Trail
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import (
    AllOf,
    AnyOf,
    Composite,
    Environment,
    First,
    Pipeline,
    Product,
    Quorum,
    Slot,
    Task,
)
from rlenv.model.record import dumps
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict

RESPONSES = ("0", "1", "2", "3", "x")  # "x" is in no table: every stage breaks on it
PAIRS = [(Task("p", answer="a", info={"n": [1]}, id="t"), response) for response in RESPONSES]
TASK = PAIRS[0][0]


@frozen
class Grown:
    """A stage or composite to be built: the same tree is in many places."""

    kind: str  # a place of a leaf, or a composite's name
    says: tuple[float | str, ...] = ()
    children: tuple["Grown", ...] = ()
    weight: float = 1.0
    gate: float | None = None
    bonus: float = 0.0
    penalty: float = 0.0
    k: int = 1


PLACES = ("inline", "worker", "async worker", "caller")
scores = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
gates = st.none() | st.sampled_from([0.3, 1.0])
shaped = {
    "weight": st.sampled_from([0.5, 1.0, 3.0]),
    "gate": gates,
    "bonus": st.sampled_from([0.0, 0.5]),
    "penalty": st.sampled_from([0.0, 0.25]),
}


def said(length: int = 4) -> st.SearchStrategy[tuple[float | str, ...]]:
    entry = st.one_of(scores, scores, scores, st.sampled_from(ORDERS + HOSTILE))
    return st.tuples(*[entry] * length)


leaves = st.builds(Grown, st.sampled_from(PLACES), said(), **shaped)
grouped = st.builds(
    Grown, st.sampled_from(["g " + place for place in PLACES]), st.tuples(*[scores] * 5)
)
names = st.sampled_from(["pipeline", "any", "all", "product", "quorum", "first"])


def branches(children: st.SearchStrategy[Grown]) -> st.SearchStrategy[Grown]:
    some = st.lists(children, min_size=1, max_size=3).map(tuple)
    return st.builds(Grown, names, st.just(()), some, k=st.integers(1, 3), **shaped)


trees = branches(st.recursive(leaves, branches, max_leaves=5))


class Builder:
    """Builds a tree; ``place`` puts every leaf there, None where the tree says; ``more`` are
    attributes of leaves.
    """

    def __init__(self, place: str | None = None, more: dict[str, Any] | None = None) -> None:
        self.place = place
        self.more = more or {}
        self.count = 0

    def stage(self, grown: Grown) -> object:
        place = self.place or grown.kind.removeprefix("g ")
        group = grown.kind.startswith("g ")
        plain = place in ("inline", "worker")
        cls = {
            (False, True): Table,
            (False, False): AsyncTable,
            (True, True): GroupTable,
            (True, False): AsyncGroupTable,
        }[group, plain]
        needs = (Trail,) if self.count else ()
        self.count += 1
        return cls(f"leaf {self.count}", grown.says, place.rpartition(" ")[2], needs, **self.more)

    def slot(self, index: int, grown: Grown, *, pipeline: bool) -> Slot:
        stage = self.composite(grown) if grown.children else self.stage(grown)
        if not pipeline:
            return Slot(f"s{index}", stage, 1.0, gate=grown.gate)
        return Slot(
            f"s{index}",
            stage,
            grown.weight,
            gate=grown.gate,
            bonus=grown.bonus,
            penalty=grown.penalty,
        )

    def composite(self, grown: Grown) -> Composite:
        slots = [
            self.slot(i, child, pipeline=grown.kind == "pipeline")
            for i, child in enumerate(grown.children)
        ]
        if grown.kind == "quorum":
            return Quorum(slots, min(grown.k, len(slots)), at=0.5)
        plain: dict[str, type[Composite]] = {
            "pipeline": Pipeline,
            "any": AnyOf,
            "all": AllOf,
            "product": Product,
        }
        return plain.get(grown.kind, First)(slots)


def built(tree: Grown, place: str | None = None, **options: Any) -> Environment:
    return Environment("e", Builder(place).composite(tree), **options)


def bare(verdicts):
    """Without the fingerprint, which names the places too."""
    return [evolve(verdict, fingerprint="") for verdict in verdicts]


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


async def gathered(env):
    return await asyncio.gather(*[env.aevaluate(task, response) for task, response in PAIRS])


async def inside_a_loop(env):
    return [env.evaluate(task, response) for task, response in PAIRS]


def as_completed(env):
    return [verdict for _, verdict in sorted(env.evaluate_as_completed(PAIRS))]


WAYS: dict[str, Any] = {
    "evaluate": lambda env: [env.evaluate(task, response) for task, response in PAIRS],
    "in a thread": lambda env: in_a_thread(lambda: WAYS["evaluate"](env)),
    "in a loop": lambda env: asyncio.run(inside_a_loop(env)),
    "aevaluate": lambda env: asyncio.run(gathered(env)),
    "evaluate_many": lambda env: list(env.evaluate_many(PAIRS)),
    "two workers": lambda env: list(env.evaluate_many(PAIRS, workers=2)),
    "as completed": as_completed,
    "a group": lambda env: env.evaluate_group(TASK, RESPONSES),
    "backwards": lambda env: list(env.evaluate_many(PAIRS[::-1]))[::-1],
}


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Holds the shared workers, which would end with each environment."""
    with Environment("warm", [Slot("s", Table("warm", (1.0,), "worker"))]) as env:
        env.verify(TASK, "0")
        assert next(env.evaluate_many([(TASK, "0")], workers=2)).reward == 1.0
        yield


@given(trees)
def test_every_way_to_evaluate_gives_equal_verdicts(tree):
    with built(tree, "inline") as simple:
        wanted = bare(WAYS["evaluate"](simple))
    ways = [
        ("inline", {"inline_limit": 0}),
        ("inline", {"waits": True}),
        (None, {"inline_limit": 0}),
    ]
    for place, more in ways:  # a worker or a thread instead of the loop
        with Environment("e", Builder(place, more).composite(tree)) as env:
            assert bare(WAYS["aevaluate"](env)) == wanted, (place, more)
    isolated = built(tree, isolate=True)
    for env in (built(tree), isolated, built(tree, "worker"), built(tree, "async worker")):
        with env:
            for name, way in WAYS.items():
                assert bare(way(env)) == wanted, name


@given(st.lists(grouped | trees, min_size=1, max_size=3).map(tuple))
def test_a_group_stage_that_judges_each_alone_changes_nothing(children):
    tree = Grown("pipeline", (), children)
    with built(tree, "inline") as simple:
        wanted = bare(WAYS["evaluate"](simple)[:4])
    with built(tree) as env:
        assert bare(env.evaluate_group(TASK, RESPONSES[:4])) == wanted


@settings(max_examples=100, deadline=None)
@given(trees)
def test_verdicts_survive_json(tree):
    with built(tree, "inline") as env:
        for verdict in WAYS["evaluate"](env):
            assert verdict_from_dict(json.loads(dumps(verdict_to_dict(verdict)))) == verdict
            assert (verdict.value is None) == (verdict.fault is not None)
            assert verdict.value is None or 0.0 <= verdict.value <= 1.0


KILLERS = ("exit", "sleep")
KILLS = pytest.mark.slow  # a worker ends ten times


@pytest.mark.parametrize("order", KILLERS)
@pytest.mark.parametrize(
    "kind",
    [*(pytest.param(kind, marks=KILLS) for kind in ("first", "any")), "pipeline"],
)
def test_a_stage_that_kills_its_worker_is_the_same_fault_in_every_way(kind, order):
    """Between two sound stages, one of them inline, and with a response that spares it."""
    says = (order, 1.0, 0.0, 0.5)
    children = tuple(Grown("worker", s) for s in ((0.5,) * 4, says, (1.0, 0.5, 0.5, "none")))
    root = Builder().composite(Grown(kind, (), children))
    if kind == "first":
        root = First(root.slots[1:])
    slots = [evolve(s, timeout=1.5) if s.stage.says is says else s for s in root.slots]
    slots[-1] = evolve(slots[-1], stage=evolve(slots[-1].stage, where="inline", needs=()))
    slots[0] = evolve(slots[0], stage=evolve(slots[0].stage, needs=()))
    pairs = [(TASK, response) for response in "0123"]
    with Environment("e", type(root)(slots)) as env:
        wanted = [env.evaluate(task, response) for task, response in pairs]
        assert wanted[0].results[-2 if kind != "pipeline" else -1].fault is not None
        assert list(env.evaluate_many(pairs)) == wanted
        assert list(env.evaluate_many(pairs, workers=1)) == wanted
        assert env.evaluate_group(TASK, list("0123")) == wanted
        assert asyncio.run(env.aevaluate(*pairs[0])) == wanted[0]


@pytest.mark.parametrize(
    "stage",
    [Guards(), Guards(waits=True), Guards(inline_limit=0), Guards("worker")],
    ids=["on the loop", "in a thread", "above its limit", "in a worker"],
)
def test_a_stage_that_catches_everything_around_a_call_is_paid_the_same_in_every_way(stage):
    pairs = [(TASK, "right"), (TASK, "wrong")]
    with Environment("e", [Slot("s", stage)]) as env:
        wanted = [env.evaluate(*pair) for pair in pairs]
        assert [verdict.value for verdict in wanted] == [1.0, 0.0]
        assert [asyncio.run(env.aevaluate(*pair)) for pair in pairs] == wanted
        assert list(env.evaluate_many(pairs)) == wanted
        assert list(env.evaluate_many(pairs, workers=1)) == wanted
        assert env.evaluate_group(TASK, ["right", "wrong"]) == wanted
