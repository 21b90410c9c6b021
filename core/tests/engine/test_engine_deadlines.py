"""Whoever waits is answered, whatever becomes of the thread, loop or worker that should have
answered.
"""

import asyncio
import contextlib
import ctypes
import sys
import threading
import time
from functools import partial

import pytest
from attrs import frozen
from engine_stages import Naps, Reads, Tells, TellsTogether
from rlenv import Attempt, Environment, Outcome, Pipeline, Slot, Task
from rlenv.workers import Done, Pool, Program, dispatch, pool, watch

TASK = Task("p", id="t")
BLOCKS = 5.0  # seconds, longer than the timeout and all that is added to it


def kill(*names):
    """Raise SystemExit in the threads of these names, wherever they are."""
    for thread in threading.enumerate():
        if thread.name in names:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
            )


class Leaves:
    """Raises when it is collected."""

    def __del__(self):
        raise SystemExit(3)


async def nap():
    time.sleep(BLOCKS)


@frozen
class Nests:
    """Blocks its loop where no coroutine of its own is on the stack."""

    log: str
    where: str = "worker"
    phase = "judge"

    async def check(self, attempt: Attempt) -> Outcome:
        with open(self.log, "a") as file:
            file.write(f"{attempt.response}\n")
        loop = asyncio.get_running_loop()
        if attempt.response == "gather":
            await asyncio.gather(asyncio.sleep(0.02), nap())
        if attempt.response == "group":
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(0.02))
                group.create_task(nap())
        if attempt.response == "shield":
            await asyncio.shield(asyncio.create_task(nap()))
        if attempt.response == "soon":
            loop.call_soon(time.sleep, BLOCKS)
            await asyncio.sleep(60)
        if attempt.response == "later":
            loop.call_later(0.02, time.sleep, BLOCKS)
            await asyncio.sleep(60)
        if attempt.response == "threadsafe":
            await asyncio.to_thread(loop.call_soon_threadsafe, time.sleep, BLOCKS)
            await asyncio.sleep(60)
        await asyncio.sleep(0.05)
        return Outcome(1.0)


SLOW = pytest.mark.slow  # each to its deadline, twice
WAYS = [
    *("gather", "soon", "threadsafe"),
    *(pytest.param(how, marks=SLOW) for how in ("group", "shield", "later")),
]


@pytest.mark.parametrize("where", ["worker", "caller"])
@pytest.mark.parametrize("how", WAYS)
def test_who_blocks_a_loop_by_a_task_or_callback_of_its_own_is_found_at_once(tmp_path, how, where):
    log = tmp_path / "log"
    log.touch()
    with Environment("e", [Slot("s", Nests(str(log), where), timeout=1.5)]) as env:
        rows = [(TASK, f"ok {i}") for i in range(20)]
        verdicts = list(env.evaluate_many([*rows[:10], (TASK, how), *rows[10:]], workers=1))

    assert verdicts.pop(10).fault.kind == ("timeout" if where == "worker" else "blocked")
    assert [verdict.value for verdict in verdicts] == [1.0] * 20
    began = log.read_text().splitlines()
    # In a worker it runs once more, alone: a neighbor may have written that it is the one at work.
    assert began.count(how) == (2 if where == "worker" else 1)
    assert max(began.count(row[1]) for row in rows) <= 2  # once more beside the others, not alone


@frozen
class Wrecks:
    """Does to the threads of this process what a bug might."""

    phase = "judge"
    where = "caller"

    async def check(self, attempt: Attempt) -> Outcome:
        order = attempt.response
        loop = asyncio.get_running_loop()
        if order == "never":
            await loop.create_future()
        if order == "deaf":
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)
        if order == "flood":

            def flood():
                loop.call_soon(flood)

            flood()
            await asyncio.sleep(60)
        if order == "close":

            def close():
                loop.stop()
                while loop.is_running():
                    time.sleep(0.001)
                loop.close()

            threading.Thread(target=close).start()
            await asyncio.sleep(60)
        if order == "policy":
            asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
            asyncio.set_event_loop(None)
        if order == "kill":
            kill("rlenv-loop")
            await asyncio.sleep(60)
        if order == "kill both":
            kill("rlenv-loop", "rlenv-watch")
            await asyncio.sleep(60)
        if order == "collect":
            Leaves()
        await asyncio.sleep(0)
        return Outcome(1.0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    "order", ["never", "deaf", "flood", "close", "policy", "kill", "kill both", "collect"]
)
def test_a_stage_that_wrecks_the_loop_of_the_process_hangs_nobody(order):
    with two_on_one_loop() as (env, hasty):
        assert env.evaluate(TASK, "ok").value == 1.0
        fault = hasty.evaluate(TASK, order).fault
        assert fault is None or fault.kind in ("timeout", "error", "blocked", "pool")
        assert env.evaluate(TASK, "ok").value == 1.0
        assert asyncio.run(env.aevaluate(TASK, "ok")).value == 1.0


@contextlib.contextmanager
def two_on_one_loop():
    """Two environments whose stages share the loop of the process; only what hangs need not wait
    long for its fault.
    """
    with (
        Environment("e", [Slot("s", Wrecks(), timeout=60.0)]) as env,
        Environment("e", [Slot("s", Wrecks(), timeout=0.3)]) as hasty,
    ):
        yield env, hasty


def test_a_clock_that_stands_still_costs_faults_and_no_hang(monkeypatch):
    with two_on_one_loop() as (env, hasty):
        assert env.evaluate(TASK, "ok").value == 1.0
        monkeypatch.setattr(time, "monotonic", lambda: 0.0)
        assert hasty.evaluate(TASK, "never").fault.kind == "timeout"
        assert env.evaluate(TASK, "ok").value == 1.0


