"""One criterion of a rubric, and its points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_judge.protocol.verdict import Field, Verdict

__all__ = ["Choice", "Criterion"]

Scope = Literal["final", "turn", "trajectory"]


@frozen
class Choice:
    """One of a criterion's ordered answers and the share of the points that it earns, in [0, 1]."""

    name: Safe[str]
    share: float

    def __attrs_post_init__(self) -> None:
        if not self.name.strip() or not 0.0 <= self.share <= 1.0:
            raise ConfigError(
                f"choice {self.name!r}: a name, and a share in [0, 1], not {self.share!r}"
            )


@frozen(kw_only=True)
class Criterion:
    """A statement about a response that is true, partly true or false.

    Args:
        id: its name in data and reports.
        text: the statement, in words that a reader can check.
        points: added to the score if it holds; negative for what must not be, 0 is rejected.
        choices: answers in order with the share of the points each earns; met or not met when
            empty.
        scope: what is read: the final answer, each turn of the assistant by itself (their mean
            counts), or the whole trajectory.
    """

    id: Safe[str]
    text: Safe[str]
    points: float = 1.0
    choices: tuple[Choice, ...] = ()
    scope: Scope = "final"

    def __attrs_post_init__(self) -> None:
        if not self.id.strip() or not self.text.strip():
            raise ConfigError(f"criterion {self.id!r}: it has an id and a text")
        if not self.points or not abs(self.points) < 1e9:
            raise ConfigError(
                f"criterion {self.id!r}: points are a number other than 0, not {self.points!r}"
            )
        names = [choice.name for choice in self.choices]
        if self.choices and (len(names) < 2 or len(set(names)) < len(names)):
            raise ConfigError(f"criterion {self.id!r}: at least two choices, all different")

    def field(self, name: str) -> Field:
        """What a judge is to fill in."""
        if self.choices:
            return Field(name, "choice", choices=tuple(choice.name for choice in self.choices))
        return Field(name, "bool")

    def share(self, name: str, verdict: Verdict) -> float:
        """How far it holds, in [0, 1].

        Expected from log-probabilities where the judge gave them.
        """
        if self.choices:
            chances = {c.name: verdict.expected.get(f"{name}={c.name}") for c in self.choices}
            if all(chance is not None for chance in chances.values()):
                return sum(c.share * (chances[c.name] or 0.0) for c in self.choices)
            return next(c.share for c in self.choices if c.name == verdict.values[name])
        chance = verdict.expected.get(name)
        return chance if chance is not None else float(verdict.values[name] is True)

    def shown(self) -> str:
        """As a judge reads it."""
        if not self.choices:
            return self.text
        return f"{self.text} (answer with one of: {', '.join(c.name for c in self.choices)})"


Shares = Mapping[str, float]
