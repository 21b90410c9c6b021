"""A page with the reliability diagram: one file, no script, light and dark."""

from __future__ import annotations

from html import escape
from typing import Any

from .measure import Measured

__all__ = ["page", "svg"]

_SIDE, _EDGE = 320, 40
_STYLE = (
    ":root{color-scheme:light dark;--ink:#1d2430;--soft:#8a93a3;--page:#fff;--dot:#1f6feb;--map:#c2410c}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#7d8797;--page:#11151c;--dot:#6ea8fe;--map:#fb923c}}"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:44rem;margin:2rem auto;"
    "padding:0 1rem}td{padding:.1rem 1.5rem .1rem 0}svg{max-width:100%;height:auto}"
)


def page(title: str, measured: Measured) -> str:
    """The whole page."""
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(_shown(value))}</td></tr>"
        for name, value in measured.figures.items()
        if name != "slopes"
    )
    slopes = "".join(
        f"<tr><td>slope of {escape(name)}</td><td>{escape(_shown(found['slope']))} "
        f"{escape(_shown(found['interval']))}</td></tr>"
        for name, found in measured.figures["slopes"].items()
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style><h1>{escape(title)}</h1>'
        f"{svg(measured)}<p>Dots: mean label of the responses with about this score, their area by their number. "
        f"Line: the isotonic map. Dashed: a perfect judge.</p><table>{rows}{slopes}</table></html>\n"
    )


def svg(measured: Measured) -> str:
    """Scores to the right, labels upward."""
    whole = _SIDE + 2 * _EDGE
    most = max((each.count for each in measured.bins), default=1)
    dots = "".join(
        f'<circle cx="{_x(each.score)}" cy="{_y(each.label)}" r="{3 + 9 * (each.count / most) ** 0.5:.1f}" '
        f'fill="var(--dot)" fill-opacity=".75"><title>{each.count} responses</title></circle>'
        for each in measured.bins
    )
    line = " ".join(f"{_x(n / 100)},{_y(measured.isotonic.apply(n / 100))}" for n in range(101))
    ticks = "".join(
        f'<text x="{_x(v)}" y="{_y(0) + 16}" text-anchor="middle">{v:g}</text>'
        f'<text x="{_x(0) - 6}" y="{_y(v) + 4}" text-anchor="end">{v:g}</text>'
        for v in (0.0, 0.5, 1.0)
    )
    return (
        f'<svg viewBox="0 0 {whole} {whole}" width="{whole}" role="img" aria-label="Reliability diagram" '
        f'font-size="12" fill="var(--ink)"><rect x="{_EDGE}" y="{_EDGE}" width="{_SIDE}" height="{_SIDE}" fill="none" '
        f'stroke="var(--soft)"/><line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="var(--soft)" '
        f'stroke-dasharray="4 4"/><polyline points="{line}" fill="none" stroke="var(--map)" stroke-width="2"/>{dots}'
        f'{ticks}<text x="{_x(0.5)}" y="{whole - 4}" text-anchor="middle">score of the judge</text>'
        f'<text x="{_EDGE}" y="{_EDGE - 8}">label</text></svg>'
    )


def _x(value: float) -> float:
    return round(_EDGE + _SIDE * value, 1)


def _y(value: float) -> float:
    return round(_EDGE + _SIDE * (1 - value), 1)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return "(95 %: " + " to ".join(_shown(each) for each in value) + ")"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
