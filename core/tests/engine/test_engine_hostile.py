"""What stages, callers and their objects do that no contract allows."""

import asyncio
import sys
import threading
import time

import pytest
from attrs import frozen
from engine_stages import Naps, Obeys, Tame, Waits, tame
from rlenv import (
    Attempt,
    ConfigError,
    Environment,
    Outcome,
    Pipeline,
    ScoreError,
    Slot,
    Task,
    hookimpl,
)
from rlenv.compose.composites import Combined
from rlenv.runtime.event_loop import shared_loop

TASK = Task("p", answer="gold", id="t")


class Rude:
    """Cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


@frozen
class Returns:
    """Returns what it was given."""

    what: object
    phase = "diff"
    where = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        return self.what  # type: ignore[return-value]


@frozen
class ReturnsRude(Returns):
    def check(self, attempt: Attempt) -> Outcome:
        return Rude()  # type: ignore[return-value]


def test_what_cannot_be_shown_is_a_fault_all_the_same():
    verdict = Environment("e", [Slot("s", ReturnsRude(1))]).evaluate(TASK, "r")

    assert verdict.fault.kind == "contract"
    assert "not Rude" in verdict.fault.message


def test_a_row_that_cannot_be_shown_costs_no_other_row():
    env = Environment("e", [Slot("s", Returns(Outcome(1.0)))])

    found = list(env.evaluate_many([(TASK, Rude()), (Rude(), "r"), Rude(), (TASK, "r")]))

    assert [v.fault.kind for v in found[:3]] == ["input"] * 3
    assert found[3].reward == 1.0


def test_messages_about_misuse_tell_types_and_never_answers_or_responses():
    env = Environment("e", [Slot("s", Returns(TASK))])

    rows = [(TASK, b"my response"), ({"answer": "gold"}, "r"), TASK, (TASK, "my response")]
    for verdict in env.evaluate_many(rows):
        assert "gold" not in verdict.fault.message
        assert "my response" not in verdict.fault.message


class Folds(Pipeline):
    """A composite of somebody's own: ends with what ``ends`` says."""

    def fold(self):
        yield 0
        if self.ends == "raise":
            raise ZeroDivisionError("fold")
        return self.ends


@pytest.mark.parametrize(
    "ends",
    ["raise", None, 0.5, Combined(float("nan")), Combined(2.0), Combined(True), Combined(None)],
)
def test_a_composite_that_breaks_is_a_fault_at_any_depth(ends):
    folds = Folds([Slot("s", Returns(Outcome(1.0)))])
    folds.ends = ends
    for root in (folds, Pipeline([Slot("inner", folds)])):
        verdict = Environment("e", root).evaluate(TASK, "r")

        assert verdict.value is None
        assert verdict.fault.kind == ("error" if ends == "raise" else "contract")


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", True])
def test_workers_are_a_whole_number(workers):
    env = Environment("e", [Slot("s", Returns(Outcome(1.0)))])

    with pytest.raises(ConfigError, match="workers is an integer"):
        env.evaluate_many([], workers=workers)


class Leaks:
    @hookimpl
    def rlenv_verdict(self, task, response):
        raise KeyError(task.answer, response)


def test_an_observer_that_raises_is_logged_without_answers_and_responses(caplog):
    env = Environment("watched", [Slot("s", Returns(Outcome(1.0)))], observers=[Leaks()])

    assert env.verify(TASK, "my response") == 1.0
    assert "watched raised KeyError" in caplog.text
    assert "test_engine_hostile.py" in caplog.text
    assert "gold" not in caplog.text
    assert "my response" not in caplog.text


@pytest.mark.parametrize(
    "steps", [((0, float("nan")),), ((0, 7.5),), ((0, True),), (0.5,), 3, (("0", 0.5),), "ab"]
)
def test_scores_of_steps_are_as_strict_as_scores(steps):
    with pytest.raises(ScoreError):
        Outcome(1.0, steps=steps)


def test_steps_become_plain_pairs():
    assert Outcome(1.0, steps=[[0, 1], [2, 0.5]]).steps == ((0, 1.0), (2, 0.5))


def test_what_one_outcome_holds_no_other_does():
    Outcome(1.0).data["mine"] = 1
    Task("p").info["mine"] = 1

    assert Outcome(1.0).data == {}
    assert Task("p").info == {}


def test_a_task_that_cannot_travel_fares_alike_alone_and_in_a_batch():
    task = Task("p", answer=lambda: 1, id="t")
    gate = Slot("gate", Tame(), gate=1.0)
    with Environment("e", [gate, Slot("s", Obeys())]) as env:
        alone = [env.evaluate(task, response) for response in ("wrong", "right")]

        assert alone[0].value == 0.0
        assert alone[1].fault.kind == "contract"
        assert list(env.evaluate_many([(task, "wrong"), (task, "right")], workers=1)) == alone


def test_the_shared_loop_ends_with_the_last_environment_that_uses_it():
    others = set(threading.enumerate())  # what earlier tests blocked may end meanwhile

    def threads():
        found = set(threading.enumerate()) - others
        return [t for t in found if t.name.startswith("rlenv-loop")]

    a, b = (Environment("e", [Slot("s", Waits())]) for _ in "ab")
    assert a.verify(TASK, "right") == b.verify(TASK, "right") == 1.0
    mine = threads()
    a.close()
    assert b.verify(TASK, "right") == 1.0
    assert threads() == mine
    b.close()
    assert threads() == []
    assert a.verify(TASK, "right") == 1.0
    a.close()


