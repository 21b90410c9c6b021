"""Random inputs: who draws them declares it, and only then is the secret part of the
fingerprint.
"""

import asyncio

import attrs
import pytest
from engine_stages import Split, Tame
from rlenv import AllOf, Attempt, Environment, Outcome, Slot, Task, stage

TASK = Task("Say yes", answer="yes", id="t")


def told(attempt: Attempt) -> Outcome:
    return Outcome(1.0, private={"key": attempt.key().hex()})


@attrs.frozen
class Draws:
    phase = "execute"
    draws = True
    where: str = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        return told(attempt)


@attrs.frozen
class DrawsUnsaid:
    phase = "execute"
    where: str = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        return told(attempt)


@attrs.frozen
class AsyncDrawsUnsaid:
    phase = "execute"
    where: str = "caller"

    async def check(self, attempt: Attempt) -> Outcome:
        return told(attempt)


@attrs.frozen
class GroupDraws:
    phase = "judge"
    draws: bool = False
    where: str = "inline"

    def check_group(self, attempts):
        return [told(attempt) for attempt in attempts]


@stage(where="inline")
def unsaid(attempt):
    return told(attempt)


@stage(where="inline", draws=True)
def said(attempt):
    return told(attempt)


def fingerprint(monkeypatch, secret, *stages):
    monkeypatch.setenv("RLENV_SECRET", secret)
    with Environment("e", [Slot(f"s{n}", each) for n, each in enumerate(stages)]) as env:
        return env.fingerprint


@pytest.mark.parametrize(
    "stages", [(Tame(),), (Split("inline"),), (Tame(), DrawsUnsaid()), (unsaid,)]
)
def test_where_nothing_is_drawn_every_secret_has_one_fingerprint(stages, monkeypatch):
    assert fingerprint(monkeypatch, "one", *stages) == fingerprint(monkeypatch, "two", *stages)


@pytest.mark.parametrize(
    "stages",
    [
        (Draws(),),
        (Tame(), Draws("worker")),
        (said,),
        (GroupDraws(draws=True),),
        (Tame(), AllOf([Slot("a", Tame()), Slot("b", Draws())])),
    ],
)
def test_where_something_is_drawn_the_fingerprint_names_the_secret(stages, monkeypatch):
    assert fingerprint(monkeypatch, "one", *stages) != fingerprint(monkeypatch, "two", *stages)


def test_workers_draw_the_same_keys_as_the_caller(monkeypatch):
    monkeypatch.setenv("RLENV_SECRET", "shared")
    here = Environment("here", [Slot("k", Draws())])
    with Environment("there", [Slot("k", Draws())], isolate=True) as there:
        assert there.evaluate(TASK, "a") == attrs.evolve(
            here.evaluate(TASK, "a"), fingerprint=there.fingerprint
        )


def refused(verdict):
    assert verdict.value is None
    assert verdict.fault.kind == "contract"
    assert "declare draws = True" in verdict.fault.message
    return True


BESIDE = pytest.param((Draws(),), marks=pytest.mark.slow)  # starts the workers of each once more


@pytest.mark.parametrize(
    "each",
    [DrawsUnsaid(), DrawsUnsaid("worker"), AsyncDrawsUnsaid(), AsyncDrawsUnsaid("worker"), unsaid],
)
@pytest.mark.parametrize("company", [(), BESIDE])
def test_a_stage_that_draws_without_a_word_is_a_fault_wherever_it_runs(each, company):
    with Environment("e", [*(Slot("before", c) for c in company), Slot("s", each)]) as env:
        assert refused(env.evaluate(TASK, "a"))
        assert all(refused(verdict) for verdict in env.evaluate_many([(TASK, "a")] * 3))
        if getattr(each, "where", "") != "caller":
            assert all(refused(v) for v in env.evaluate_many([(TASK, "a")] * 3, workers=1))


@pytest.mark.parametrize("where", ["inline", "worker"])
def test_so_is_a_stage_that_judges_groups(where):
    with Environment("e", [Slot("b", Draws()), Slot("g", GroupDraws(where=where))]) as env:
        assert all(map(refused, env.evaluate_group(TASK, ["a", "b"])))
    with Environment("e", [Slot("g", GroupDraws(draws=True, where=where))]) as env:
        assert [verdict.value for verdict in env.evaluate_group(TASK, ["a", "b"])] == [1.0, 1.0]


@pytest.mark.parametrize("response", ["a", "a" * 10_000])
def test_so_is_one_on_an_event_loop(response):
    with Environment("e", [Slot("b", Draws()), Slot("s", DrawsUnsaid())]) as env:
        assert refused(asyncio.run(env.aevaluate(TASK, response)))


def test_an_attempt_by_itself_has_its_key():
    assert len(Attempt(TASK, "a").key()) == 32
