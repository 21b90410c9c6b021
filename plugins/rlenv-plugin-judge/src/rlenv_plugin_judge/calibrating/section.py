"""What a report says of the judges' calibrations: the picture that ``rlenv judge calibrate`` drew,
out of its file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rlenv import ConfigError, Environment
from rlenv.authoring import File

from rlenv_plugin_judge.judging import Judging
from rlenv_plugin_judge.stats.calibration import Bin, Isotonic

from .picture import body

__all__ = ["sections"]


def sections(env: Environment) -> list[tuple[str, str]]:
    """(title, HTML) for every judge of ``env`` that a calibration is applied to."""
    return [
        (f"Calibration of {path}", _section(stage.calibration))
        for path, slot in env.stages.items()
        if isinstance(stage := slot.stage, Judging) and stage.calibration
    ]


def _section(file: File) -> str:
    """Raises ConfigError, where the file is no calibration any more."""
    try:
        data = json.loads(File(file).path.read_text("utf-8"))
        found = data.get("isotonic")
        isotonic = None if found is None else Isotonic.from_dict(found)
        drawn = body(isotonic, _bins(data.get("bins", ())), _figures(data))
    except (ConfigError, OSError, ValueError, TypeError, KeyError, AttributeError) as err:
        raise ConfigError(f"calibration: {str(file)!r} cannot be shown: {err}") from None
    note = "Scores of the judge against labels of people, before the map that this run applied."
    return f'<p class="note">{note}</p>{drawn}'


def _bins(rows: Any) -> tuple[Bin, ...]:
    found = tuple(Bin(int(count), float(score), float(label)) for count, score, label in rows)
    if any(not (b.count > 0 and 0 <= b.score <= 1 and 0 <= b.label <= 1) for b in found):
        raise ValueError("a bin is [count, score, label], both in [0, 1]")
    return found


def _figures(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"stage": data.get("stage", ""), **data.get("figures", {})}
