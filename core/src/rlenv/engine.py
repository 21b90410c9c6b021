"""The one algorithm: walk a plan, one leaf at a time, and fold the results into a verdict.

``walk`` is a generator.  What a process can do at once, it does on the spot; what must wait (a worker, the
caller's loop, a group) it yields for, and the drivers differ only in how they wait.  Every leaf's result
goes into the run's log, so a walk can be stopped in one process and taken up in another: the log is
replayed and the walk goes on where it ended.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator
from time import perf_counter
from typing import Any, Protocol, TypeAlias

from .composites import Combined
from .errors import TaskError, VerifierFault
from .plan import Branch, Leaf, Node, Plan
from .stages import Attempt
from .values import Fault, Outcome, ScoreError, StageResult, Verdict

Walk: TypeAlias = Generator[Any, Any, Any]


class Run:
    """One attempt on its way through a plan: what is known (``known``) and what has been walked (``log``)."""

    __slots__ = ("attempt", "grouped", "known", "log")

    def __init__(
        self, attempt: Attempt, known: list[StageResult] | None = None, *, grouped: bool = False
    ) -> None:
        self.attempt = attempt
        self.known = known
        self.grouped = grouped
        self.log: list[StageResult] = []


class Host(Protocol):
    """The process a walk runs in."""

    def runs(self, leaf: Leaf) -> bool:
        """Whether this leaf is checked here and now."""

    def check(self, leaf: Leaf, run: Run, seconds: float) -> StageResult:
        """Check it."""

    def obtain(self, leaf: Leaf, run: Run, seconds: float) -> Walk:
        """Yield until the result is there, and return it; may extend ``run.known`` instead."""


def verdict(plan: Plan, run: Run, host: Host, fingerprint: str) -> Walk:
    """Walk the whole plan and return the Verdict."""
    combined, results, _ = yield from _branch(plan.root, run, host, plan.root.timeout)
    return Verdict(
        combined.value, results, combined.stopped_at, fingerprint, combined.raw, combined.fault
    )


def _branch(branch: Branch, run: Run, host: Host, seconds: float) -> Walk:
    fold = branch.composite.fold()
    children = branch.children
    results: list[StageResult] = []
    spent = 0.0
    wanted = _step(fold, None)
    while type(wanted) is int:
        child = children[wanted]
        if (  # the usual case, without a detour
            run.known is None
            and not run.grouped
            and type(child) is Leaf
            and spent < seconds
            and host.runs(child)
        ):
            result = host.check(child, run, seconds - spent)
            run.log.append(result)
        else:
            result = yield from _node(child, run, host, seconds - spent)
        spent += result.seconds
        results.append(result)
        wanted = _step(fold, result)
    return _sound(branch, wanted), tuple(results), spent


def _step(fold: Any, result: StageResult | None) -> Any:
    """The next child's index, or what the fold came to; a composite may be somebody's own, and break."""
    try:
        return fold.send(result)
    except StopIteration as stop:
        return stop.value
    except Exception as err:  # noqa: BLE001 - a fold may raise anything
        return Combined(None, None, fault_of(err))


def _sound(branch: Branch, combined: Any) -> Combined:
    if type(combined) is Combined:
        value = combined.value
        if (
            combined.fault is not None
            if value is None
            else type(value) is float and 0 <= value <= 1
        ):
            return combined
    kind = type(branch.composite).__name__
    message = f"{kind}.fold returns a Combined with a value in [0, 1] or a fault, and did not"
    return Combined(None, None, Fault("contract", message))


def _node(node: Node, run: Run, host: Host, left: float) -> Walk:
    if type(node) is not Leaf:
        assert isinstance(node, Branch)
        combined, children, spent = yield from _branch(node, run, host, min(left, node.timeout))
        return _composite_result(node.path, combined, children, spent)
    known = run.known
    if known is not None and len(run.log) < len(known):
        result = known[len(run.log)]
    elif left <= 0:
        result = faulted(node, "timeout", "the time of the composite around this stage ran out")
    elif run.grouped and node.check_group is not None:
        result = yield Together(node, run)
    elif host.runs(node):
        result = host.check(node, run, left)
    else:
        result = yield from host.obtain(node, run, min(node.timeout, left))
    run.log.append(result)
    return result


class Together:
    """What a walk yields where a stage must see a whole group at once."""

    __slots__ = ("leaf", "run")

    def __init__(self, leaf: Leaf, run: Run) -> None:
        self.leaf = leaf
        self.run = run


def _composite_result(
    path: str, combined: Combined, children: tuple[StageResult, ...], spent: float
) -> StageResult:
    if combined.value is None:
        return StageResult(path, None, combined.fault, spent, children)
    data: dict[str, Any] = {"raw": combined.raw}
    if combined.stopped_at is not None:
        data["stopped_at"] = combined.stopped_at
    return StageResult(path, Outcome(combined.value, "", data), None, spent, children)


def check_now(leaf: Leaf, attempt: Attempt) -> StageResult:
    """Run a plain ``check`` here; whatever it does becomes a StageResult."""
    assert leaf.check is not None
    start = perf_counter()
    try:
        outcome = leaf.check(attempt)
    except BaseException as err:
        if _passes(err):
            raise
        return StageResult(leaf.path, None, fault_of(err), perf_counter() - start)
    return judged(leaf, outcome, perf_counter() - start)


def _passes(err: BaseException) -> bool:
    """What is no fault of the stage: the user's Ctrl-C, and a request to leave the event loop."""
    offload = getattr(sys.modules.get("rlenv.workers.call"), "Offload", KeyboardInterrupt)
    return isinstance(err, (KeyboardInterrupt, offload))


