"""A composition shipped to a worker, and the side of the engine that runs there."""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from rlenv.compose.stages import Attempt
from rlenv.engine.checks import check_awaited, check_group_now, check_now, declared, faulted
from rlenv.engine.engine import (
    Checked,
    Evaluation,
    GroupBarrier,
    NotLocal,
    Waited,
    await_steps,
    composed,
)
from rlenv.engine.plan import CompiledSlot, Plan
from rlenv.model.errors import reject
from rlenv.model.values import Outcome, StageResult

from .budget import Meter
from .pickling import pickled
from .serialization import Wire, decode_attempt, decode_result, encode_result, pack

T = TypeVar("T")

if TYPE_CHECKING:
    from typing import TypeAlias

    from rlenv.workers.report import SlotReport
    from rlenv.workers.values import Env

    # artifacts; what is sent of new ones
    Packed: TypeAlias = dict[type, tuple[object, list[object] | None]]


class RemoteStage:
    """Stands in a worker for a stage that runs in another process, and tells what it takes."""

    where = "inline"

    def __init__(self, takes: tuple[type, ...], makes: tuple[type, ...], phase: str) -> None:
        self.takes = takes
        self.makes = makes
        self.phase = phase

    def check(self, _attempt: Attempt) -> Outcome:
        raise RuntimeError("this stage runs in the caller's process")


class _PlanPickler(pickle.Pickler):
    """Writes a composition with a number in the place of each leaf.

    A subclass, because Python 3.13.0 forbids to set ``persistent_id`` on an instance
    (https://github.com/python/cpython/issues/122459 and later fixes).
    """

    def __init__(self, buffer: io.BytesIO, numbers: Mapping[int, int]) -> None:
        super().__init__(buffer, protocol=5)
        self._numbers = numbers  # by the identity of a leaf

    def persistent_id(self, part: object) -> int | None:
        return self._numbers.get(id(part))


class _PlanUnpickler(pickle.Unpickler):
    """Reads what ``_PlanPickler`` wrote."""

    def __init__(self, buffer: io.BytesIO, blobs: Sequence[bytes]) -> None:
        super().__init__(buffer)
        self._blobs = blobs

    def persistent_load(self, number: int) -> object:
        return pickle.loads(self._blobs[number])  # noqa: S301 - our caller's bytes, over our own pipe


def pickle_plan(plan: Plan, env: Env) -> tuple[bytes, dict[CompiledSlot, str]]:
    """The plan's composition as bytes for ``Runner``, and the leaves that do not come along, with
    why they cannot.

    An inline stage travels where it can, since it may be between two worker stages.  A stage that
    wants another environment than ``env`` stays behind.

    Raises:
        ConfigError: when a worker stage can be neither imported nor pickled there.
    """
    numbers: dict[int, int] = {}  # of the blobs, by the identity of a stage
    blobs: list[bytes] = []
    left: dict[CompiledSlot, str] = {}
    for slot in plan.leaves:
        blob = b""
        why = ""
        try:
            if slot.place != "caller" and slot.env == env:
                blob = pickled(slot.stage)
        except Exception as err:  # noqa: BLE001 - pickling runs code of the stage
            why = f"{slot.who} runs in a worker, and {err}"
        if not blob:
            left[slot] = why
        numbers[id(slot.stage)] = len(blobs)
        blobs.append(blob or _remote_stage(slot))
    reject(why for slot, why in left.items() if why and slot.place == "worker")
    buffer = io.BytesIO()
    _PlanPickler(buffer, numbers).dump(plan.root.stage)
    return pickle.dumps((buffer.getvalue(), blobs), protocol=5), left


def unpickle_plan(blob: bytes) -> Plan:
    """In a worker: the plan that was shipped."""
    root, blobs = pickle.loads(blob)  # noqa: S301 - our caller's bytes, over our own pipe
    return Plan(_PlanUnpickler(io.BytesIO(root), blobs).load(), checked=True)


def _remote_stage(slot: CompiledSlot) -> bytes:
    try:
        return pickled(RemoteStage(slot.takes, slot.makes, slot.phase))
    except Exception:  # noqa: BLE001 - then no worker can make such artifacts either
        return pickled(RemoteStage((), (), slot.phase))


def is_local(slot: CompiledSlot) -> bool:
    """Whether this slot came along to the worker."""
    return type(slot.stage) is not RemoteStage


def kinds_of(leaves: Iterable[CompiledSlot]) -> tuple[type, ...]:
    """The artifacts that these stages make, in the order that numbers them for the wire."""
    return tuple(dict.fromkeys(kind for slot in leaves for kind in slot.makes))


