"""What a plugin writes: a stage.

Any class with ``check`` (or ``check_group``) is one; so is any function.  ``ATTRIBUTES`` lists
everything that a stage may declare, and ``stage`` declares it on a function or class.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

from attrs import define, evolve, field

from rlenv.model.errors import ConfigError, VerifierFault, reject
from rlenv.model.values import Fault, Outcome, StageResult, Task, Trajectory

from .attributes import (
    ATTRIBUTES,
    DEFAULT_TIMEOUT,
    INLINE_LIMIT,
    OVERLOAD,
    PHASES,
    PLACES,
    START_UP,
    Attribute,
)
from .keys import key_of

if TYPE_CHECKING:
    from rlenv.text import Thinking, VisibleText


__all__ = [
    "ATTRIBUTES",
    "DECLARED",
    "DEFAULT_TIMEOUT",
    "INLINE_LIMIT",
    "KINDS",
    "METHODS",
    "OVERLOAD",
    "PHASES",
    "PLACES",
    "START_UP",
    "THINKING",
    "AnyStage",
    "Attempt",
    "Attribute",
    "GroupStage",
    "Stage",
    "Stages",
    "attribute",
    "budget_of",
    "check_declared",
    "class_problems",
    "deadline_of",
    "is_stage",
    "module",
    "stage",
    "stage_problems",
    "value_problems",
]
THINKING = ("hide", "closed", "keep")  # the modes of rlenv.text.read
T = TypeVar("T")
module = cache(import_module)  # for what few need, and those often: faster than the statement


@define(eq=False, repr=False)
class Attempt:
    """One response under verification.  Typed artifacts travel from stage to stage with it.

    Attributes:
        task: the task, with the answer; for the verifier only.
        response: exactly what the policy wrote; of a trajectory, its last assistant message.
        trajectory: the whole conversation, where there is one.
        thinking: what is taken for hidden reasoning: "hide", "closed" or "keep"; see
            ``rlenv.text.read``.
        alone: for the stage that reads it, whether no stage of another phase counts in its
            environment.
    """

    task: Task
    response: str
    trajectory: Trajectory | None = None
    # Everything that was put so far, by type.
    artifacts: dict[type, object] = field(factory=dict)
    thinking: Thinking = "hide"
    # Of the engine: the results so far, and the seconds that timeouts of composites limit, which
    # are not those of inline stages; results that another process found beyond; whether group
    # stages wait for the other responses; what the stage that reads it next declares.
    log: Sequence[StageResult] = field(default=(), init=False)
    spent: float = field(default=0.0, init=False)
    known: list[StageResult] = field(default=(), init=False)  # none yet
    grouped: bool = field(default=False, init=False)
    draws: bool = field(default=True, init=False)
    alone: bool = field(default=True, init=False)
    _reading: VisibleText | None = field(default=None, init=False)

    @property
    def visible(self) -> str:
        """What counts: the response without hidden reasoning, channel and end-of-turn marks."""
        return self.reading.text

    @property
    def reading(self) -> VisibleText:
        """``visible``, with how much was hidden and where its parts are in the response."""
        if self._reading is None:
            self._reading = module("rlenv.text").read(self.response, self.thinking)
        return self._reading

    def with_hidden(self, outcome: Outcome) -> Outcome:
        """The outcome of a stage that read ``visible``, with how much was hidden, if any."""
        hidden = self.reading.hidden
        return evolve(outcome, data={**outcome.data, "hidden": hidden}) if hidden else outcome

    def get(self, kind: type[T]) -> T:
        """The artifact of this type that an earlier stage made.

        Raises:
            LookupError: when none was made.
        """
        if (artifact := self.find(kind)) is None:
            raise LookupError(f"no {kind.__name__} was made by an earlier stage")
        return artifact

    def find(self, kind: type[T]) -> T | None:
        """The artifact of this type, or None."""
        return found if isinstance(found := self.artifacts.get(kind), kind) else None

    def put(self, artifact: object) -> None:
        """Hand an artifact to later stages; its type is its name."""
        self.artifacts[type(artifact)] = artifact

    def drop(self, kind: type) -> None:
        """Take an artifact back."""
        self.artifacts = {k: made for k, made in self.artifacts.items() if k is not kind}

    def key(self) -> bytes:
        """The seed of random test inputs: 32 bytes of the secret, the task and the response.

        The same response to the same task always gets the same key; no policy can predict it.

        Raises:
            VerifierFault: in a stage that does not declare ``draws``.
        """
        if not self.draws:
            remedy = "declare draws = True on it, so that the secret is part of the fingerprint"
            fault = Fault("contract", f"attempt.key() in a stage without draws: {remedy}")
            raise VerifierFault(fault)
        return key_of(self.task, self.response)

    def size(self, most: int) -> int:
        """Characters that a policy wrote and a stage may read, counted up to ``most``."""
        if self.trajectory is None:
            return len(self.response)
        size = 0
        parts = [self.trajectory.messages]
        while parts and size <= most:
            part: object = parts.pop()
            if isinstance(part, (str, list, tuple, Mapping)):
                size += len(part)
                if size <= most and not isinstance(part, str):
                    parts += [*part, *part.values()] if isinstance(part, Mapping) else part
        return size


@runtime_checkable
class Stage(Protocol):
    """The least a stage has.

    ``ATTRIBUTES`` lists what else it may declare; two methods are optional:

    ``validate(task)`` raises TaskError for a task that the stage cannot work with; it runs over all
    tasks when they load.  ``survey(tasks)`` runs once over all tasks when they are sound and
    returns warnings of the environment, one line each.
    """

    def check(self, attempt: Attempt, /) -> Outcome | Awaitable[Outcome]: ...


class GroupStage(Protocol):
    """A stage that judges the responses to one task together: one Outcome per attempt."""

    def check_group(
        self, attempts: Sequence[Attempt], /
    ) -> Sequence[Outcome] | Awaitable[Sequence[Outcome]]: ...


KINDS = ("needs", "takes", "makes")
METHODS = ("check", "check_group", "validate", "survey")
DECLARED = "__rlenv_stage__"  # where ``stage`` keeps what it declares on a function


def is_stage(value: object) -> bool:
    """Whether it has the method of a stage, other than a composite."""
    return any(callable(getattr(value, name, None)) for name in METHODS[:2])


def attribute(stage: object, name: str) -> Any:
    """What the stage declares under this name, else the default."""
    value = getattr(stage, name, None)
    return ATTRIBUTES[name].default if value is None else value


def stage_problems(stage: object) -> Iterator[str]:
    """What is wrong with what an object of a class declares as a stage, one line each."""
    yield from value_problems({name: getattr(stage, name, None) for name in ATTRIBUTES})
    yield from class_problems(type(stage))


def budget_of(stage: object) -> float | None:
    """CPU seconds of a response.

    An *option* of this name limits what an async stage starts, and is another.
    """
    options = [field.name for field in getattr(type(stage), "__attrs_attrs__", ())]
    is_async = inspect.iscoroutinefunction(getattr(stage, "check", None))
    return None if is_async and "budget" in options else attribute(stage, "budget")


def deadline_of(stage: object) -> float:
    """Wall seconds of the stage where its slot names none."""
    own = attribute(stage, "default_timeout")
    budget = budget_of(stage)
    usual = DEFAULT_TIMEOUT if budget is None else OVERLOAD * budget + START_UP
    return usual if own is None else float(own)


def value_problems(declared: Mapping[str, object]) -> Iterator[str]:
    """What is wrong with the values that a stage declares, one line each."""
    for name, value in declared.items():
        known = ATTRIBUTES[name]
        if value is None:
            continue
        if known.is_valid(value):
            yield from _kind_problems(name, value) if name in KINDS else ()
            continue
        example = known.example
        if example.startswith("(") and isinstance(value, (str, type)):  # a forgotten comma
            one = value.__name__ if isinstance(value, type) else f'"{value}"'
            example = f"({one},)"
        write = f"; write {name} = {example}" if example else ""
        yield f"{name} is {known.expected}, not {value!r:.80}{write}"


def _kind_problems(name: str, kinds: object) -> Iterator[str]:
    """Classes of artifacts that no stage would receive, since they cannot be sent on."""
    for kind in kinds if isinstance(kinds, (tuple, list)) else ():
        if not hasattr(kind, "__attrs_attrs__"):
            yield (
                f"{name} has {kind.__qualname__}, which is not an attrs class, so no stage would"
                " receive it; put @attrs.frozen above it and annotate its fields"
            )


def check_declared(attributes: Mapping[str, object]) -> None:
    """Check what ``@stage`` is given.

    Raises:
        ConfigError: an attribute that does not exist, or a value of a wrong type or range.
    """
    from rlenv.model.messages import suggest

    unknown = {n: suggest(n, ATTRIBUTES, what="it has") for n in attributes if n not in ATTRIBUTES}
    reject(f'@stage has no argument "{name}"; {it}' for name, it in unknown.items())
    reject(value_problems(attributes))


def class_problems(cls: type) -> Iterator[str]:
    """Attributes of a class that resemble one of a stage and would be ignored, with that."""
    options = {field.name for field in getattr(cls, "__attrs_attrs__", ())}
    for name in dir(cls):
        if name.startswith("_") or name in {*ATTRIBUTES, *METHODS, *options}:
            continue
        value = inspect.getattr_static(cls, name)  # as it stands: a descriptor may run code
        for known in METHODS if callable(value) else ATTRIBUTES:
            if _resembles(name, known):
                yield (
                    f'it has an attribute "{name}", which would be ignored; did you mean "{known}"?'
                )


def _resembles(name: str, known: str) -> bool:
    """Whether one is the other but for a letter or, where it is long, two."""
    # difflib would cost an import.
    if len(name) == len(known):
        at = [i for i, (one, other) in enumerate(zip(name, known, strict=True)) if one != other]
        swapped = sorted(name) == sorted(known) and at[-1] - at[0] == 1
        return swapped or (len(known) > 5 and len(at) < 3)
    short, long = sorted((name, known), key=len)
    return any(short == long[:i] + long[i + 1 :] for i in range(len(long)))


@overload
def stage(verifier: T, /) -> T: ...
@overload
def stage(**attributes: object) -> Callable[[T], T]: ...
def stage(verifier: T | None = None, /, **attributes: object) -> T | Callable[[T], T]:
    """Declare what a function or a class is as a stage.

    Example:

        @rlenv.stage(phase="constrain", where="inline", uses=("info.limit",))
        def short(response, info):
            return len(response.split()) <= info["limit"]

    Args:
        attributes: see ``ATTRIBUTES``; the reference has them in one table.

    Returns:
        The function or class itself.

    Raises:
        ConfigError: an attribute that does not exist, or a value of a wrong type or range.
    """
    check_declared(attributes)

    def declare(verifier: T) -> T:
        if isinstance(verifier, type):
            for name, value in attributes.items():
                setattr(verifier, name, value)
        elif callable(verifier) and hasattr(verifier, "__dict__"):
            vars(verifier)[DECLARED] = {**vars(verifier).get(DECLARED, {}), **attributes}
        else:
            raise ConfigError(f"@stage declares a function or a class, not {verifier!r:.80}")
        return verifier

    return declare if verifier is None else declare(verifier)


AnyStage: TypeAlias = Stage | GroupStage
Stages: TypeAlias = Mapping[str, Callable[..., AnyStage] | str]  # "module:Class" defers an import
