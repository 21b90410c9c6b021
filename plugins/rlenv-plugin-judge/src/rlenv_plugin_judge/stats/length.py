"""Style that judges pay for: how much of a score goes with length, bullets, headings, hedges and
stock phrases.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from attrs import field, frozen
from rlenv import ConfigError

__all__ = ["FEATURES", "Slopes", "features", "fit"]

FEATURES = ("length", "bullets", "headings", "hedges", "stock")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.M)
_HEADING = re.compile(r"^#{1,6}[ \t]+\S|^\*\*[^*\n]+\*\*:?[ \t]*$", re.M)
_HEDGE = re.compile(
    r"\b(?:perhaps|maybe|possibly|arguably|somewhat|it (?:seems|appears)|might|could"
    r" be|generally|typically|"
    r"to some extent|in some cases)\b",
    re.I,
)
_STOCK = re.compile(
    r"\b(?:great question|certainly|of course|absolutely|i hope this helps|let me know if|feel"
    r" free to|"
    r"it(?:'s| is) (?:important|worth) (?:to note|noting)|in conclusion|in summary|overall|delve"
    r" into|"
    r"let(?:'s| us) think step by step|as an ai)\b",
    re.I,
)
_WORD = re.compile(r"\w+")
_RIDGE = 1e-6
_TABLES = ("slopes", "errors", "bases")


def features(text: str) -> dict[str, float]:
    """What of a text is style: logarithm of 1 + words, and the others per hundred words."""
    words = sum(1 for _ in _WORD.finditer(text))
    per_hundred = 100.0 / max(words, 20)  # a short text with one bullet is not a list
    counts = {"bullets": _BULLET, "headings": _HEADING, "hedges": _HEDGE, "stock": _STOCK}
    found = {
        name: sum(1 for _ in pattern.finditer(text)) * per_hundred
        for name, pattern in counts.items()
    }
    return {"length": math.log1p(words), **found}


@frozen
class Slopes:
    """How a judge's score moves with style, all else equal.

    Args:
        slopes: feature → change of the score for one unit more.
        errors: feature → standard error of that.
        bases: feature → the end of its range, where this was fitted, at which the judge pays least:
            what a text has beyond it is taken off.
    """

    slopes: Mapping[str, float]
    errors: Mapping[str, float] = field(factory=dict)
    bases: Mapping[str, float] = field(factory=dict)

    def interval(self, name: str, z: float = 1.959963984540054) -> tuple[float, float]:
        """95 % of a slope."""
        half = z * self.errors.get(name, math.inf)
        return self.slopes[name] - half, self.slopes[name] + half

    def corrected(self, score: float, style: Mapping[str, float]) -> float:
        """The score without what style buys: ``score - Σ max(0, slope · (feature - base))``, from
        0.

        It never raises a score: else one word would be paid for being short.  The idea of length
            control in
        AlpacaEval (Dubois and others, 2024, arXiv:2404.04475), with a linear instead of a logistic
        model, since scores are no wins, and with an end of the range where that has its middle.
        """
        bought = math.fsum(
            max(0.0, slope * (style.get(name, 0.0) - self.bases.get(name, 0.0)))
            for name, slope in self.slopes.items()
        )
        return min(1.0, max(0.0, score - bought))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """As JSON keeps it."""
        return {name: dict(getattr(self, name)) for name in _TABLES}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Slopes:
        """What ``to_dict`` wrote.

        Raises:
            ConfigError: it is no such table.
        """
        tables: list[dict[str, float]] = []
        for name in _TABLES:
            table = data.get(name, {})
            if not isinstance(table, Mapping) or set(table) - set(FEATURES):
                raise ConfigError(f"{name}: a table of {', '.join(FEATURES)}")
            if not all(isinstance(x, (int, float)) and math.isfinite(x) for x in table.values()):
                raise ConfigError(f"{name}: finite numbers")
            tables.append({key: float(value) for key, value in table.items()})
        if set(tables[0]) - set(tables[2]):
            raise ConfigError("bases: one for every slope; calibrate the judge anew")
        return cls(*tables)


def fit(
    styles: Sequence[Mapping[str, float]],
    scores: Sequence[float],
    quality: Sequence[float] | None = None,
) -> Slopes:
    """Least squares of scores on style features, beside the true quality where it is known.

    Without ``quality`` a slope mixes bias with what is really better about longer answers; with
    labels it is bias alone.  Features that never vary get no slope.

    Args:
        styles: see ``features``; one per response.
        scores: the judge's.
        quality: labels of the same responses, in [0, 1].

    Raises:
        ValueError: not one style per score.
    """
    if len(styles) != len(scores) or (quality is not None and len(quality) != len(scores)):
        raise ValueError("one style, one score and one label per response")
    names = [name for name in FEATURES if len({style[name] for style in styles}) > 1]
    means = {name: math.fsum(style[name] for style in styles) / len(styles) for name in names}
    rows = [[1.0, *(style[name] - means[name] for name in names)] for style in styles]
    if quality is not None:
        rows = [[*row, label] for row, label in zip(rows, quality, strict=True)]
    solved, errors = _least_squares(rows, scores)
    slopes = dict(zip(names, solved[1 : 1 + len(names)], strict=True))
    bases = {
        name: (min if slope > 0 else max)(style[name] for style in styles)
        for name, slope in slopes.items()
    }
    found = dict(zip(names, errors[1 : 1 + len(names)], strict=True))
    return Slopes(slopes, found, bases)


def _least_squares(
    rows: Sequence[Sequence[float]], wanted: Sequence[float]
) -> tuple[list[float], list[float]]:
    """(coefficients, their standard errors); the ridge keeps columns that depend on one another
    apart.
    """
    import numpy as np

    design = np.array(rows, float)
    right = np.array(wanted, float)
    count, size = design.shape
    inverse = np.linalg.inv(design.T @ design + _RIDGE * np.eye(size))
    solved = inverse @ design.T @ right
    rest = float(np.sum((right - design @ solved) ** 2))
    variance = rest / (count - size) if count > size else math.inf
    return solved.tolist(), np.sqrt(variance * np.diag(inverse)).tolist()