class RuntimeExecutor:
    """Runs the stages of one attempt in a worker, each under its deadline, and hands over what ran
    before the next.

    On a worker's event loop, async checks are awaited, and plain ones run in a thread, one at a
    time.
    """

    def __init__(self, runner: Runner, report: SlotReport, payload: Wire) -> None:
        wire, known, artifacts, grouped = payload
        self.runner = runner
        self.report = report
        self.attempt = decode_attempt(wire, artifacts)
        self.attempt.grouped = grouped
        if known:
            self.attempt.known = [decode_result(each, each[:1]) for each in known]
        self._known = len(self.attempt.known)
        self._packed: Packed = {k: (a, None) for k, a in artifacts.items()} if artifacts else {}

    def check(self, slot: CompiledSlot, attempt: Attempt, seconds: float) -> Checked:
        if not is_local(slot):
            return _wait(NotLocal())
        seconds = slot.allowed(attempt, seconds)
        if self.runner.is_async:
            return _wait(self._awaited(slot, attempt, seconds))
        self.begin(slot, seconds)
        return self._ended(slot, self._checked(slot, attempt, seconds))

    def _checked(self, slot: CompiledSlot, attempt: Attempt, seconds: float) -> StageResult:
        """The result of a plain check, whose deadline has begun, within its budget."""
        if slot.budget is None:
            return check_now(slot, attempt, ())
        return self.runner.meter.check(slot, attempt, seconds, self.report)

    def begin(self, slot: CompiledSlot, seconds: float) -> None:
        """Hand over what is known and start the clock."""
        if len(self.attempt.log) > self._known:
            self.report.partial(self.progress())
        self.report.begin(seconds, slot.index)

    def _ended(self, slot: CompiledSlot, result: StageResult) -> StageResult:
        if result.fault is not None and result.fault.kind == "memory":
            raise MemoryError  # the pool then replaces this worker, whose heap is suspect
        self.report.end()
        result = self.pack(slot, result)
        self.report.problem = result.fault.message if result.fault else ""
        return result

    async def _awaited(self, slot: CompiledSlot, attempt: Attempt, seconds: float) -> StageResult:
        """The result of a check on this loop, or of a plain one in a thread."""
        from asyncio import to_thread

        from .event_loop import within

        door = self.runner.doors.get(slot.index)
        self.begin(slot, seconds if door is None else math.inf)  # its clock stands while it waits
        async with door or nullcontext():
            if door is not None:
                self.report.begin(seconds, slot.index)
            if slot.is_async:
                result = await within(seconds, slot, partial(check_awaited, slot, attempt))
            else:
                result = await to_thread(self._checked, slot, attempt, seconds)
            return self._ended(slot, result)

    def pack(self, slot: CompiledSlot, result: StageResult) -> StageResult:
        """Pack new artifacts that some stage takes.

        Returns the result, or a fault where one cannot be sent on.
        """
        attempt = self.attempt
        taken = self.runner.plan.takes
        for kind, artifact in attempt.artifacts.items():
            if kind in taken and self._packed.get(kind, (None,))[0] is not artifact:
                try:
                    self._packed[kind] = artifact, pack(artifact)
                except Exception as err:  # noqa: BLE001 - reading artifacts runs code of theirs
                    attempt.drop(kind)
                    said = f"an artifact cannot be sent on: {err}"
                    result = faulted(slot, "contract", said[:500])
        return result

    def progress(self, *, ended: bool = False) -> Wire:
        """The artifacts that later stages need, 0 where the walk has ended, and the new results."""
        results = [encode_result(result) for result in self.attempt.log[self._known :]]
        if ended or not self._packed:
            return 0, *results
        kinds = kinds_of(filter(is_local, self.runner.plan.leaves))
        new = self._packed.items()
        sent = [(kinds.index(k), *p) for k, (_, p) in new if p is not None and k in kinds]
        return sent, *results


def _wait(step: Waited) -> Evaluation[StageResult]:
    result: StageResult = yield step
    return result


def _until_elsewhere(steps: Evaluation[T]) -> Evaluation[T | None]:
    """The same steps, which end with None where they go on in the caller's process."""
    try:
        step = next(steps)
        while type(step) not in (NotLocal, GroupBarrier):
            step = steps.send((yield step))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    return None


class Runner:
    """What a worker does with one attempt: walk as far as it can, and return what it learned.

    A payload is (attempt, known results, artifacts, grouped); see ``serialization``.  The caller
    walks the same way over the results, so that no worker says what a verdict is.
    """

    in_flight = 64

    def __init__(self, blob: bytes) -> None:
        self.plan = unpickle_plan(blob)
        self._steps = partial(composed, self.plan.root, seconds=self.plan.root.timeout)
        self.is_async = any(slot.is_async and is_local(slot) for slot in self.plan.leaves)
        self.meter = Meter(looped=self.is_async)
        if self.is_async:
            import asyncio

            leaves = self.plan.leaves
            turn = asyncio.Semaphore()
            self.doors = {at.index: asyncio.Semaphore(at.at_once) for at in leaves if at.at_once}
            self.doors |= {at.index: turn for at in leaves if not at.is_async}  # one at a time

    def __call__(self, payload: Wire, report: SlotReport) -> Wire:
        executor = RuntimeExecutor(self, report, payload)
        stop = next(self._steps(executor.attempt, executor), None)
        return executor.progress(ended=stop is None)

    async def arun(self, payload: Wire, report: SlotReport) -> Wire:
        executor = RuntimeExecutor(self, report, payload)
        end = await await_steps(_until_elsewhere(self._steps(executor.attempt, executor)))
        return executor.progress(ended=end is not None)


class GroupRunner(Runner):
    """What a worker does with a group: one stage's ``check_group`` over all attempts.

    A payload is (slot index, payloads as of ``Runner``); the reply is a list of replies as of
    ``Runner``.
    """

    def __init__(self, blob: bytes) -> None:
        super().__init__(blob)
        self.is_async = False

    def __call__(self, payload: Wire, report: SlotReport) -> Wire:
        index, members = payload
        slot = self.plan.leaves[index]
        executors = [RuntimeExecutor(self, report, member) for member in members]
        attempts = [executor.attempt for executor in executors]
        for attempt in attempts:
            attempt.draws = slot.draws
            attempt.alone = slot.alone
        report.begin(slot.timeout, slot.index)
        results = check_group_now(slot, attempts, ())
        report.end()
        report.problem = next((one.fault.message for one in results if one.fault), "")
        for executor, result in zip(executors, results, strict=True):
            made = declared(slot, executor.attempt, result)
            executor.attempt.log = (executor.pack(slot, made),)
        return tuple([executor.progress() for executor in executors])
