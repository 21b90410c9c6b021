"""An environment of one stage: what a law asks, and a probe in a fresh process as well."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve
from rlenv.compose.composites import Composite, Pipeline, Slot, is_function
from rlenv.compose.stages import attribute, budget_of, deadline_of
from rlenv.environment import Environment
from rlenv.model.record import dumps
from rlenv.model.values import StageResult, Task, Verdict
from rlenv.runtime.pickling import pickled
from rlenv_cli.scores import verdict_to_dict

Pair = tuple[Task, str]
NAME = "stage"
UNBUILT = "cannot build rlenv."  # what a worker says that cannot load a stage


class Unchecked(Exception):
    """A law could not be checked, through no fault of the stage; the message says why."""


class Placed:
    """A stage in another place: an inline one in a worker, so that one that hangs costs a deadline
    and not the test run, and any one in this process, where a probe watches it.
    """

    def __init__(self, stage: Any, seconds: float | None, where: str) -> None:
        self.stage = stage
        self.where = where
        self.default_timeout = seconds
        self.budget = self.least_timeout = None  # nor do these count here

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["stage"], name)

    def __reduce__(self) -> tuple[type[Placed], tuple[Any, ...]]:
        return type(self), (self.stage, self.default_timeout, self.where)


class Bench:
    """One stage in an environment of its own, behind the stages that make what it needs.

    Args:
        stage: a stage or a composite.
        company: the examples; a stage that judges groups only sees a response among those of its
            task.
        before: stages that make the artifacts it needs.
        patience: the longest that a worker or an event loop waits for it, in seconds.
        here: run what is not async in this process, without a deadline.

    Raises:
        ConfigError: when no environment would take this stage.
    """

    def __init__(
        self,
        stage: Any,
        company: Sequence[Pair],
        *,
        before: Sequence[Any] = (),
        patience: float = 30.0,
        here: bool = False,
    ) -> None:
        self.company = company
        self.gate: float = getattr(stage, "default_gate", None) or 1.0
        makers = [Slot(f"before-{i}", maker, weight=0.0) for i, maker in enumerate(before)]
        self.env = _environment(stage, makers, patience, here=here)
        self.group_only = bool(self.env.group_only)

    def verdict(self, task: Task, response: str, like: Task | None = None) -> Verdict:
        """What the environment says of it; of a group stage, among its task's examples (or those of
        ``like``).
        """
        if not self.group_only:
            return self.env.evaluate(task, response)
        company = [text for known, text in self.company if known is task or known == (like or task)]
        return self.env.evaluate_group(task, [*company, response])[-1]

    def result(self, task: Task, response: str, like: Task | None = None) -> StageResult:
        """What the stage itself says of it.

        Raises:
            Unchecked: no worker could be started, or none could load the stage.
        """
        verdict = self.verdict(task, response, like)
        fault = verdict.fault
        if fault is not None and (fault.kind == "pool" or fault.message.startswith(UNBUILT)):
            raise Unchecked(f"no worker took the stage: {fault.message}")
        return verdict.results[-1] if verdict.results else StageResult(NAME, None, fault)

    def results(self, pairs: Iterable[Pair]) -> list[StageResult]:
        return [self.result(task, response) for task, response in pairs]

    def passes(self, task: Task, response: str, like: Task | None = None) -> bool:
        """Whether it is paid in full: the stage's gate is reached, or 1 where it has none."""
        outcome = self.result(task, response, like).outcome
        return outcome is not None and outcome.score >= self.gate

    def close(self) -> None:
        self.env.close()


def _environment(stage: Any, makers: list[Slot], patience: float, *, here: bool) -> Environment:
    if here:
        slots = [*makers, Slot(NAME, stage, weight=1.0)]
        return Environment(
            "probe", Pipeline([evolve(s, stage=_here(s.stage), timeout=None) for s in slots])
        )
    own = getattr(stage, "default_timeout", None)
    seconds = patience if own is None else min(own, patience)
    seconds = seconds if budget_of(stage) is None else deadline_of(stage)  # CPU time ends it sooner
    seconds = max(seconds, attribute(stage, "least_timeout") or 0.0)  # so do its own limits
    inline = getattr(stage, "where", "worker") == "inline" and not isinstance(stage, type)
    if inline and not isinstance(stage, Composite) and _travels(stage):
        # as it is declared
        Environment("check", Pipeline([*makers, Slot(NAME, stage, weight=1.0)]))
        stage = _placed(stage, seconds, "worker")
        inline = False
    slot = Slot(NAME, stage, weight=1.0, timeout=None if inline else seconds)
    return Environment("check", Pipeline([*makers, slot]))


def _here(stage: Any) -> Any:
    """The same in this process, without a deadline."""
    if isinstance(stage, Composite):
        twin = copy.copy(stage)
        twin.slots = tuple(
            evolve(slot, stage=_here(slot.stage), timeout=None) for slot in stage.slots
        )
        return twin
    check = getattr(stage, "check", None) or getattr(stage, "check_group", None)
    return _placed(stage, None, "caller" if inspect.iscoroutinefunction(check) else "inline")


def _placed(stage: Any, seconds: float | None, where: str) -> Any:
    if not is_function(stage):
        return Placed(stage, seconds, where)
    twin = copy.copy(stage)  # the engine knows functions by their type
    vars(twin).update(where=where, default_timeout=seconds, budget=None, least_timeout=None)
    return twin


def _travels(stage: Any) -> bool:
    try:
        return bool(pickled(stage))
    except Exception:  # noqa: BLE001 - pickling runs code of the stage
        return False


def said(result: StageResult) -> str:
    """All that a stage said, as one line of JSON to compare; without the time it took."""
    return dumps(verdict_to_dict(Verdict(None, (_timeless(result),)))["results"])


def _timeless(result: StageResult) -> StageResult:
    outcome = result.outcome
    children = tuple(map(_timeless, result.children))
    if outcome is not None and "cpu_seconds" in outcome.data:
        outcome = evolve(outcome, data={**outcome.data, "cpu_seconds": math.nan})
    return evolve(result, outcome=outcome, seconds=math.nan, children=children)


def told(result: StageResult) -> str:
    """The same for a reader."""
    outcome = result.outcome
    fault = result.fault
    if outcome is None:
        return "nothing" if fault is None else f"fault {fault.kind}: {fault.message[:400]}"
    said_more = f", {outcome.detail!r:.200}" if outcome.detail else ""
    return f"{outcome.score!r}{said_more}"
