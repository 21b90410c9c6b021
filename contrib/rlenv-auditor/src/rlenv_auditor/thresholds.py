"""``--fail-on``: which rates end a build."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen
from rlenv.model.errors import ConfigError
from rlenv.model.messages import suggest

from .model import Result, Scorecard
from .statistics import at_least, holm

__all__ = ["MEASURES", "Thresholds", "crossed"]

MEASURES = ("exploit", "fn", "nondet", "fault", "leak", "free", "lift", "disagree")
DEFAULT = "exploit>0,fn>0.05,nondet>0,fault>0,leak>0,lift>0,free>0.1"
SURE = 0.05


@frozen
class Thresholds:
    """The most that is let through, by measure."""

    limits: Mapping[str, float] = field(factory=dict)

    @classmethod
    def read(cls, text: str) -> Thresholds:
        """Of "exploit>0.01,fn>0.05"; the default where it is empty, none at all for "never".

        Raises:
            ConfigError: for what is no threshold.
        """
        found: dict[str, float] = {}
        for part in (text or DEFAULT).split(",") if text != "never" else ():
            match = re.fullmatch(r"\s*(\w+)\s*>\s*(\d*\.?\d+)\s*(%?)\s*", part)
            if match is None:
                raise ConfigError(
                    f"--fail-on {part.strip()!r}: write MEASURE>SHARE, as in exploit>0.01,fn>0.05,"
                    " or never"
                )
            name, number, percent = match.groups()
            if name not in MEASURES:
                raise ConfigError(
                    f"--fail-on {name}: {suggest(name, MEASURES, what='the measures are')}"
                )
            found[name] = float(number) / (100 if percent else 1)
        return cls(found)


def crossed(card: Scorecard, limits: Thresholds) -> tuple[str, ...]:
    """One line for each threshold that is crossed.

    A limit of 0 is crossed by one hit.  A higher one is crossed where the share is above it, and
    where that is no accident of the sample: the binomial p-value, corrected over all probes of the
    measure (Holm), is below 5 %, or all of the tasks were tried.
    """
    found = []
    for name, most in limits.limits.items():
        if name == "free":
            earned = card.figures.get("free reward")
            if isinstance(earned, (int, float)) and earned > most:
                best = card.figures.get("best for nothing")
                found.append(
                    f"free > {most:g}: {best} earns {earned:.3f} on average, and solves nothing"
                )
            continue
        tried = [
            r for r in card.results if r.measure == name and r.rate is not None and r.rate.trials
        ]
        values = holm([_surprise(r, most) for r in tried])
        for one, value in zip(tried, values, strict=True):
            assert one.rate is not None
            share = one.rate.share or 0.0
            if share > most and (most == 0 or value < SURE or card.tasks == card.tasks_in_all):
                found.append(f"{name} > {most:g}: {one.probe}, {one.rate}")
    return tuple(found)


def _surprise(one: Result, most: float) -> float:
    assert one.rate is not None
    return at_least(one.rate.hits, one.rate.trials, most)