@frozen
class Meddles:
    """Does to its loop what no stage should."""

    phase = "judge"
    where: str = "caller"

    async def check(self, attempt: Attempt) -> Outcome:
        if attempt.response == "stop":
            asyncio.get_running_loop().stop()
        if attempt.response == "close":
            asyncio.get_running_loop().close()
        if attempt.response == "stray":
            asyncio.get_running_loop().call_soon(sys.exit, 3)
        if attempt.response == "cancel":
            asyncio.current_task().cancel()  # type: ignore[union-attr]
        if attempt.response == "cancel all":
            for task in asyncio.all_tasks():
                task.cancel()
        if attempt.response == "interrupt":
            raise KeyboardInterrupt
        if attempt.response == "deaf":
            vars(asyncio.get_running_loop())["call_soon"] = lambda *_, **__: None
        if attempt.response == "awaitable":
            return asyncio.sleep(0)  # type: ignore[return-value]
        if attempt.response.startswith(("mute", "bare")):
            return tame(attempt.response)
        await asyncio.sleep(0)
        return Outcome(1.0)


@pytest.mark.parametrize("where", ["caller", "worker"])
def test_a_stage_that_meddles_with_its_loop_hangs_nobody(where):
    with Environment("e", [Slot("s", Meddles(where))]) as env:
        kinds = []
        for response in (
            "stop",
            "close",
            "stray",
            "cancel",
            "cancel all",
            "mute",
            "interrupt",
            "ok",
        ):
            fault = env.evaluate(TASK, response).fault
            kinds.append(fault and fault.kind)

    assert kinds == [None, "error", None, *["error"] * 4, None]


@pytest.mark.parametrize("where", ["caller", "worker"])
def test_what_an_async_stage_returns_or_raises_is_at_worst_a_fault(where):
    with Environment("e", [Slot("s", Meddles(where))]) as env:
        for response in ("awaitable", "bare outcome", "bare fault", "mute"):
            verdict = env.evaluate(TASK, response)
            assert verdict.fault.kind in ("contract", "error")
            assert asyncio.run(env.aevaluate(TASK, response)) == verdict


@pytest.mark.parametrize("where", ["caller", "worker"])
def test_a_stage_that_cancels_every_task_of_its_loop_hangs_none_of_them(where):
    """Some have not begun when they are cancelled, and never say so themselves."""

    async def several():
        responses = ["ok", "cancel all", "ok", "ok"] * 3
        return await asyncio.gather(
            *[env.aevaluate(TASK, r) for r in responses], env.aevaluate(TASK, "ok")
        )

    with Environment("e", [Slot("s", Meddles(where), timeout=30.0)]) as env:
        for verdict in asyncio.run(several()):
            assert verdict.scored or verdict.fault.kind == "error"
        assert env.verify(TASK, "ok") == 1.0


@pytest.mark.parametrize("where", ["caller", "worker"])
def test_a_stage_that_breaks_its_loop_costs_its_own_response_and_no_later_one(where):
    with Environment("e", [Slot("s", Meddles(where), timeout=2.0)]) as env:
        assert env.evaluate(TASK, "deaf").fault.kind == "timeout"
        assert env.evaluate(TASK, "ok").value == 1.0


def test_closing_while_a_check_is_on_the_loop_is_a_fault_and_no_hang():
    env = Environment("e", [Slot("s", Waits())])
    found = []
    thread = threading.Thread(target=lambda: found.append(env.evaluate(TASK, "hang")))
    thread.start()
    while not any(job.task for job in [*shared_loop._jobs]):
        time.sleep(0.01)
    env.close()
    thread.join()

    assert found[0].fault.kind == "pool"
    assert found[0].fault.transient


class Counts:
    """Counts the checks that were begun and cancelled, in this process."""

    phase = "judge"
    where = "caller"

    def __init__(self) -> None:
        self.cancelled = threading.Semaphore(0)

    async def check(self, attempt: Attempt) -> Outcome:
        if attempt.response == "done":
            return Outcome(1.0)
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            self.cancelled.release()
            raise
        return Outcome(1.0)


def test_what_nobody_waits_for_any_more_is_cancelled():
    stage = Counts()
    with Environment("e", [Slot("s", stage)]) as env:
        batch = env.evaluate_as_completed([(TASK, "hang"), (TASK, "done")])
        index, verdict = next(batch)
        assert (index, verdict.reward) == (1, 1.0)
        batch.close()
        assert stage.cancelled.acquire(timeout=30)

        async def give_up():
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(env.aevaluate(TASK, "hang"), 0.2)

        asyncio.run(give_up())
        assert stage.cancelled.acquire(timeout=30)


def test_a_batch_of_waiting_stages_answers_before_its_source_ends():
    def source():
        yield TASK, "right"
        time.sleep(3)
        yield TASK, "right"
        assert seen

    seen = []
    with Environment("e", [Slot("s", Waits())]) as env:
        for verdict in env.evaluate_many(source()):
            seen.append(verdict)

    assert len(seen) == 2


def test_a_plain_stage_beside_an_async_one_has_its_whole_time():
    """Its clock begins when it does, however many wait for their turn in the same worker."""
    slots = [Slot("slow", Naps(0.1), timeout=3.0), Slot("waits", Waits("worker"))]
    with Environment("e", slots) as env:
        verdicts = list(env.evaluate_many([(TASK, "right")] * 40, workers=1))

    assert {verdict.fault for verdict in verdicts} == {None}
