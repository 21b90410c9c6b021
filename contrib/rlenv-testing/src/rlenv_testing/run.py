"""The laws on a stage at hand, in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

import pytest
from attrs import field, frozen
from rlenv.hooks import Attack, Examples, Rewrite

from .law import LAWS, LawBroken, LawUnchecked
from .laws import load
from .subject import Effort, Subject
from .targets import verifier_of


@frozen(eq=False)
class BrokenLaws(Mapping[str, str]):
    """The laws that a stage breaks, by name, each with its message.

    It is true, and differs from ``{}``, also where nothing is broken and something could not be
    checked.

    Args:
        broken: law → what was found.
        unchecked: law → why it could not be checked, through no fault of the stage.
    """

    broken: Mapping[str, str]
    unchecked: Mapping[str, str] = field(factory=dict)

    def __getitem__(self, law: str) -> str:
        return self.broken[law]

    def __iter__(self) -> Iterator[str]:
        return iter(self.broken)

    def __len__(self) -> int:
        return len(self.broken)

    def __bool__(self) -> bool:
        return bool(self.broken or self.unchecked)

    def __eq__(self, other: object) -> bool:
        more = other.unchecked if isinstance(other, BrokenLaws) else {}
        return isinstance(other, Mapping) and dict(self) == dict(other) and self.unchecked == more

    __hash__ = None  # type: ignore[assignment] # as a dict has none


class Settings(TypedDict, total=False):
    """What ``broken_laws`` takes by name."""

    rewrites: Sequence[Rewrite]
    attacks: Sequence[Attack]
    before: Sequence[object]
    laws: Iterable[str] | None
    max_examples: int
    seed: int
    patience: float


def broken_laws(
    stage: object,
    examples: Examples,
    *,
    rewrites: Sequence[Rewrite] = (),
    attacks: Sequence[Attack] = (),
    before: Sequence[object] = (),
    laws: Iterable[str] | None = None,
    max_examples: int = 30,
    seed: int = 0,
    patience: float = 5.0,
) -> BrokenLaws:
    """Return the laws that a stage breaks, with messages; ``unchecked`` has what was not checked.

    Args:
        stage: what an environment takes: a stage or composite, a function, a list of them; also
            ``module:name`` or ``./file.py:name`` of one.
        examples: responses whose worth is sure.
        rewrites, attacks: as the plugin's hooks give them for this stage.
        before: stages that make the artifacts it needs.
        laws: names of the laws to try; all when None.
        max_examples: how many Hypothesis draws for a law.
        patience: seconds that the stage may take for one response.

    Raises:
        ValueError: for a law that there is not.
        ConfigError: for what is no verifier.
    """
    load()
    stage = verifier_of(stage)
    effort = Effort(max_examples, seed, 8.0, patience)
    subject = Subject(
        getattr(stage, "target", f"{type(stage).__module__}/{type(stage).__name__}"),
        stage,
        examples,
        rewrites=rewrites,
        attacks=attacks,
        before=before,
        effort=effort,
    )
    wanted = list(LAWS) if laws is None else list(laws)
    unknown = [name for name in wanted if name not in LAWS]
    if unknown:
        raise ValueError(f"there is no law {unknown[0]!r}; the laws are {', '.join(LAWS)}")
    try:
        failed = {name: _failure(name, subject) for name in wanted}
    finally:
        subject.close()
    return BrokenLaws(_said(failed, LawBroken), _said(failed, LawUnchecked))


def failing_laws(stage: object, examples: Examples, **settings: Unpack[Settings]) -> list[str]:
    """The names of the laws that a stage breaks; see ``broken_laws`` for the settings.

    Raises:
        RuntimeError: a law could not be checked, which a list of broken ones cannot tell.
    """
    found = broken_laws(stage, examples, **settings)
    if found.unchecked:
        raise RuntimeError("\n".join(found.unchecked.values()))
    return list(found)


def _failure(name: str, subject: Subject) -> LawBroken | LawUnchecked | None:
    try:
        LAWS[name](subject)
    except (LawBroken, LawUnchecked) as failed:
        return failed
    except pytest.skip.Exception:
        return None
    return None


def _said(failed: Mapping[str, Exception | BaseException | None], kind: type) -> dict[str, str]:
    return {name: str(err) for name, err in failed.items() if isinstance(err, kind)}
