"""Line plots as small SVG files that read well on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

__all__ = ["Curve", "plot"]

WIDTH = 460
HEIGHT = 250
LEFT = 44
RIGHT = 12
TOP = 30
BOTTOM = 40
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.axis{stroke:#888}.grid{stroke:#8884}"
    "path{fill:none;stroke-width:2}.a{stroke:#0b62c4}.b{stroke:#c2410c}.c{stroke:#15803d}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}"
    ".a{stroke:#6db3ff}.b{stroke:#ff9a5c}.c{stroke:#5fd38a}}"
)


class Curve(NamedTuple):
    """A line through points (x, y), both in [0, 1], and what it is called."""

    name: str
    points: Sequence[tuple[float, float]]


def plot(title: str, across: str, up: str, curves: Sequence[Curve]) -> str:
    """An SVG of up to three curves, with a legend below the title."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<text x="{LEFT}" y="14" font-weight="600">{escape(title)}</text>',
        *_axes(across, up),
        *(line for place, curve in enumerate(curves) for line in _curve(place, curve)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _at(x: float, y: float) -> tuple[float, float]:
    """A point of the unit square, in the picture."""
    across = WIDTH - LEFT - RIGHT
    up = HEIGHT - TOP - BOTTOM
    return round(LEFT + x * across, 1), round(TOP + (1 - y) * up, 1)


def _axes(across: str, up: str) -> Iterator[str]:
    for step in range(6):
        value = step / 5
        left, y = _at(0, value)
        right, _ = _at(1, value)
        x, low = _at(value, 0)
        yield f'<line class="grid" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>'
        yield f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{value:g}</text>'
        yield f'<text x="{x}" y="{low + 16}" text-anchor="middle">{value:g}</text>'
    x0, y0 = _at(0, 0)
    x1, _ = _at(1, 0)
    _, y1 = _at(0, 1)
    yield f'<path class="axis" d="M{x0} {y1}V{y0}H{x1}"/>'
    yield f'<text x="{x1}" y="{y0 + 33}" text-anchor="end">{escape(across)}</text>'
    middle = (y0 + y1) / 2
    yield (
        f'<text transform="translate(11 {middle:g})rotate(-90)"'
        f' text-anchor="middle">{escape(up)}</text>'
    )


def _curve(place: int, curve: Curve) -> Iterator[str]:
    name = "abc"[place]
    path = "L".join(f"{x} {y}" for x, y in (_at(*point) for point in curve.points))
    yield f'<path class="{name}" d="M{path}"/>'
    x, y = _at(0.03, 0.95 - 0.085 * place)
    yield (
        f'<path class="{name}" d="M{x} {y}h18"/><text x="{x + 24}"'
        f' y="{y + 4}">{escape(curve.name)}</text>'
    )
