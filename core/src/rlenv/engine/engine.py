"""The one algorithm: run the steps of a plan, one stage at a time, and fold the results into a
verdict.

``evaluate`` is a generator, of the ``Steps`` that ``rlenv.steps`` runs.  What a process can do at
once, it does on the spot; what must wait (a worker, the caller's loop, a group) it yields, and the
drivers differ only in how they wait.  Every stage's result goes into the attempt's log, so an
evaluation can be stopped in one process and taken up in another: the log is replayed there, and the
evaluation goes on where it ended.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, Union

from rlenv.compose.composites import Combined, Fold
from rlenv.compose.stages import Attempt
from rlenv.model.values import Fault, Outcome, StageResult, Verdict

from .checks import declared, fault_of, faulted
from .plan import CompiledSlot, Plan

if TYPE_CHECKING:
    from concurrent.futures import Future as ThreadFuture

T = TypeVar("T")


class Future(Protocol):
    """A future of another thread or process, as ``concurrent.futures`` has them."""

    def result(self) -> object:
        """Return what it came to, blocking this thread until it is there."""


Waited: TypeAlias = Union[Future, Awaitable[object]]
Steps: TypeAlias = Generator[Waited, object, T]  # they are sent what each of them came to


def wait(waited: Awaitable[T]) -> Steps[T]:
    """Wait for one awaitable, as ``found = yield from wait(awaitable)``."""
    return (yield waited)  # type: ignore[return-value]


def result_of(waited: Waited) -> object:
    """Return what a future comes to, blocking this thread."""
    return waited.result()  # type: ignore[union-attr]


def run_steps(steps: Steps[T], blocking: Callable[[Waited], object] = result_of) -> T:
    """Run steps to their end in this thread, and return what they return.

    Args:
        steps: they are thrown what ``blocking`` raises.
        blocking: waits for what they yield, and returns what that came to; by default they yield
            futures.
    """
    try:
        waited = next(steps)
        while True:
            try:
                found = blocking(waited)
            except BaseException as error:  # noqa: BLE001 - the steps decide
                waited = steps.throw(error)
            else:
                waited = steps.send(found)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def await_steps(steps: Steps[T]) -> T:
    """Run steps to their end and return what they return; the event loop is free while they wait.

    Args:
        steps: they are thrown what is raised while they wait, a cancellation included.
    """
    try:
        waited = next(steps)
        from asyncio import wrap_future  # not before the first that waits: see test_import
        from concurrent.futures import Future as ThreadFuture

        while True:
            try:
                is_future = isinstance(waited, ThreadFuture)
                found = await (wrap_future(waited) if is_future else waited)  # type: ignore[arg-type,misc]
            except BaseException as error:  # noqa: BLE001 - the steps decide
                waited = steps.throw(error)
            else:
                waited = steps.send(found)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


class GroupBarrier:
    """The steps go on when ``slot`` has judged all attempts of the group that wait for it.

    They get its result.
    """

    def __init__(self, slot: CompiledSlot, attempt: Attempt) -> None:
        from concurrent.futures import Future as ThreadFuture

        self.slot = slot
        self.attempt = attempt
        self.future: ThreadFuture[StageResult] = ThreadFuture()

    def result(self) -> StageResult:
        return self.future.result()


class NotLocal:
    """The next stage runs in another process, where the steps go on."""

    def result(self) -> StageResult:
        raise RuntimeError("the steps go on in another process")


# Steps that trust what they are sent; they wait for a GroupBarrier or NotLocal, too.
Evaluation: TypeAlias = Generator[Waited, Any, T]
Checked: TypeAlias = Union[StageResult, Evaluation[StageResult]]


class Executor(Protocol):
    """Where the stages of an evaluation run."""

    def check(self, slot: CompiledSlot, attempt: Attempt, seconds: float) -> Checked:
        """The result of this stage within so many wall seconds, or the steps to it.

        What is learned of later stages on the way goes into ``attempt.known``.
        """


def future_of(step: Waited) -> ThreadFuture[Any]:
    """What a step of the caller's process waits for."""
    return step.future if type(step) is GroupBarrier else step  # type: ignore[return-value]


def evaluate(
    plan: Plan, attempt: Attempt, executor: Executor, fingerprint: str
) -> Evaluation[Verdict]:
    """Run the whole plan and return the Verdict."""
    end, results = yield from composed(plan.root, attempt, executor, plan.root.timeout)
    return Verdict(
        value=end.value,
        results=results,
        stopped_at=end.stopped_at,
        fingerprint=fingerprint,
        raw=end.raw,
        fault=end.fault,
    )


def composed(
    parent: CompiledSlot, attempt: Attempt, executor: Executor, seconds: float
) -> Evaluation[tuple[Combined, tuple[StageResult, ...]]]:
    """Run a composite; what it came to, and the results of its children."""
    fold = parent.stage.fold()
    results: list[StageResult] = []
    limit = attempt.spent + seconds
    wanted = _next(fold, None)
    while type(wanted) is int and 0 <= wanted < len(parent.children):
        child = parent.children[wanted]
        left = math.inf if child.place == "inline" else limit - attempt.spent
        if child.children:
            inner = yield from composed(child, attempt, executor, min(left, child.timeout))
            result = _nested(child, *inner)
        else:
            attempt.draws = child.draws
            attempt.alone = child.alone
            if attempt.known:
                result = attempt.known.pop(0)
                if result.stage != child.path:
                    result = faulted(child, "contract", f"its worker answered for {result.stage}")
            elif left <= 0:
                message = "the time of the composite around this stage ran out"
                result = faulted(child, "timeout", message, transient=child.budget is not None)
            elif attempt.grouped and child.check_group is not None:
                result = yield GroupBarrier(child, attempt)
            else:
                found = executor.check(child, attempt, min(left, child.timeout))
                result = found if isinstance(found, StageResult) else (yield from found)
            if attempt.artifacts:
                result = declared(child, attempt, result)
            attempt.log = *attempt.log, result
            attempt.spent += 0.0 if child.place == "inline" else result.seconds
        results.append(result)
        wanted = _next(fold, result)
    return _sound(parent, wanted), tuple(results)


def _next(fold: Fold, result: StageResult | None) -> int | Combined:
    """The next child's index, or what the fold came to; a composite may be somebody's own, and
    break.
    """
    try:
        return fold.send(result)  # type: ignore[arg-type]
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    except Exception as err:  # noqa: BLE001 - a fold may raise anything
        return Combined(None, None, fault_of(err))


def _sound(parent: CompiledSlot, combined: object) -> Combined:
    if type(combined) is Combined:
        value = combined.value
        if (type(value) is float and 0 <= value <= 1) or (value is None and combined.fault):
            return combined
    kind = type(parent.stage).__name__
    message = f"{kind}.fold returns a Combined with a value in [0, 1] or a fault, and did not"
    return Combined(None, None, Fault("contract", message))


def _nested(slot: CompiledSlot, end: Combined, children: tuple[StageResult, ...]) -> StageResult:
    seconds = sum(child.seconds for child in children)
    if end.value is None:
        return StageResult(slot.path, None, end.fault, seconds, children)
    stopped = {} if end.stopped_at is None else {"stopped_at": end.stopped_at}
    outcome = Outcome(end.value, "", {"raw": end.raw, **stopped})
    return StageResult(slot.path, outcome, None, seconds, children)
