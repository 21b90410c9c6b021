"""A composition, checked and laid out for the engine: slots with all that it asks of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, Union, cast

import attrs
from attrs import define

from rlenv.compose.composites import Composite, Slot, is_function
from rlenv.compose.functions import FileCode, is_reference
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

Env: TypeAlias = Union[tuple[str, ...], None]
MakersOf: TypeAlias = Callable[[type, str], Sequence[str]]
LARGE = 1 << 24  # characters; nothing is measured above
INLINE_SECONDS = 0.1  # of wall time in a worker for so many characters; the laws ask for a tenth


@define(eq=False, repr=False, kw_only=True)
class CompiledSlot:
    """A slot in its place, with all that the engine asks of it; ``compile_slot`` makes it.

    Attributes:
        index: the number of leaves before it; -1 for the root.
        path: the names from the root to it, as "group/equal".
        slot: the slot as it was configured.
        children: those of a composite; empty for a stage.
        stage: the stage or composite itself.
        who: the path and the kind of stage, for messages.
        check: the stage's ``check`` of an attempt; None where it has none.
        check_group: its ``check_group`` of the attempts of a group; None where it has none.
        is_async: whether the one that it has is a coroutine function.
        is_function: whether it was made from a function, whose return value needs reading.
        validate: its ``validate`` of a task; None where it has none.
        phase, draws, may_abstain, waits, at_once, inline_limit: as the stage declares them.
        place: where it runs: worker, caller or inline.
        env: the variables that its workers see; None for all.
        needs, takes, makes: types of artifacts; ``takes`` includes ``needs``.
        budget: CPU seconds that a response may cost, with those of the children; None for no limit.
        least_timeout: wall seconds within which the stage's own limits end any response.
        timeout: wall seconds after which it is a fault.
        known_kinds: types of artifacts that any stage of the plan makes or takes.
        alone: whether no stage of another phase counts.
        warm: whether it may be checked on an event loop.
    """

    index: int
    path: str
    slot: Slot
    children: Sequence[CompiledSlot]
    stage: Any
    who: str
    check: Any
    check_group: Any
    is_async: bool
    is_function: bool
    validate: Callable[[Task], object] | None
    phase: str
    draws: bool
    may_abstain: bool
    waits: bool
    at_once: int | None
    inline_limit: int
    place: str
    env: Env
    needs: tuple[type, ...]
    takes: tuple[type, ...]
    makes: tuple[type, ...]
    budget: float | None
    least_timeout: float
    timeout: float
    known_kinds: frozenset[type] = frozenset()
    alone: bool = True
    warm: bool = False

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


def compile_slot(
    index: int, path: str, slot: Slot, children: Sequence[CompiledSlot] = ()
) -> CompiledSlot:
    """Read all that the engine asks of a slot's stage.

    Args:
        index: the number of leaves before it.
        path: the names from the root to it.
        slot: the slot as it was configured.
        children: the compiled slots of a composite.
    """
    stage = cast("Any", slot.stage)
    check = getattr(stage, "check", None)
    check_group = getattr(stage, "check_group", None)
    place = attribute(stage, "where")
    needs = tuple(attribute(stage, "needs"))
    children_budget = sum(child.budget or 0.0 for child in children)
    children_least = sum(child.least_timeout for child in children)
    return CompiledSlot(
        index=index,
        path=path,
        slot=slot,
        children=children,
        stage=stage,
        who=f"{path} ({slot.kind})",
        check=check,
        check_group=check_group,
        is_async=inspect.iscoroutinefunction(check or check_group),
        is_function=is_function(stage),
        validate=getattr(stage, "validate", None),
        phase=attribute(stage, "phase"),
        draws=attribute(stage, "draws"),
        may_abstain=attribute(stage, "may_abstain"),
        waits=attribute(stage, "waits"),
        at_once=attribute(stage, "at_once"),
        inline_limit=attribute(stage, "inline_limit"),
        place=place,
        # An inline stage sees in a worker all that it sees in the caller's process.
        env=None if place == "inline" else _env_of(slot),
        needs=needs,
        takes=needs + tuple(attribute(stage, "takes")),
        makes=tuple(attribute(stage, "makes")),
        budget=children_budget or budget_of(stage),
        least_timeout=children_least or attribute(stage, "least_timeout") or 0.0,
        timeout=slot.timeout or (math.inf if children else deadline_of(stage)),
    )


def _env_of(slot: Slot) -> Env:
    """The variables that its workers may see beside harmless ones; None: all, as for an installed
    stage.

    A stage that was given a function of a file sees what that function may see.
    """
    env = attribute(slot.stage, "env")
    if env is not None:
        return tuple(sorted(env))
    stage = slot.stage
    is_own_code = type(stage).__module__ == "__main__" or is_reference(slot.use)
    return () if is_own_code or _holds_file_code(stage) else None


def _holds_file_code(stage: object) -> bool:
    names = [at.name for at in getattr(stage, "__attrs_attrs__", ())]
    held = [type(getattr(stage, name, None)) for name in names or getattr(stage, "__dict__", [])]
    return any(issubclass(kind, FileCode) for kind in held)


class Plan:
    """The tree of a composition with its leaves in order, and what loading found worth a warning.

    Args:
        root: the composition.
        checked: whether another process found it sound already.
        is_whole: whether no stages are left out that others may need.
        makers_of: names the stages of a plugin that make an artifact, given its type and the
            ``use`` of the stage that needs it; for messages.

    Raises:
        ConfigError: with every problem found, one line each.
    """

    def __init__(
        self,
        root: Composite,
        *,
        checked: bool = False,
        is_whole: bool = True,
        makers_of: MakersOf = lambda _kind, _use: (),
    ) -> None:
        self.leaves: list[CompiledSlot] = []
        self.composites: list[CompiledSlot] = []
        if not checked:
            reject(_declaration_problems("", root))
        self.root = compile_slot(-1, "", Slot("root", root), self._lay("", root))
        known = frozenset(kind for leaf in self.leaves for kind in leaf.makes if attrs.has(kind))
        self.takes = frozenset(k for leaf in self.leaves for k in leaf.takes if attrs.has(k))
        phases = {leaf.phase for leaf in self.leaves if leaf.slot.matters}
        for leaf in self.leaves:
            leaf.known_kinds = known | self.takes
            leaf.alone = phases == {leaf.phase}
        if not checked:
            reject(p for at in [*self.leaves, *self.composites] for p in _stage_problems(at))
            reject(_artifact_problems(self.leaves, makers_of) if is_whole else ())
        self.uses = [(a, p, p.split(".")) for a in self.leaves for p in attribute(a.stage, "uses")]
        self.warnings = [] if checked else list(_order_warnings(self.leaves))
        self.group_only = [leaf.path for leaf in self.leaves if leaf.check is None]

    def _lay(self, prefix: str, composite: Composite) -> list[CompiledSlot]:
        placed: list[CompiledSlot] = []
        for slot in composite.slots:
            path = prefix + slot.name
            below = self._lay(path + "/", slot.stage) if isinstance(slot.stage, Composite) else ()
            placed.append(compile_slot(len(self.leaves), path, slot, below))
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


def _artifact_problems(leaves: list[CompiledSlot], makers_of: MakersOf) -> Iterator[str]:
    made: set[type] = set()
    for leaf in leaves:
        for need in [need for need in leaf.needs if need not in made]:
            makers = [other.who for other in leaves if need in other.makes]
            if makers:
                remedy = f"move {makers[0]}"
            else:
                offered = " or ".join(makers_of(need, leaf.slot.use))
                remedy = f"add {offered or 'the stage that makes it'}"
            lack = f"{leaf.who} needs {need.__name__}, which no earlier stage makes"
            yield f"{lack}: {remedy} before it"
        made.update(leaf.makes)


def _order_warnings(leaves: list[CompiledSlot]) -> Iterator[str]:
    placed = [leaf for leaf in leaves if hasattr(leaf.stage, "phase")]
    for before, after in pairwise(placed):
        if PHASES.index(after.phase) < PHASES.index(before.phase):
            listed = f"{after.path} ({after.phase}) is listed after {before.path} ({before.phase})"
            yield f"{listed}; the usual order is {', '.join(PHASES)}"
