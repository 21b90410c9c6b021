"""When a verdict may be used again, and the key under which it is found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from attrs import fields
from rlenv import Composite, ConfigError, Environment, Slot, StageResult, Task, Trajectory, Verdict
from rlenv.stages import attribute

from rlenv_train.mixing import EnvironmentGroup

ATOMS = {str, int, float, bool, bytes, type(None)}


def stages_of(env: Environment) -> Iterator[tuple[str, object]]:
    """(path, stage) of every stage that is not a composite; of a group, those of its members."""
    if isinstance(env, EnvironmentGroup):
        for member in env.environments.values():
            yield from stages_of(member)
    else:
        yield from _leaves("", env.slots)


def _leaves(prefix: str, slots: Sequence[Slot]) -> Iterator[tuple[str, object]]:
    for slot in slots:
        if isinstance(slot.stage, Composite):
            yield from _leaves(f"{prefix}{slot.name}/", slot.stage.slots)
        else:
            yield prefix + slot.name, slot.stage


def not_reusable(env: Environment, allowed: Sequence[str]) -> list[str]:
    """The paths of stages whose verdicts differ from call to call, less those that the user allows.

    Raises:
        ConfigError: when ``allowed`` names what is not a stage.
    """
    stages = list(stages_of(env))
    paths = [path for path, _ in stages]
    if unknown := [path for path in allowed if path not in paths]:
        raise ConfigError(f"reuse: {', '.join(unknown)}: not a stage; they are {', '.join(paths)}")
    varies = [path for path, stage in stages if not attribute(stage, "deterministic")]
    return [path for path in varies if path not in allowed]


def key_of(salt: Sequence[str], task: Task, response: object) -> bytes | None:
    """32 bytes that name a task and a response, by type, order and every character; None where that cannot be.

    Args:
        salt: what else decides the verdict.
        task: with its answer and info.
        response: text, messages or a Trajectory.
    """
    if isinstance(response, str):
        response = str.__str__(response)
    elif not isinstance(response, Trajectory):
        response = Trajectory(response)  # type: ignore[arg-type]  # what is no message is not plain
    parts = [(*salt,), _values(task, Task), _values(response, Trajectory)]
    if not _is_plain(parts):
        return None
    return hashlib.sha256(repr(parts).encode()).digest()


def _values(value: object, kind: type[Task | Trajectory]) -> object:
    """The fields of a value of exactly this class, in order; any other value as it is."""
    if type(value) is not kind:
        return value
    return [getattr(value, each.name) for each in fields(kind)]


def _is_plain(value: object) -> bool:
    """Whether ``repr`` tells it from all others: nothing in it is of a class that may be somebody's own."""
    kind = type(value)
    if kind in ATOMS:
        return True
    if kind is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))  # type: ignore[call-overload,attr-defined]
    return (kind is list or kind is tuple) and all(map(_is_plain, value))  # type: ignore[call-overload]


def may_be_stored(verdict: Verdict) -> bool:
    """Whether a later run gives it too: there is a reward, no stage broke, and no budget ran out or nearly did."""
    return verdict.value is not None and all(map(_lasts, _all(verdict.results)))


def _all(results: Iterable[StageResult]) -> Iterator[StageResult]:
    for result in results:
        yield result
        yield from _all(result.children)


def _lasts(result: StageResult) -> bool:
    said = result.outcome
    if said is None or "cpu_seconds" in said.data:
        return False
    return not any(
        "undecided" in text for text in (said.detail, repr(said.data), repr(said.private))
    )