DOZE = Program("engine_stages:doze", b"")


def break_dispatcher(monkeypatch, how):
    if how == "dies":
        end = dispatch.Dispatcher._end

        def end_elsewhere(self, problem):
            if threading.current_thread() is not self.thread:
                end(self, problem)

        monkeypatch.setattr(dispatch.Dispatcher, "_end", end_elsewhere)
        monkeypatch.setattr(dispatch.Dispatcher, "_round", lambda self: sys.exit())
    else:
        monkeypatch.setattr(dispatch, "STILL", 5)
        monkeypatch.setattr(dispatch.Dispatcher, "_round", lambda self: time.sleep(2))


@pytest.mark.parametrize("how", ["dies", "stands still"])
def test_a_dispatcher_that_is_gone_is_a_fault_for_all_who_wait(monkeypatch, how):
    with Pool(1) as pool:
        assert pool.submit(DOZE, 0).result(60) == Done(0)
        stream = pool.stream(DOZE, [0, 1, 1])
        first = [next(stream)]
        waits = [pool.submit(DOZE, 30) for _ in range(3)]
        with monkeypatch.context() as broken:
            break_dispatcher(broken, how)
            pool.submit(DOZE, 30)  # wakes it
            assert {future.result(60).kind for future in waits} == {"pool"}
            rest = dict(first + list(stream))
        assert (sorted(rest), rest[0]) == ([0, 1, 2], Done(0))  # what was taken later may be done
        assert pool.submit(DOZE, 0).result(60) == Done(0)  # by another


@pytest.mark.slow  # sleeps 0.4 s at each step
def test_a_dispatcher_that_is_slow_at_each_of_many_steps_does_not_stand_still(monkeypatch):
    make = pool.Worker
    end = pool.Worker.kill

    def slowly(done, *args):
        time.sleep(0.4)  # as where the machine has much else to do
        return done(*args)

    monkeypatch.setattr(dispatch, "STILL", 10)  # a second
    monkeypatch.setattr(pool, "Worker", partial(slowly, make))
    with Pool(5) as workers:
        assert [value.value for _, value in workers.stream(DOZE, [0] * 20)] == [0] * 20
        monkeypatch.setattr(make, "kill", lambda worker: slowly(end, worker))
        stream = workers.stream(Program("engine_stages:dies", b""), range(5))
        assert {failed.kind for _, failed in stream} == {"crash"}


@frozen
class Hangs:
    """An inline stage that never returns."""

    ends: threading.Event
    where = "inline"
    waits = True
    phase = "diff"

    def check(self, attempt: Attempt) -> Outcome:
        if attempt.response == "hang":
            self.ends.wait()
        return Outcome(1.0)


def test_an_inline_stage_that_hangs_in_its_thread_is_given_up(monkeypatch):
    monkeypatch.setattr("rlenv.runtime.executor.IMPORTS", 0.0)
    stage = Hangs(threading.Event())
    slot = Slot("s", stage)

    async def main(env):
        env._plan.leaves[0].timeout = 0.3
        hung = await asyncio.gather(*[env.aevaluate(TASK, "hang") for _ in range(20)])
        env._plan.leaves[0].timeout = 60.0
        return hung, await env.aevaluate(TASK, "ok")  # more hang than there are threads

    with Environment("e", [slot]) as env:
        hung, well = asyncio.run(main(env))
    stage.ends.set()
    assert {verdict.fault.kind for verdict in hung} == {"timeout"}
    assert well.value == 1.0


def test_what_breaks_while_it_is_looked_at_spoils_no_other():
    seen = []

    def broken():
        seen.append("broken")
        raise ValueError

    def sound():
        seen.append("sound")
        return len(seen) < 10

    watch.watch(broken)
    watch.watch(sound)
    while sound in watch._looks:
        time.sleep(0.01)
    watch._looks.discard(broken)
    assert seen.count("sound") > 1


@pytest.mark.parametrize("nested", [pytest.param(False, marks=SLOW), True])
@pytest.mark.parametrize("how", ["evaluate", "aevaluate", "evaluate_many"])
def test_the_time_of_inline_stages_is_not_that_of_the_composite_around_them(how, nested):
    """Or a long response would be unscored, since the stages after them would have no time."""
    reads = [Slot("reads", Reads())]
    slots = [*([Slot("p", Pipeline(reads))] if nested else reads), Slot("naps", Naps(0.0))]
    with Environment("e", [Slot("all", Pipeline(slots), timeout=2.0)]) as env:
        env.evaluate(TASK, "warm")
        for text in ("x", "x" * 44_000):
            if how == "aevaluate":
                verdict = asyncio.run(env.aevaluate(TASK, text))
            elif how == "evaluate_many":
                (verdict,) = env.evaluate_many([(TASK, text)], workers=2)
            else:
                verdict = env.evaluate(TASK, text)
            assert verdict.value == 1.0, verdict.fault


@pytest.mark.parametrize("where", ["caller", "worker"])
def test_an_outcome_that_takes_for_ever_to_read_hangs_nobody(where):
    with Environment("e", [Slot("s", Tells(where), timeout=2.0)]) as env:
        assert env.evaluate(TASK, "endless").fault.kind in ("blocked", "timeout")
        assert env.verify(TASK, "ok") == 1.0


def test_nor_one_of_a_group():
    with Environment("e", [Slot("s", TellsTogether("caller"), timeout=2.0)]) as env:
        found = env.evaluate_group(TASK, ["ok", "endless"])
        assert {verdict.fault.kind for verdict in found} == {"blocked"}
        assert [verdict.value for verdict in env.evaluate_group(TASK, ["ok", "ok"])] == [1.0, 1.0]
