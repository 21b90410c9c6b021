"""A calibration that a stage applies to what its judge says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from rlenv import ConfigError

from .stats.calibration import Isotonic
from .stats.length import Slopes, features

__all__ = ["Applied"]


@frozen
class Applied:
    """A calibration, as a stage applies it: style taken off first, then the map."""

    isotonic: Isotonic | None = None
    slopes: Slopes | None = None

    @classmethod
    def read(cls, path: Path) -> Applied:
        """Read what ``rlenv judge calibrate`` wrote.

        Raises:
            ConfigError: naming the file and what is wrong with it.
        """
        try:
            data = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as err:
            raise ConfigError(f"calibration: {path} cannot be read: {err}") from None
        if not isinstance(data, Mapping) or data.get("schema") != "rlenv.calibration/1":
            raise ConfigError(f"calibration: {path} was not written by `rlenv judge calibrate`")
        found = data.get("isotonic")
        style = data.get("style")
        return cls(
            Isotonic.from_dict(found) if isinstance(found, Mapping) else None,
            Slopes.from_dict(style) if isinstance(style, Mapping) else None,
        )

    def to(self, score: float, response: str) -> tuple[float, dict[str, Any]]:
        said: dict[str, Any] = {"judged": score}
        if self.slopes is not None:
            score = self.slopes.corrected(score, features(response))
            said["style_controlled"] = score
        if self.isotonic is not None:
            score = self.isotonic.apply(score)
        return min(1.0, max(0.0, score)), said
