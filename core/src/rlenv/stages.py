"""What a plugin writes: a stage.  Any class with ``check`` (or ``check_group``) is one; so is any
function.

``ATTRIBUTES`` lists everything that a stage may declare, and ``stage`` declares it on a function or
class.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

from attrs import define, evolve, field, frozen

from .errors import ConfigError, VerifierFault, reject
from .values import Fault, Outcome, StageResult, Task, Trajectory

if TYPE_CHECKING:
    from .text import Thinking, VisibleText

PHASES = ("parse", "compile", "execute", "diff", "constrain", "judge")
PLACES = ("worker", "caller", "inline")
THINKING = ("hide", "closed", "keep")  # the modes of rlenv.text.read
DEFAULT_TIMEOUT = 30.0
OVERLOAD = 10.0  # wall seconds for each second of a CPU budget: the load up to which it decides
START_UP = 5.0  # wall seconds beside these
INLINE_LIMIT = 4096

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
    # are not those
    # of inline stages; results that another process found beyond; whether group stages wait for the
    # other responses; what the stage that reads it next declares.
    log: Sequence[StageResult] = field(default=(), init=False)
    spent: float = field(default=0.0, init=False)
    known: list[StageResult] = field(default=(), init=False)  # none yet
    grouped: bool = field(default=False, init=False)
    draws: bool = field(default=True, init=False)
    alone: bool = field(default=True, init=False)
    _reading: VisibleText | None = field(default=None, init=False)

    @property
    def visible(self) -> str:
        """The response without hidden reasoning, channel marks and end-of-turn marks: what
        counts.
        """
        return self.reading.text

    @property
    def reading(self) -> VisibleText:
        """``visible``, with how much was hidden and where its parts are in the response."""
        if self._reading is None:
            self._reading = module("rlenv.text").read(self.response, self.thinking)
        return self._reading

    def with_hidden(self, outcome: Outcome) -> Outcome:
        """The outcome of a stage that read ``visible``: its data says how many characters were
        hidden, if any.
        """
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
        """32 bytes drawn from the secret, the task and the response: the seed of random test
        inputs.

        The same response to the same task always gets the same key; no policy can predict it.

        Raises:
            VerifierFault: in a stage that does not declare ``draws``.
        """
        from .secret import attempt_key

        if not self.draws:
            remedy = "declare draws = True on it, so that the secret is part of the fingerprint"
            fault = Fault("contract", f"attempt.key() in a stage without draws: {remedy}")
            raise VerifierFault(fault)
        return attempt_key(self.task, self.response)

    def size(self, most: int) -> int:
        """Characters that a policy wrote and a stage may read; counting ends where they are more
        than ``most``.
        """
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
    """The least a stage has.  ``ATTRIBUTES`` lists what else it may declare; two methods are
    optional:

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


@frozen
class Attribute:
    """One attribute that a stage may declare.

    Args:
        default: what holds where a stage does not declare it.
        expected: its type and range, in words.
        is_valid: whether a value is of that type and range.
        meaning: one line for the reference.
        example: how a valid value is written, for messages.
    """

    default: object
    expected: str
    is_valid: Callable[[object], bool]
    meaning: str
    example: str = ""


def _between(low: float, high: float) -> Callable[[object], bool]:
    return lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and low <= v <= high


def _tuple_of(kind: type) -> Callable[[object], bool]:
    return lambda v: isinstance(v, (tuple, list)) and all(isinstance(item, kind) for item in v)


def _count(least: int) -> Callable[[object], bool]:
    return lambda v: type(v) is int and v >= least


def _flag(meaning: str, *, default: bool = False) -> Attribute:
    return Attribute(default, "True or False", lambda v: isinstance(v, bool), meaning)


