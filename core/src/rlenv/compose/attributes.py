"""The attributes that a stage may declare: their types, ranges, defaults and meanings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

__all__ = [
    "ATTRIBUTES",
    "DEFAULT_TIMEOUT",
    "INLINE_LIMIT",
    "OVERLOAD",
    "PHASES",
    "PLACES",
    "START_UP",
    "Attribute",
]
PHASES = ("parse", "compile", "execute", "diff", "constrain", "judge")
PLACES = ("worker", "caller", "inline")
DEFAULT_TIMEOUT = 30.0
OVERLOAD = 10.0  # wall seconds for each second of a CPU budget: the load up to which it decides
START_UP = 5.0  # wall seconds beside these
INLINE_LIMIT = 4096


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
