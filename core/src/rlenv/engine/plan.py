"""A composition, checked and laid out for the engine: slots with all that it asks of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import attrs

from rlenv.compose.composites import Composite, Slot, is_function
from rlenv.compose.stages import (
    PHASES,
    Attempt,
    attribute,
    budget_of,
    deadline_of,
    is_stage,
    stage_problems,
)
from rlenv.model.errors import ConfigError, TaskError, first_lines, reject
from rlenv.model.messages import one_line
from rlenv.model.values import Task

if TYPE_CHECKING:
    from rlenv.workers.values import Env

LARGE = 1 << 24  # characters; nothing is measured above
INLINE_SECONDS = 0.1  # of wall time in a worker for so many characters; the laws ask for a tenth


class CompiledSlot:
    """A slot in its place, with all that the engine asks of it.

    ``children`` are those of a composite.

    ``place`` is where its stage runs; ``timeout`` is in wall seconds.
    """

    def __init__(
        self, index: int, path: str, slot: Slot, children: Sequence[CompiledSlot] = ()
    ) -> None:
        stage = slot.stage
        self.index = index
        self.path = path
        self.children = children
        self.slot = slot
        self.stage = cast("Any", stage)
        self.who = f"{path} ({slot.kind})"
        self.check: Any = getattr(stage, "check", None)  # of an attempt; None where it has none
        self.check_group: Any = getattr(stage, "check_group", None)
        self.is_async = inspect.iscoroutinefunction(self.check or self.check_group)
        self.phase: str = attribute(stage, "phase")
        self.place: str = attribute(stage, "where")
        # An inline stage sees in a worker all that it sees in the caller's process.
        self.env: Env = None if self.place == "inline" else _env_of(slot)
        self.needs: tuple[type, ...] = tuple(attribute(stage, "needs"))
        self.takes: tuple[type, ...] = self.needs + tuple(attribute(stage, "takes"))
        self.makes: tuple[type, ...] = tuple(attribute(stage, "makes"))
        self.known_kinds: frozenset[type] = frozenset()  # artifacts that any stage makes
        self.at_once: int | None = attribute(stage, "at_once")
        self.inline_limit: int = attribute(stage, "inline_limit")
        self.waits: bool = attribute(stage, "waits")
        self.warm = False  # whether it may be checked on an event loop
        self.alone = True  # whether no stage of another phase counts
        self.draws: bool = attribute(stage, "draws")
        self.may_abstain: bool = attribute(stage, "may_abstain")
        self.is_function = is_function(stage)
        self.validate: Callable[[Task], object] | None = getattr(stage, "validate", None)
        self.budget: float | None = sum(it.budget or 0.0 for it in children) or budget_of(stage)
        # Wall seconds within which the limits that the stages have of their own end any response.
        self.least_timeout: float = sum(it.least_timeout for it in children) or (
            attribute(stage, "least_timeout") or 0.0
        )
        self.timeout: float = slot.timeout or (math.inf if children else deadline_of(stage))

    def isolate(self) -> None:
        """Run an inline stage as one of a worker."""
        if self.place == "inline":
            self.place = "worker"
            self.env = _env_of(self.slot)

    def allowed(self, attempt: Attempt, seconds: float) -> float:
        """Wall seconds in a worker: those given, and more for a long text that an inline stage
        reads.
        """
        if self.place != "inline" or seconds < self.timeout:
            return seconds
        return max(seconds, INLINE_SECONDS * attempt.size(LARGE) / max(1, self.inline_limit))


def _env_of(slot: Slot) -> Env:
    """The variables that its workers may see beside harmless ones; None: all, as for an installed
    stage.

    A stage that was given a function of a file sees what that function may see.
    """
    from rlenv.config.references import FileFunction, is_reference

    env = attribute(slot.stage, "env")
    own = slot.stage
    names = [at.name for at in getattr(own, "__attrs_attrs__", ())] or getattr(own, "__dict__", [])
    held = FileFunction in [type(getattr(own, name, None)) for name in names]
    if env is None and (type(own).__module__ == "__main__" or is_reference(slot.use) or held):
        return ()
    return None if env is None else tuple(sorted(env))


class Plan:
    """The tree of a composition with its leaves in order, and what loading found worth a warning.

    ``checked`` says that another process found it sound already; without ``is_whole``, stages are
    left out that others may need.

    Raises:
        ConfigError: with every problem found, one line each.
    """

    def __init__(self, root: Composite, *, checked: bool = False, is_whole: bool = True) -> None:
        self.leaves: list[CompiledSlot] = []
        self.composites: list[CompiledSlot] = []
        if not checked:
            reject(_declaration_problems("", root))
        self.root = CompiledSlot(-1, "", Slot("root", root), self._lay("", root))
        known = frozenset(kind for leaf in self.leaves for kind in leaf.makes if attrs.has(kind))
        self.takes = frozenset(k for leaf in self.leaves for k in leaf.takes if attrs.has(k))
        phases = {leaf.phase for leaf in self.leaves if leaf.slot.matters}
        for leaf in self.leaves:
            leaf.known_kinds = known | self.takes
            leaf.alone = phases == {leaf.phase}
        if not checked:
            reject(p for at in [*self.leaves, *self.composites] for p in _stage_problems(at))
            reject(_artifact_problems(self.leaves) if is_whole else ())
        self.uses = [(a, p, p.split(".")) for a in self.leaves for p in attribute(a.stage, "uses")]
        self.warnings = [] if checked else list(_order_warnings(self.leaves))
        self.group_only = [leaf.path for leaf in self.leaves if leaf.check is None]

    def _lay(self, prefix: str, composite: Composite) -> list[CompiledSlot]:
        placed: list[CompiledSlot] = []
        for slot in composite.slots:
            path = prefix + slot.name
            below = self._lay(path + "/", slot.stage) if isinstance(slot.stage, Composite) else ()
            placed.append(CompiledSlot(len(self.leaves), path, slot, below))
            (self.composites if below else self.leaves).append(placed[-1])
        return placed

    def missing(self, task: Task) -> str | None:
        """What this task lacks of what the stages use, in words; None when nothing."""
        for leaf, path, (name, *rest) in self.uses:
            value: object = getattr(task, name, None)
            for key in rest:
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is None:
                return f"{leaf.who} needs task.{path}, which is missing"
        return None

    def check_task(self, task: Task) -> str | None:
        """Why the stages cannot work with this task, None when they can."""
        if (lack := self.missing(task)) is not None:
            return lack
        for leaf in self.leaves:
            if leaf.validate is not None:
                try:
                    leaf.validate(task)
                except TaskError as err:
                    return f"{leaf.who}: {err.message}"
                except Exception as err:  # noqa: BLE001 - the stage is broken, not the task: say which
                    return f"{leaf.who} broke while checking it: {type(err).__name__}: {err}"
        return None

    def check_tasks(self, tasks: Iterable[Task]) -> None:
        """Check every task.

        Raises:
            ConfigError: with the first twenty that the stages cannot work with.
        """
        found = ((task, self.check_task(task)) for task in tasks)
        lines = [f"task {t.id!r} ({one_line(t.prompt, 40)}): {lack}" for t, lack in found if lack]
        reject(first_lines(lines))

    def survey(self, tasks: Sequence[Task]) -> Iterator[str]:
        """What the stages find worth a warning in these tasks.

        Raises:
            ConfigError: when a stage's ``survey`` raises.
        """
        for leaf in self.leaves:
            survey = getattr(leaf.stage, "survey", None)
            if survey is None or (attribute(leaf.stage, "survey_if_alone") and not leaf.alone):
                continue
            try:
                yield from [f"{leaf.who}: {said}" for said in survey(tasks)]
            except Exception as err:
                said = f"{type(err).__name__}: {err}"
                raise ConfigError(f"{leaf.who} broke while surveying the tasks: {said}") from err


def _declaration_problems(prefix: str, composite: Composite) -> Iterator[str]:
    """What is wrong with what the stages are and declare; nothing else can be read before it is
    right.
    """
    for slot in composite.slots:
        stage = slot.stage
        who = f"{prefix}{slot.name} ({slot.kind})"
        if isinstance(stage, Composite):
            yield from _declaration_problems(f"{prefix}{slot.name}/", stage)
        elif isinstance(stage, type):
            yield f"{who} is a class: build it, {stage.__name__}(...)"
        else:
            if not is_stage(stage):
                yield (
                    f"{who} is not a stage: it has neither check(attempt) nor check_group(attempts)"
                )
            yield from (f"{who}: {text}" for text in stage_problems(stage))


def _stage_problems(leaf: CompiledSlot) -> Iterator[str]:
    if leaf.place == "inline" and leaf.is_async:
        yield f'{leaf.who}: an inline stage has a plain check; use where = "caller" or "worker"'
    if leaf.place == "inline" and leaf.slot.timeout is not None:
        remedy = 'drop the timeout, or run it with isolation (where = "worker")'
        yield f"{leaf.who}: an inline stage is bounded by size and cannot be timed out; {remedy}"
    if leaf.place == "caller" and not leaf.is_async:
        yield f'{leaf.who}: where = "caller" is for async stages; write async def check'
    if leaf.timeout < leaf.least_timeout:
        yield _too_short(leaf)
    if (budget := leaf.budget) is None:
        return
    if leaf.is_async or leaf.check_group or leaf.place != "worker":
        yield (
            f"{leaf.who}: a budget ({budget:g} s) is for a plain check in a worker, and this is"
            " none: drop it, and limit what the stage starts, as rlenv.workers.call does with"
            f" seconds={budget:g}"
        )
    elif leaf.timeout < 2 * budget:
        yield (
            f"{leaf.who}: its timeout of {leaf.timeout:g} wall seconds contradicts its budget of"
            f" {budget:g} CPU seconds: give it {2 * budget:g} s or more"
        )


def _too_short(at: CompiledSlot) -> str:
    """A response could reach this timeout before the limits that end it with a score."""
    whose = "the limits of the stages in it" if at.children else "its own limits of a response"
    given = f"{at.who}: its timeout of {at.timeout:g} wall seconds"
    contradicts = (
        f"is shorter than the {at.least_timeout:g} s that {whose} may take on a busy machine, so"
        " that a response can force a fault"
    )
    return (
        f"{given} {contradicts}: drop the timeout, give it {at.least_timeout:g} s or more, or lower"
        " those limits (the option budget)"
    )


def _artifact_problems(leaves: list[CompiledSlot]) -> Iterator[str]:
    made: set[type] = set()
    for leaf in leaves:
        for need in [need for need in leaf.needs if need not in made]:
            makers = [other.who for other in leaves if need in other.makes]
            remedy = f"move {makers[0]}" if makers else f"add {_offered(need, leaf)}"
            lack = f"{leaf.who} needs {need.__name__}, which no earlier stage makes"
            yield f"{lack}: {remedy} before it"
        made.update(leaf.makes)


def _offered(need: type, leaf: CompiledSlot) -> str:
    from rlenv.plugins.registry import makers_of

    return " or ".join(makers_of(need, leaf.slot.use)) or "the stage that makes it"


def _order_warnings(leaves: list[CompiledSlot]) -> Iterator[str]:
    placed = [leaf for leaf in leaves if hasattr(leaf.stage, "phase")]
    for before, after in pairwise(placed):
        if PHASES.index(after.phase) < PHASES.index(before.phase):
            listed = f"{after.path} ({after.phase}) is listed after {before.path} ({before.phase})"
            yield f"{listed}; the usual order is {', '.join(PHASES)}"
