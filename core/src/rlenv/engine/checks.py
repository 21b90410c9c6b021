"""What a stage returns or raises, which may be anything, as a StageResult."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TypeAlias

from rlenv.compose.stages import Attempt, module
from rlenv.model.errors import TaskError, VerifierFault, masked
from rlenv.model.values import Fault, Outcome, ScoreError, StageResult

from .plan import CompiledSlot

# What to do where a function reads a variable that its worker does not have.
ENV_REMEDY = 'if it is set where you run this, declare env = ["{name}"] on the function'
_READS_VARIABLE = type(os.environ).__getitem__.__code__
Errors: TypeAlias = tuple[type[BaseException], ...]
_class_name: Callable[[type], str] = vars(type)["__name__"].__get__  # whatever a metaclass says


def check_now(
    slot: CompiledSlot, attempt: Attempt, passes: Errors = (KeyboardInterrupt,)
) -> StageResult:
    """Run a plain ``check`` here; whatever it does becomes a StageResult.

    ``passes`` is what may be a user's Ctrl-C and is raised: () in workers and threads, which it
    never reaches.
    """
    start = perf_counter()
    try:
        outcome = slot.check(attempt)
    except BaseException as err:
        if isinstance(err, passes):
            raise
        return StageResult(slot.path, None, fault_of(err), perf_counter() - start)
    return judged(slot, outcome, perf_counter() - start)


async def check_awaited(slot: CompiledSlot, attempt: Attempt) -> StageResult:
    """The same for an async ``check``.

    What it returned is read on its loop, where it is noticed if that never ends.
    """
    start = perf_counter()
    return judged(slot, await slot.check(attempt), perf_counter() - start)


async def group_awaited(slot: CompiledSlot, attempts: Sequence[Attempt]) -> list[StageResult]:
    """The same for an async ``check_group``."""
    return each_judged(slot, await slot.check_group(attempts), len(attempts), 0.0)


def check_group_now(
    slot: CompiledSlot, attempts: Sequence[Attempt], passes: Errors = (KeyboardInterrupt,)
) -> list[StageResult]:
    """Run ``check_group`` here, plain or async; one result per attempt, whatever it does."""
    start = perf_counter()
    try:
        said = slot.check_group(attempts)
        if hasattr(said, "__await__"):
            import asyncio

            said = asyncio.run(asyncio.wait_for(said, None))  # also what is no coroutine
    except BaseException as err:
        if isinstance(err, passes):
            raise
        said = StageResult(slot.path, None, fault_of(err), perf_counter() - start)
    return each_judged(slot, said, len(attempts), perf_counter() - start)


def each_judged(slot: CompiledSlot, said: object, size: int, seconds: float) -> list[StageResult]:
    """One StageResult per member from what ``check_group`` returned, which may be anything, or from
    its fault.
    """
    if type(said) is StageResult:
        return [said] * size
    if not isinstance(said, (list, tuple)) or len(said) != size:
        count = f"{len(said)} of them" if isinstance(said, (list, tuple)) else type(said).__name__
        message = f"check_group returns one Outcome per attempt ({size}), not {count}"
        return [faulted(slot, "contract", message, seconds) for _ in range(size)]
    return [judged(slot, outcome, seconds) for outcome in said]


def judged(slot: CompiledSlot, outcome: object, seconds: float) -> StageResult:
    """A StageResult from what a stage returned, which may be anything."""
    if type(outcome) is Outcome:
        try:
            score = outcome.score
            data = outcome.data
            private = outcome.private
            # A stage may have set any field, and Outcome.__new__ alone sets none.
            if type(score) is float and 0.0 <= score <= 1.0:
                bare = type(data) is type(private) is dict and not (data or private)
                if not bare or outcome.steps is not None or type(outcome.detail) is not str:
                    outcome = _plain(outcome)
                return StageResult(slot.path, outcome, None, seconds)
        except (AttributeError, ScoreError):
            pass
        except BaseException as err:  # noqa: BLE001 - what data holds may run code when it is read
            message = f"the data of its outcome cannot be made JSON: {_safe(err)}"
            return faulted(slot, "contract", message, seconds)
    if outcome is None and slot.may_abstain:
        return faulted(slot, "abstained", "the stage declines to score this response", seconds)
    if _closed(outcome):
        said = "an awaitable from a plain check; write async def"
    elif not slot.is_function or type(outcome) is Outcome:
        said = _class_name(type(outcome))
        if type(outcome) in (bool, int, float):  # as a function may return
            said = f"{said}; write return Outcome(score), with score in [0, 1]"
    else:
        from rlenv.compose.functions import outcome_of

        try:
            return judged(slot, outcome_of(outcome), seconds)
        except BaseException as err:  # noqa: BLE001 - what a function returns may run code of its own
            said = f"the function returned no score: {_safe(err)}"
            return faulted(slot, "contract", said, seconds)
    return faulted(slot, "contract", f"a stage returns an Outcome, not {said}", seconds)


def declared(slot: CompiledSlot, attempt: Attempt, result: StageResult) -> StageResult:
    """The result of a stage, or a fault where it put an artifact that no stage names."""
    strays = [kind for kind in attempt.artifacts if kind not in slot.known_kinds]
    for kind in strays:
        attempt.drop(kind)
    if not strays or result.fault is not None:
        return result
    names = ", ".join(kind.__name__ for kind in strays)
    said = (
        f"it puts {names}: an artifact is of an attrs class that the stage declares, makes ="
        f" ({names},)"
    )
    return faulted(slot, "contract", said, result.seconds)


def _plain(outcome: Outcome) -> Outcome:
    """The outcome as it is in every process: its data and what is private become values of JSON."""
    plain = module("rlenv.model.record").plain
    data = plain(outcome.data)
    private = plain(outcome.private)
    if type(data) is not dict or type(private) is not dict:
        raise TypeError("data and private are dicts")
    return Outcome(outcome.score, str(plain(outcome.detail)), data, outcome.steps, private)


def _closed(outcome: object) -> bool:
    """Whether it is an awaitable, and now closed."""
    try:
        if awaitable := hasattr(outcome, "__await__") and hasattr(outcome, "close"):
            outcome.close()
    except BaseException:  # noqa: BLE001 - attributes of a foreign object may run any code
        return False
    return awaitable


def faulted(
    slot: CompiledSlot, kind: str, message: str, seconds: float = 0.0, *, transient: bool = False
) -> StageResult:
    return StageResult(slot.path, None, Fault(kind, message, transient), seconds)


def fault_of(err: BaseException) -> Fault:
    """The fault that an exception of a stage stands for, with the place it came from.

    Never raises.
    """
    try:
        return _fault_of(err)
    except BaseException:  # noqa: BLE001 - an exception may lack its fields, or run code when it is read
        return Fault("error", f"{_class_name(type(err))}: (it cannot be shown)")


def _fault_of(err: BaseException) -> Fault:
    if isinstance(err, VerifierFault):
        kind = err.fault.kind
        message = err.fault.message
        return Fault(str.__str__(kind), str.__str__(message), bool(err.fault.transient))
    if isinstance(err, TaskError):
        return Fault("input", _safe(err))
    if isinstance(err, MemoryError):
        return Fault("memory", "the stage ran out of memory")
    if isinstance(err, KeyError) and (name := _missing_variable(err)):
        said = f"the environment variable {name} is not there; {ENV_REMEDY.format(name=name)}"
        return Fault("error", f"{said}{place_of(err)}")
    place = place_of(err)
    if isinstance(err, ScoreError):
        return Fault("contract", f"{_safe(err)}{place}")
    transient = isinstance(err, (ConnectionError, TimeoutError))
    kind = "unavailable" if transient else "error"
    return Fault(kind, f"{type(err).__name__}: {_safe(err)}{place}", transient)


def _missing_variable(err: KeyError) -> str:
    """The environment variable that was read and is not there, "" where it is another key."""
    frames = [frame for frame, _ in traceback.walk_tb(err.__traceback__)]
    read = bool(frames) and frames[-1].f_code is _READS_VARIABLE
    return str(err.args[0])[:200] if read and err.args else ""


def place_of(err: BaseException) -> str:
    """Where it was raised, as " (folder/file.py:12)"; "" where that is unknown."""
    steps = [
        step
        for step in traceback.walk_tb(err.__traceback__)
        if step[0].f_code is not _READS_VARIABLE
    ]
    frames = traceback.StackSummary.extract(steps, lookup_lines=False)
    if not frames:
        return ""
    file = "/".join(frames[-1].filename.replace("\\", "/").split("/")[-2:])
    return f" ({file}:{frames[-1].lineno})"


def _safe(err: BaseException) -> str:
    try:
        return masked(str.__str__(str(err)))[:500]
    except BaseException:  # noqa: BLE001 - an exception whose __str__ raises is still one fault
        return "(its message cannot be shown)"
