"""When a verdict may be used again, and the key under which it is found."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attrs import fields
from rlenv import Composite, ConfigError, Environment, Slot, Task, Trajectory, Verdict
from rlenv.stages import attribute

from rlenv_train.metrics import every_result
from rlenv_train.mixing import EnvironmentGroup
from rlenv_train.single import stages


class Key(NamedTuple):
    """What a verdict is found under, and the fingerprint of what gave it."""

    digest: bytes
    fingerprint: str


ATOMS = {str, int, float, bool, bytes, type(None)}


def leaves(env: Environment) -> Iterator[tuple[str, object]]:
    """(path, stage) of every stage that is not a composite; of a group, those of its members."""
    for member in env.environments.values() if isinstance(env, EnvironmentGroup) else [env]:
        for path, stage in stages(member):
            if not isinstance(stage, Composite):
                yield path, stage


def not_reusable(env: Environment, reuse: Sequence[str], *, stored: bool) -> Iterator[str]:
    """Why verdicts may not be used again, one line for each stage.

    Args:
        env: what gives them.
        reuse: paths of stages that the user allows.
        stored: whether they are used by later runs too.

    Raises:
        ConfigError: when ``reuse`` names what is not a stage.
    """
    stages = dict(leaves(env))
    if unknown := [path for path in reuse if path not in stages]:
        raise ConfigError(f"reuse: {', '.join(unknown)}: not a stage; they are {', '.join(stages)}")
    in_notebook = stored and not hasattr(sys.modules["__main__"], "__file__")
    for path, stage in leaves(env):
        if path not in reuse and not attribute(stage, "deterministic"):
            yield f"{path} is not deterministic; reuse=({path!r},) allows it"
        if in_notebook and Slot("it", stage).kind.startswith("__main__:"):
            yield f"{path}: no fingerprint covers the code of a notebook; define it in a module"


def key_of(fingerprint: str, key_id: str, task: Task, response: object) -> Key | None:
    """Names a task and a response, by type, order and every character; None where that cannot be.

    Args:
        fingerprint: of what verifies them.
        key_id: of the secret.
        task: with its answer and info.
        response: text, messages or a Trajectory.
    """
    if isinstance(response, str):
        response = str.__str__(response)
    elif not isinstance(response, Trajectory):
        response = Trajectory(response)  # type: ignore[arg-type]  # what is no message is not plain
    parts = [fingerprint, key_id, _values(task, Task), _values(response, Trajectory)]
    if not _is_plain(parts):
        return None
    return Key(hashlib.sha256(repr(parts).encode()).digest(), fingerprint)


def _values(value: object, kind: type[Task | Trajectory]) -> object:
    """The fields of a value of exactly this class, in order; any other value as it is."""
    if type(value) is not kind:
        return value
    return [getattr(value, each.name) for each in fields(kind)]


def _is_plain(value: object) -> bool:
    """Whether ``repr`` tells it from all others: nothing in it is of a class that may be somebody's own."""
    if isinstance(value, dict):
        return type(value) is dict and _is_plain([*value, *value.values()])
    if isinstance(value, (list, tuple)):
        return type(value) in (list, tuple) and all(map(_is_plain, value))
    return type(value) in ATOMS


def lasts(verdict: Verdict) -> bool:
    """Whether a later run gives it too: there is a reward, no stage broke, and no budget ran out or nearly did."""
    return verdict.scored and all(
        (said := result.outcome) is not None
        and "cpu_seconds" not in said.data
        and "undecided" not in f"{said.detail} {said.data} {said.private}"
        for result in every_result(verdict.results)
    )
