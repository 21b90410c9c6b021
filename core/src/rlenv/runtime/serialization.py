"""Attempts, results and artifacts as plain data: what crosses the pipe between the caller and its
workers.

An artifact is an instance of an attrs class that a stage names in ``makes``.  Its fields hold what
FIELDS says, and what a worker sends of them cannot choose a class.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from functools import cache
from types import EllipsisType, NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

import attrs

from rlenv.compose.stages import Attempt
from rlenv.model.record import LONGEST_INT, plain
from rlenv.model.values import PLAIN, Fault, Outcome, StageResult, Task, Trajectory

Wire: TypeAlias = tuple[Any, ...]
# What a worker learned of an attempt: the new results, and the artifacts that later stages need.
Progress: TypeAlias = tuple[list[StageResult], Sequence[object]]
LONGEST = 1e9  # seconds; no stage takes more
FIELDS = "numbers, text, bytes, lists, tuples, sets, dicts, and attrs classes that annotations name"
Hints: TypeAlias = tuple[Any, ...]  # annotations of which one holds
_MANY: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
_ONE: dict[str, Callable[[str], object]] = {"complex": complex, "bytes": b64decode}
_ONE["int"] = lambda text: int(text, 16)


def encode_result(result: StageResult) -> Wire:
    """What a stage said: its path and seconds, and either a fault or a score with what else there
    is of an outcome.

    Composites are folded again in the caller.
    """
    outcome = result.outcome
    fault = result.fault
    if outcome is None:
        return result.stage, result.seconds, fault and (fault.kind, fault.message, fault.transient)
    more = outcome.detail, outcome.data, outcome.steps, outcome.private
    bare = not (more[0] or more[1] or more[3]) and more[2] is None
    return result.stage, result.seconds, outcome.score, *(() if bare else more)


def decode_result(wire: Wire, paths: Container[str]) -> StageResult:
    """The result of one of these stages.

    Raises:
        Exception: of any class, where it is none; a worker may have sent anything.
    """
    stage, seconds, score, *more = wire
    if stage not in paths or type(seconds) not in (int, float) or not 0 <= seconds < LONGEST:
        raise ValueError("not the result of a stage")
    if not more:
        if isinstance(score, (list, tuple)):
            return StageResult(stage, None, _fault(tuple(score)), seconds)
        outcome = PLAIN.get(score) if type(score) is float else None
        return StageResult(stage, outcome or Outcome(score), None, seconds)
    detail, data, steps, private = more
    if type(detail) is not str or type(data) is not dict or type(private) is not dict:
        raise ValueError("not an outcome")
    if data or private:
        data = plain(data)
        private = plain(private)
    return StageResult(stage, Outcome(score, detail, data, steps, private), None, seconds)


def decode_progress(paths: Container[str], kinds: Sequence[type], wire: Any) -> Progress:
    """What ``runtime.Runner`` answers.

    Raises:
        Exception: as ``decode_result``.
    """
    made, *results = wire
    new = [decode_result(each, paths) for each in results]
    return new, unpack(kinds, made) if made else ()


def decode_group(
    decode: Callable[[object], Progress], path: str, size: int, wire: Any
) -> list[Progress]:
    """What ``runtime.GroupRunner`` answers: for so many attempts one result each, of this stage.

    Raises:
        Exception: as ``decode_result``.
    """
    members = [decode(each) for each in wire]
    if [[result.stage for result in results] for results, _ in members] != [[path]] * size:
        raise ValueError("not one result for each attempt")
    return members


def _fault(wire: Wire) -> Fault:
    if [*map(type, wire)] != [str, str, bool]:
        raise ValueError("not a fault")
    return Fault(*wire)


def encode_payload(attempt: Attempt) -> Wire:
    """What ``runtime.Runner`` takes: the attempt, its results so far, its artifacts, whether it is
    of a group.
    """
    known = [encode_result(result) for result in attempt.log] if attempt.log else None
    return encode_attempt(attempt), known, attempt.artifacts or None, attempt.grouped


def encode_attempt(attempt: Attempt) -> Wire:
    task = attempt.task
    trajectory = attempt.trajectory
    info = dict(task.info) if task.info else None
    asked = (task.prompt, task.answer, info, task.id, task.split)
    messages = None if trajectory is None else trajectory.messages
    return asked, attempt.response, messages, attempt.thinking


def decode_attempt(wire: Wire, artifacts: dict[type, object] | None) -> Attempt:
    (prompt, answer, info, task_id, split), response, messages, thinking = wire
    task = Task(prompt, answer, info or {}, task_id, split)
    trajectory = None if messages is None else Trajectory(messages)
    return Attempt(task, response, trajectory, artifacts or {}, thinking)


def pack(artifact: object) -> list[object]:
    """The fields of an artifact for ``unpack``.

    Raises:
        TypeError: for one that holds more than FIELDS.
    """
    return _pack(artifact)[2:]  # type: ignore[no-any-return]


def unpack(kinds: Sequence[type], wire: Any) -> list[Any]:
    """Artifacts, each of the index of its kind and of its fields.

    Raises:
        Exception: of any class, where it is none.
    """
    return [_build(kinds[index], fields) for index, *fields in wire]


def _pack(value: Any) -> Any:
    kind = type(value)
    if kind in (str, bool, float, NoneType):
        return value
    if kind in _MANY.values():
        return [kind.__name__, *map(_pack, value)]
    if kind is dict:
        return ["dict", *([_pack(key), _pack(item)] for key, item in value.items())]
    if kind is int:
        return value if value.bit_length() <= LONGEST_INT else ["int", hex(value)]
    if kind in (complex, bytes):
        return [kind.__name__, b64encode(value).decode() if kind is bytes else str(value)]
    if not attrs.has(kind):
        raise TypeError(f"{kind.__module__}.{kind.__qualname__} cannot be sent on: {FIELDS} can")
    parts = (_pack(getattr(value, at.name)) for at in attrs.fields(kind) if at.init)
    return ["attrs", kind.__name__, *parts]


def _unpack(wire: Any, hints: Hints) -> object:
    """What was packed, where one of the annotations allows it; raises anything where none does."""
    if type(wire) not in (list, dict):
        return _allowed(wire, hints)
    tag, *parts = wire
    if tag == "attrs":
        name, *fields = parts
        for hint in hints:
            if attrs.has(hint) and hint.__name__ == name:
                return _build(hint, fields)
        raise TypeError(f"{name} is in a field whose annotation does not name it")
    if tag == "dict":
        keys, items = (_inner(hints, dict) * 2)[:2]
        return {_unpack(key, keys): _unpack(item, items) for key, item in parts}
    if tag in _MANY:
        inner = _inner(hints, _MANY[tag])
        each = inner * len(parts) if len(inner) == 1 else inner
        return _MANY[tag]([_unpack(*pair) for pair in zip(parts, each, strict=True)])
    (text,) = parts
    return _allowed(_ONE[tag](text), hints)


def _build(kind: Any, parts: list[object]) -> object:
    fields = zip(_fields(kind), parts, strict=True)
    return kind(**{name: _unpack(part, hints) for (name, hints), part in fields})


@cache
def _fields(kind: Any) -> list[tuple[str, Hints]]:
    """Its fields with their annotations; where those cannot be resolved, all are taken for Any."""
    with suppress(Exception):  # annotations may name anything
        attrs.resolve_types(kind)
    unknown = (str, NoneType)
    own = [(at, Any if isinstance(at.type, unknown) else at.type) for at in attrs.fields(kind)]
    return [(at.alias, _options(hint)) for at, hint in own if at.init]


def _options(hint: object) -> Hints:
    """The annotations of a union, else the one."""
    if get_origin(hint) not in (Union, UnionType):
        return (hint,)
    return tuple(option for arg in get_args(hint) for option in _options(arg))


@cache
def _inner(hints: Hints, kind: type) -> tuple[Hints, ...]:
    """The annotations of the parts of a collection, by place; one where all parts are alike."""
    args: Hints = next(get_args(hint) for hint in hints if _takes(hint, kind)) or (Any,)
    return tuple(_options(arg) for arg in args if not isinstance(arg, EllipsisType))


def _takes(hint: Any, kind: type) -> bool:
    origin = get_origin(hint) or hint
    # an annotation of another sort says nothing of plain values
    free = hint is Any or not isinstance(origin, type) or (hint is float and kind is int)
    return free or issubclass(kind, origin)


def _allowed(value: object, hints: Hints) -> object:
    for hint in hints:
        origin: object = get_origin(hint)
        if value in get_args(hint) if origin is Literal else _takes(hint, type(value)):
            return value
    raise TypeError(f"{type(value).__name__} is not one of {hints}")
