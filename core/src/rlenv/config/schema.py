"""The words of an env.toml, one class per table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Attribute, field, frozen

RESERVED = {
    "harness": "rlenv-plugin-agent",
    "state": "rlenv-plugin-agent",
    "config": "a plugin that varies the configuration",
    "curriculum": "a plugin that orders the tasks",
}


def _written(_: object, __: Attribute[str], text: str) -> None:
    if not text.strip():
        raise ValueError("a text that is not blank is expected")


def _share(_: object, __: Attribute[float], mark: float) -> None:
    if not 0 < mark <= 1:
        raise ValueError("a number in (0, 1] is expected")


@frozen
class EnvEntry:
    """The file as a whole; its stages and tasks are read one by one, so that each mistake is told."""

    name: str = field(validator=_written)
    description: str = ""
    pass_mark: float = field(default=1.0, validator=_share)
    base: float = 1.0
    observers: Sequence[str] = ()
    stage: Sequence[Any] = ()
    tasks: Mapping[str, Any] | None = None
    task: Sequence[Any] = ()


@frozen
class StageEntry:
    """One ``[[stage]]``; the numbers are checked by the slot that they make."""

    use: str
    name: str | None = None
    weight: float | None = None
    gate: float | None = None
    penalty: float = 0.0
    bonus: float = 0.0
    timeout: float | None = None
    options: Mapping[str, Any] = field(factory=dict)
    stage: Sequence[Any] = ()


@frozen
class TaskEntry:
    """One ``[[task]]``, written in the file itself."""

    prompt: str = field(validator=_written)
    answer: Any = None
    info: Mapping[str, Any] = field(factory=dict)
    id: str | int | None = None
    split: str = "train"
