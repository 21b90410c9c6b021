"""The reliability diagram and its figures, for a page of their own or a section of a report: no
script, light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from rlenv_plugin_judge.stats.calibration import Bin, Isotonic

if TYPE_CHECKING:
    from .measure import Measured

__all__ = ["body", "page", "shown", "svg"]

_SIDE = 320
_EDGE = 40
_STYLE = (
    ":root{color-scheme:light dark;--ink:#1d2430;--soft:#8a93a3;--page:#fff;--dot:#1f6feb;"
    "--map:#c2410c}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#7d8797;--page:#11151c;"
    "--dot:#6ea8fe;--map:#fb923c}}"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);"
    "max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "td{padding:.1rem 1.5rem .1rem 0}"
    "svg{max-width:100%;height:auto}"
    ".note{font-size:13px}"
)


def page(title: str, measured: Measured) -> str:
    """The whole page."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport"'
        f' content="width=device-width"><style>{_STYLE}</style><h1>{escape(title)}</h1>'
        f"{body(measured.isotonic, measured.bins, measured.figures)}</html>\n"
    )


def body(isotonic: Isotonic | None, bins: Sequence[Bin], figures: Mapping[str, Any]) -> str:
    """Picture, legend and figures."""
    rows = [(name, _said(name, figures)) for name in figures if _is_row(name, figures)]
    for name, found in figures.get("slopes", {}).items():
        rows.append((f"slope of {name}", f"{shown(found['slope'])} {shown(found['interval'])}"))
    cells = "".join(
        f"<tr><td>{escape(name.replace('_', ' '))}</td><td>{escape(said)}</td></tr>"
        for name, said in rows
    )
    return (
        f'{svg(isotonic, bins)}<p class="note">Dots: mean label of the responses with about this'
        " score, their area by their number. Line: the isotonic map. Dashed: a perfect"
        f" judge.</p><table>{cells}</table>"
    )


def _is_row(name: str, figures: Mapping[str, Any]) -> bool:
    return name != "slopes" and not name.endswith("_interval") and figures[name] is not None


def _said(name: str, figures: Mapping[str, Any]) -> str:
    """A figure with its interval, where it has one."""
    interval = figures.get(f"{name.removesuffix('_rate')}_interval")
    return shown(figures[name]) if interval is None else f"{shown(figures[name])} {shown(interval)}"


def svg(isotonic: Isotonic | None, bins: Sequence[Bin]) -> str:
    """Scores to the right, labels upward."""
    whole = _SIDE + 2 * _EDGE
    most = max((each.count for each in bins), default=1)
    dots = "".join(
        f'<circle cx="{_x(each.score)}" cy="{_y(each.label)}"'
        f' r="{3 + 9 * (each.count / most) ** 0.5:.1f}" fill="var(--dot,var(--accent))"'
        f' fill-opacity=".75"><title>{each.count} responses</title></circle>'
        for each in bins
    )
    line = "" if isotonic is None else " ".join(_point(isotonic, n / 100) for n in range(101))
    ticks = "".join(
        f'<text x="{_x(v)}" y="{_y(0) + 24}" text-anchor="middle">{v:g}</text>'
        f'<text x="{_x(0) - 16}" y="{_y(v) + 4}" text-anchor="end">{v:g}</text>'
        for v in (0.0, 0.5, 1.0)
    )
    return (
        f'<svg viewBox="0 0 {whole} {whole + 12}" width="{whole}" role="img"'
        f' aria-label="Reliability diagram" font-size="12" fill="var(--ink)"><rect x="{_EDGE}"'
        f' y="{_EDGE}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="var(--soft)"/><polyline'
        f' points="{_x(0)},{_y(0)} {_x(1)},{_y(1)}" fill="none" stroke="var(--soft)"'
        f' stroke-dasharray="4 4"/><polyline points="{line}" fill="none"'
        f' stroke="var(--map,var(--fail))" stroke-width="2"/>{dots}{ticks}<text x="{_x(0.5)}"'
        f' y="{whole + 4}" text-anchor="middle">score of the judge</text><text x="{_EDGE}"'
        f' y="{_EDGE - 18}">label</text></svg>'
    )


def _point(isotonic: Isotonic, score: float) -> str:
    return f"{_x(score)},{_y(isotonic.apply(score))}"


def _x(value: float) -> float:
    return round(_EDGE + _SIDE * value, 1)


def _y(value: float) -> float:
    return round(_EDGE + _SIDE * (1 - value), 1)


def shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return "(95 %: " + " to ".join(shown(each) for each in value) + ")"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