ATTRIBUTES: Mapping[str, Attribute] = {
    "phase": Attribute(
        "diff",
        f"one of {', '.join(PHASES)}",
        PHASES.__contains__,
        "what part of a verification it is; named in reports, and out of order is a warning",
    ),
    "where": Attribute(
        "worker",
        f"one of {', '.join(PLACES)}",
        PLACES.__contains__,
        "`worker`: a process that is killed at its deadline; `inline`: in the caller, for work that"
        " is bounded by size; `caller`: async only, on one event loop in the caller's process",
    ),
    "uses": Attribute(
        (),
        "a tuple of paths",
        _tuple_of(str),
        "what it needs of a task; a task without it is rejected",
        '("answer", "info.tests")',
    ),
    "needs": Attribute(
        (),
        "a tuple of types",
        _tuple_of(type),
        "artifacts that an earlier stage must make",
        "(Program,)",
    ),
    "takes": Attribute(
        (),
        "a tuple of types",
        _tuple_of(type),
        "artifacts that it uses where an earlier stage made them",
        "(Program,)",
    ),
    "makes": Attribute(
        (),
        "a tuple of types",
        _tuple_of(type),
        "artifacts that it hands to later stages",
        "(Program,)",
    ),
    "default_gate": Attribute(
        None, "a number in [0, 1]", _between(0, 1), "the gate of its slot where that names none"
    ),
    "default_timeout": Attribute(
        None,
        "a number of seconds > 0",
        _between(1e-9, 1e9),
        f"wall seconds until it is killed where its slot names none; {DEFAULT_TIMEOUT:g} without"
        " both",
    ),
    "least_timeout": Attribute(
        None,
        "a number of seconds > 0",
        _between(1e-9, 1e9),
        "wall seconds that its own limits of a response may take on a busy machine; its slot, or a"
        " composite around it, with a shorter timeout is an error, since a response could reach"
        " that and be unscored",
    ),
    "budget": Attribute(
        None,
        "a number of seconds > 0",
        _between(1e-3, 1e6),
        "CPU seconds that a response may cost a synchronous worker stage, its threads and children"
        " included; a response that costs more gets 0; without a timeout the stage is killed after"
        f" {OVERLOAD:g} × budget + {START_UP:g} wall seconds",
    ),
    "inline_limit": Attribute(
        INLINE_LIMIT,
        "an integer ≥ 0",
        _count(0),
        "characters up to which an inline stage runs on the caller's event loop; a longer response"
        " goes to a worker there",
    ),
    "waits": _flag(
        "its check may wait for `rlenv.workers.call`, so it runs in a thread beside an event loop"
    ),
    "at_once": Attribute(
        None,
        "an integer ≥ 1",
        _count(1),
        "how many of its async checks one worker runs at a time; the clocks of those that wait"
        " stand still",
    ),
    "deterministic": _flag("False for a stage that measures or samples", default=True),
    "draws": _flag(
        "it draws random inputs from `attempt.key()`; the secret is then part of the fingerprint"
    ),
    "may_abstain": _flag("it may return None, which leaves the response unscored"),
    "kwargs": Attribute(
        None,
        '"info"',
        "info".__eq__,
        "what the `**kwargs` of a function receive: nothing, or the task's info",
    ),
    "env": Attribute(
        None,
        "a tuple of names of environment variables",
        _tuple_of(str),
        "variables that its workers see beside those that Python and numerics need, as PATH, HOME"
        " and LANG; by default a function's see only these, and a plugin's see all",
        '("HF_TOKEN",)',
    ),
    "reads": Attribute(
        (),
        "a tuple of paths",
        _tuple_of(str),
        "files that it reads, relative to the file that defines it and in that folder; their"
        " content is part of the fingerprint, and a missing one is an error when the environment is"
        " made",
        '("table.csv",)',
    ),
    "tells": Attribute(
        (),
        "a tuple of paths",
        _tuple_of(str),
        "what of a task's info its prompt says too, and is no secret",
        '("info.constraints",)',
    ),
    "survey_if_alone": _flag("survey the tasks only where no stage of another phase counts"),
}
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
    """CPU seconds of a response; an *option* of this name limits what an async stage starts, and is
    another.
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
    from .near import suggest

    unknown = {n: suggest(n, ATTRIBUTES, what="it has") for n in attributes if n not in ATTRIBUTES}
    reject(f'@stage has no argument "{name}"; {it}' for name, it in unknown.items())
    reject(value_problems(attributes))


def class_problems(cls: type) -> Iterator[str]:
    """Attributes of a class that resemble one of a stage and would be ignored, with the nearest
    name.
    """
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
    """Whether one is the other but for a letter or, where it is long, two.  difflib would cost an
    import.
    """
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
