"""Where the stages of the caller's evaluations run: here, on rlenv's event loop, or in workers."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from attrs import define, field

from rlenv.compose.stages import Attempt
from rlenv.engine.checks import check_awaited, check_group_now, check_now, faulted, group_awaited
from rlenv.engine.engine import Checked, Evaluation
from rlenv.engine.plan import CompiledSlot
from rlenv.model.values import StageResult

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Sequence

    from .worker_executor import WorkerExecutor

HELD = 0.005  # seconds after the first check of a turn of a loop in which others may begin
IMPORTS = 60.0  # seconds that the first check of an inline stage has more
SENT_HERE = 1 << 14  # characters that are sent to a worker from the loop's own thread
_UNSENT = ("contract", "error", "pool")  # faults of the way to a worker, and not of a stage in it
_turns: WeakKeyDictionary[AbstractEventLoop, float] = WeakKeyDictionary()


@define(eq=False)
class CallerExecutor:
    """Inline stages here, caller stages on rlenv's loop, worker stages in processes.

    Args:
        workers: None where no stage runs in a worker.
        size: how many processes; None for one a core.
        isolate: run inline stages in workers too, where they can get there.
    """

    workers: WorkerExecutor | None
    size: int | None = None
    isolate: bool = False

    def check(self, slot: CompiledSlot, attempt: Attempt, seconds: float) -> Checked:
        if slot.place == "caller":
            return _on_loop(slot, attempt, seconds)
        workers = self.workers
        if slot.place == "inline" and not (self.isolate and workers and slot not in workers.left):
            return check_now(slot, attempt)
        assert workers is not None
        return workers.check(slot, attempt, self.size)

    def check_group(self, slot: CompiledSlot, attempts: Sequence[Attempt]) -> list[StageResult]:
        """What a stage finds of several responses to one task, side by side; blocks this thread."""
        if slot.place == "caller":
            from .event_loop import shared_loop

            work = partial(group_awaited, slot, attempts)
            found: Any = shared_loop.submit(slot, work, slot.timeout).result()  # or a fault of all
            return found if isinstance(found, list) else [found for _ in attempts]
        if slot.place == "inline":
            return check_group_now(slot, attempts)
        assert self.workers is not None
        return self.workers.check_group(slot, attempts)


@define(eq=False)
class AsyncExecutor(CallerExecutor):
    """The same inside somebody's event loop, which it leaves free.

    What is small runs on the loop, or in a thread where it may wait; what is large, in a worker: a
    thread is no remedy there, since one call of ``re`` keeps the interpreter to itself.

    Args:
        hire: makes the workers for inline stages where there are no others; may take a moment.
    """

    hire: Callable[[], WorkerExecutor] = field(kw_only=True)

    def check(
        self, slot: CompiledSlot, attempt: Attempt, seconds: float
    ) -> Evaluation[StageResult]:
        if slot.place == "caller":
            return (yield from _on_loop(slot, attempt, seconds))
        inline = slot.place == "inline"
        limit = slot.inline_limit
        small = inline and attempt.size(limit) <= limit
        if small and slot.warm:
            return (yield from _in_turn(slot, attempt))
        from .event_loop import off_loop

        workers = None if small else self.workers or (yield off_loop(self.hire))
        if workers is not None and not (inline and slot in workers.left):
            from rlenv.workers.values import refused

            here = workers.pools and attempt.size(SENT_HERE) <= SENT_HERE
            send = partial(workers.submit, attempt, slot, None)
            unsent = refused("pool", "it took too long to pickle")
            sent = (yield off_loop(send, 1, lost=unsent)) if not here else send()
            reply = yield sent
            if not (inline and getattr(reply, "kind", "") in _UNSENT):
                workers.learn(attempt, slot, reply)
                return attempt.known.pop(0)
        seconds = slot.allowed(attempt, seconds) + (0.0 if slot.warm else IMPORTS)
        late = faulted(slot, "timeout", f"no outcome within {seconds:g} s", seconds)
        work = partial(check_now, slot, attempt, ())
        result: StageResult = yield off_loop(work, seconds=seconds, lost=late)
        slot.warm = not slot.waits  # the first check may import much
        return result


def _in_turn(slot: CompiledSlot, attempt: Attempt) -> Evaluation[StageResult]:
    """Check on the caller's loop; where checks have held it for long, after the next turn of it."""
    import asyncio

    loop = asyncio.get_running_loop()
    while (began := _turns.get(loop)) is not None and perf_counter() - began > HELD:
        yield asyncio.sleep(0)
    if began is None:  # the first check of this turn
        _turns[loop] = perf_counter()
        loop.call_soon(_turns.pop, loop, None)
    return check_now(slot, attempt)


def _on_loop(slot: CompiledSlot, attempt: Attempt, seconds: float) -> Evaluation[StageResult]:
    from .event_loop import shared_loop

    return (yield shared_loop.submit(slot, partial(check_awaited, slot, attempt), seconds))  # type: ignore[no-any-return]