def judged(leaf: Leaf, outcome: object, seconds: float) -> StageResult:
    """A StageResult from what a stage returned, which may be anything."""
    if type(outcome) is Outcome:
        score = outcome.score
        if type(score) is float and 0.0 <= score <= 1.0:  # Outcome saw to it, unless it was tricked
            return StageResult(leaf.path, outcome, None, seconds)
    if outcome is None and leaf.may_abstain:
        return faulted(leaf, "abstained", "the stage declines to score this response", seconds)
    close = getattr(outcome, "close", None)
    if hasattr(outcome, "__await__") and close is not None:
        close()
        said = "an awaitable from a plain check; write async def"
    elif not leaf.is_function:
        said = type(outcome).__name__
    elif outcome is None:
        said = (
            "None; return 0.0 for a response that you cannot read, or declare may_abstain = True "
            "to leave it unscored"
        )
    else:
        return _function_result(leaf, outcome, seconds)
    return faulted(leaf, "contract", f"a stage returns an Outcome, not {said}", seconds)


def _function_result(leaf: Leaf, returned: object, seconds: float) -> StageResult:
    from .functions import outcome_of

    try:
        return StageResult(leaf.path, outcome_of(returned), None, seconds)
    except Exception as err:  # noqa: BLE001 - what a function returns may run code of its own
        return faulted(leaf, "contract", f"the function returned no score: {_safe(err)}", seconds)


def faulted(
    leaf: Leaf, kind: str, message: str, seconds: float = 0.0, *, transient: bool = False
) -> StageResult:
    return StageResult(leaf.path, None, Fault(kind, message, transient), seconds)


def fault_of(err: BaseException) -> Fault:
    """The fault that an exception of a stage stands for, with the place it came from."""
    if isinstance(err, VerifierFault):
        return err.fault
    if isinstance(err, TaskError):
        return Fault("input", str(err))
    if isinstance(err, MemoryError):
        return Fault("memory", "the stage ran out of memory")
    place = place_of(err)
    if isinstance(err, ScoreError):
        return Fault("contract", f"{err}{place}")
    transient = isinstance(err, (ConnectionError, TimeoutError))
    kind = "unavailable" if transient else "error"
    return Fault(kind, f"{type(err).__name__}: {_safe(err)}{place}", transient)


def place_of(err: BaseException) -> str:
    """Where it was raised, as " (folder/file.py:12)"; "" where that is unknown."""
    frames = traceback.extract_tb(err.__traceback__)
    if not frames:
        return ""
    file = "/".join(frames[-1].filename.replace("\\", "/").split("/")[-2:])
    return f" ({file}:{frames[-1].lineno})"


def _safe(err: BaseException) -> str:
    try:
        return str(err)[:500]
    except Exception:  # noqa: BLE001 - an exception whose __str__ raises is still one fault
        return "(its message cannot be shown)"
