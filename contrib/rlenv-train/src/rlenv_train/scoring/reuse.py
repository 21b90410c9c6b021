"""When a verdict may be used again, and the key under which it is found."""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import attrs
from rlenv import ConfigError, Environment, Task, Trajectory, Verdict
from rlenv.compose.stages import attribute

from rlenv_train.environments import leaves
from rlenv_train.metrics import every_result


class Key(NamedTuple):
    """What a verdict is found under, and the fingerprint of what gave it."""

    digest: bytes
    fingerprint: str


ATOMS = {str, int, float, bool, bytes, type(None)}


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
    for path, slot in leaves(env):
        stage = slot.stage
        if path not in reuse and not attribute(stage, "deterministic"):
            yield f"{path} is not deterministic; reuse=({path!r},) allows it"
        if in_notebook and slot.kind.startswith("__main__:"):
            yield f"{path}: no fingerprint covers the code of a notebook; define it in a module"


def key_of(fingerprint: str, where: str, task: Task, response: object) -> Key | None:
    """Names a task and a response, by type, order and every character; None where that cannot be.

    Args:
        fingerprint: of what verifies them.
        where: what else their verdict depends on: the id of the secret, the name of a member of a
            group.
        task: with its answer and info.
        response: text, messages or a Trajectory; one with artifacts has no key.
    """
    if isinstance(response, str):
        response = str.__str__(response)
    elif type(response) is Trajectory and not response.artifacts:
        response = list(response.messages)  # no stage sees its tokens
    elif isinstance(response, (list, tuple)):  # of messages; what is none is not plain, or rejected
        response = list(response)
    asked = [getattr(task, each.name) for each in attrs.fields(Task)]
    parts = [fingerprint, where, asked, response]
    with suppress(RecursionError, ValueError):  # it holds itself, or is nested too deep for marshal
        if type(task) is Task and _is_plain(parts):
            # Version 2 writes equal values alike, whatever else refers to them; nothing reads it
            # back.
            return Key(hashlib.sha256(marshal.dumps(parts, 2)).digest(), fingerprint)
    return None


def _is_plain(value: Any) -> bool:
    """Whether it is made of built-in values alone: nothing in it is of a class that may be
    somebody's own.
    """
    kind = type(value)
    if kind is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if kind is list or kind is tuple else kind in ATOMS


def lasts(verdict: Verdict) -> bool:
    """Whether a later run gives it too: there is a reward, no stage broke, and no budget ran out or
    nearly did.
    """
    return verdict.scored and all(
        (said := result.outcome) is not None
        and "cpu_seconds" not in said.data
        and "undecided" not in f"{said.detail} {said.data} {said.private}"
        for result in every_result(verdict.results)
    )
