"""A certificate: which laws a plugin passed, with which versions, for machines and for a README."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlenv.plugins.registry import registry, version

SCHEMA = "rlenv.certificate/1"
Row = Mapping[str, Any]


def certificate(
    names: Sequence[str], rows: Sequence[Row], *, seed: int, examples: int, seconds: float
) -> dict[str, Any]:
    """All that a run of the laws showed, as JSON values.

    Args:
        names: the plugins that were checked.
        rows: what came out of each law on each stage.
        seconds: wall time of the run.
    """
    return {
        "schema": SCHEMA,
        "certified": certified(rows),
        **counts(rows),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "rlenv": version("rlenv-core"),
        "seed": seed,
        "drawn": examples,
        "seconds": round(seconds, 3),
        "plugins": [_plugin(name, rows) for name in names],
    }


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """How many laws passed, were skipped, failed and could not be checked."""
    found = {"passed": 0, "skipped": 0, "failed": 0, "unchecked": 0}
    for row in rows:
        found[row["result"]] += 1
    return found


def certified(rows: Sequence[Row]) -> bool:
    """Return whether no law is broken or unchecked, and every stage was held to some."""
    stages = {row["stage"] for row in rows}
    held = {row["stage"] for row in rows if row["result"] == "passed"}
    bad = any(row["result"] in ("failed", "unchecked") for row in rows)
    return bool(rows) and stages == held and not bad


def _plugin(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    from rlenv.identity.content import content_of

    info = registry().info(name)
    own = [row for row in rows if row["stage"].partition("/")[0] == name]
    stages = dict.fromkeys(row["stage"] for row in own)
    return {
        "name": name,
        "distribution": info.distribution,
        "version": info.version,
        "content": f"sha256:{content_of(info.target.partition(':')[0].partition('.')[0])}",
        "stages": [
            {
                "stage": stage,
                "laws": [
                    {key: value for key, value in row.items() if key != "stage"}
                    for row in own
                    if row["stage"] == stage
                ],
            }
            for stage in stages
        ],
    }


def badge(rows: Sequence[Row]) -> str:
    """A small SVG that says how many laws hold."""
    number = counts(rows)
    if number["failed"]:
        said = f"{number['failed']} broken"
        color = "#b3261e"
    elif certified(rows):
        said = f"{number['passed']} hold"
        color = "#1f7a3d"
    else:
        said = "not checked"
        color = "#8a6d00"
    left = 74
    right = 14 + 7 * len(said)
    width = left + right
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" '
        f'aria-label="rlenv laws: {said}"><title>rlenv laws: {said}</title>'
        f'<clipPath id="r"><rect width="{width}" height="20" rx="4"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#3a3f47"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{color}"/></g>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
        f'text-anchor="middle"><text x="{left // 2}" y="14">rlenv laws</text>'
        f'<text x="{left + right // 2}" y="14">{said}</text></g></svg>\n'
    )
