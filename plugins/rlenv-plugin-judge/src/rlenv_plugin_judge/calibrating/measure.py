"""The figures of a calibration, and the file that a stage applies."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from rlenv_plugin_judge.stats.agreement import cohen, krippendorff, wilson
from rlenv_plugin_judge.stats.calibration import Bin, Isotonic, bins, ece, isotonic
from rlenv_plugin_judge.stats.length import Slopes, features, fit

from .labels import Judged

__all__ = ["SCHEMA", "Measured", "measure"]

SCHEMA = "rlenv.calibration/1"
_FOLDS = 5
_LEVELS = 10


@frozen
class Measured:
    """All figures by name (None where the labels do not give one), the map, the slopes and the
    bins.
    """

    figures: Mapping[str, Any]
    isotonic: Isotonic
    slopes: Slopes
    bins: tuple[Bin, ...]
    style: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As the file keeps it."""
        kept: dict[str, Any] = {"schema": SCHEMA, "figures": dict(self.figures)}
        kept["isotonic"] = self.isotonic.to_dict()
        kept["bins"] = [[each.count, each.score, each.label] for each in self.bins]
        if self.style:
            kept["style"] = self.slopes.to_dict()
        return kept


def measure(judged: Judged, *, mark: float = 0.5, style: bool = False) -> Measured:
    """Compare scores with labels.

    Args:
        mark: a score or label at or above it counts as good, for accuracy and kappa.
        style: take the fitted slopes off before the map is fitted, as the stage will.
    """
    labels = [row.label for row in judged.rows]
    styles = [features(row.text) for row in judged.rows]
    slopes = fit(styles, judged.scores, labels)
    scores = list(judged.scores)
    if style:
        scores = [slopes.corrected(s, found) for s, found in zip(scores, styles, strict=True)]
    figures = {
        "rows": len(labels),
        "unscored": judged.unscored,
        **_agreement(scores, labels, mark),
        **_flips(judged.pairs),
        "slopes": {
            name: {"slope": value, "interval": _finite(slopes.interval(name))}
            for name, value in slopes.slopes.items()
        },
        "ece": _number(ece(scores, labels)),
        **_held_out(judged, styles, style=style),
    }
    return Measured(figures, isotonic(scores, labels), slopes, bins(scores, labels), style)


def _agreement(scores: Sequence[float], labels: Sequence[float], mark: float) -> dict[str, Any]:
    said = [s >= mark for s in scores]
    true = [x >= mark for x in labels]
    hits = sum(a == b for a, b in zip(said, true, strict=True))
    levels = sorted(set(labels))
    if len(levels) > _LEVELS or len(levels) < 2:
        levels = [n / _LEVELS for n in range(_LEVELS + 1)]
    near = [[_nearest(x, levels) for x in row] for row in (scores, labels)]
    return {
        "accuracy": hits / len(true),
        "accuracy_interval": list(wilson(hits, len(true))),
        "kappa": _number(cohen(said, true)),
        "kappa_quadratic": _number(cohen(*near, levels=levels)),
        "alpha": _number(krippendorff([scores, labels])),
    }


def _nearest(value: float, levels: Sequence[float]) -> float:
    return min(levels, key=lambda level: (abs(level - value), level))


def _flips(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """How often the order of a pair changes the verdict on it."""
    flipped = sum(a != b for a, b in pairs)
    return {
        "pairs": len(pairs),
        "flip_rate": flipped / len(pairs) if pairs else None,
        "flip_interval": list(wilson(flipped, len(pairs))) if pairs else None,
    }


def _held_out(
    judged: Judged, styles: Sequence[Mapping[str, float]], *, style: bool
) -> dict[str, float | None]:
    """ECE and alpha after slopes and a map that were fitted on other tasks: their worth on what
    they never saw.
    """
    keys = [row.task.id or row.task.prompt for row in judged.rows]
    folds = [
        hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[0] % _FOLDS for key in keys
    ]
    mapped = []
    true = []
    for fold in sorted(set(folds)):
        others = [n for n, own in enumerate(folds) if own != fold]
        if not others:
            return {"ece_held_out": None, "alpha_held_out": None}
        labels = [judged.rows[n].label for n in others]
        scores = [judged.scores[n] for n in others]
        slopes = fit([styles[n] for n in others], scores, labels) if style else Slopes({})
        corrected = [slopes.corrected(judged.scores[n], styles[n]) for n in others]
        found = isotonic(corrected, labels)
        for n, own in enumerate(folds):
            if own == fold:
                mapped.append(found.apply(slopes.corrected(judged.scores[n], styles[n])))
                true.append(judged.rows[n].label)
    alpha = krippendorff([mapped, true])
    return {"ece_held_out": _number(ece(mapped, true)), "alpha_held_out": _number(alpha)}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _finite(bounds: tuple[float, float]) -> list[float] | None:
    return list(bounds) if all(map(math.isfinite, bounds)) else None
