"""The laws on a stage at hand, in this process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from rlenv.hooks import Attack, Examples, Rewrite

from .law import LAWS, LawBroken
from .laws import load
from .subject import Effort, Subject


def broken_laws(
    stage: Any,
    examples: Examples,
    *,
    rewrites: Sequence[Rewrite] = (),
    attacks: Sequence[Attack] = (),
    before: Sequence[Any] = (),
    laws: Iterable[str] | None = None,
    max_examples: int = 30,
    seed: int = 0,
    patience: float = 5.0,
) -> dict[str, str]:
    """The laws that a stage breaks, each with its message.

    Args:
        stage: a stage or composite, built.
        examples: responses whose worth is sure.
        rewrites, attacks: as the plugin's hooks give them for this stage.
        before: stages that make the artifacts it needs.
        laws: names of the laws to try; all when None.
        max_examples: how many Hypothesis draws for a law.
        patience: seconds that the stage may take for one response.

    Raises:
        ValueError: for a law that there is not.
    """
    load()
    effort = Effort(max_examples, seed, 8.0, patience)
    subject = Subject(f"{type(stage).__module__}/{type(stage).__name__}", stage, examples, rewrites, attacks, before, effort=effort)  # fmt: skip
    wanted = list(LAWS) if laws is None else list(laws)
    unknown = [name for name in wanted if name not in LAWS]
    if unknown:
        raise ValueError(f"there is no law {unknown[0]!r}; the laws are {', '.join(LAWS)}")
    try:
        found = {name: _broken(name, subject) for name in wanted}
    finally:
        subject.close()
    return {name: message for name, message in found.items() if message is not None}


def failing_laws(stage: Any, examples: Examples, **settings: Any) -> list[str]:
    """The names of the laws that a stage breaks; see ``broken_laws`` for the settings."""
    return list(broken_laws(stage, examples, **settings))


def _broken(name: str, subject: Subject) -> str | None:
    try:
        LAWS[name](subject)
    except LawBroken as broken:
        return broken.msg or ""
    except pytest.skip.Exception:
        return None
    return None
