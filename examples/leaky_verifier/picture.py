"""The plot of train and held-out reward against the leak's strength, before and after the fix, as
one small SVG.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

__all__ = ["picture"]

WIDTH = 750
HEIGHT = 304
PANEL = 320
LEFT = 54
GAP = 44
TOP = 72
BASE = 262
LINES = {"train": ("t", "train"), "heldout": ("h", "held out")}
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.b{font-weight:600}"
    ".axis{stroke:#888;fill:none}.grid{stroke:#8884}"
    ".line{fill:none;stroke-width:2}.t{stroke:#0b62c4;fill:#0b62c4}.h{stroke:#c2410c;fill:#c2410c}"
    ".band{stroke:none;fill-opacity:.18}.chance{stroke:#888;stroke-dasharray:2 4}.line{fill:none}"
    ".line.h{stroke-dasharray:7 4}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}"
    ".t{stroke:#6db3ff;fill:#6db3ff}.h{stroke:#ff9a5c;fill:#ff9a5c}.line{fill:none}}"
)
Curve = Mapping[str, Sequence[float]]


def picture(found: Mapping[str, Any]) -> str:
    """An SVG of what ``train.py`` found: means over seeds after the last step, with 95 % intervals
    as bands.
    """
    title = "The reward of what was learned, against the strength of the leak"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<text x="{LEFT}" y="18" class="b">{escape(title)}</text>',
        (
            f'<text x="{LEFT}" y="36">mean of {found["seeds"]} seeds with its 95 % interval;'
            " dotted: choosing blindly</text>"
        ),
        *_panel(found, "before", "before the fix (env.toml)", 0),
        *_panel(found, "after", "after the fix (fixed.toml)", 1),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _panel(found: Mapping[str, Any], which: str, title: str, place: int) -> Iterator[str]:
    left = LEFT + place * (PANEL + GAP)
    strengths = found["strengths"]
    yield from _axes(left, title)
    y = _y(found["chance"])
    yield f'<path class="chance" d="M{left} {y}h{PANEL}"/>'
    for key, (style, name) in LINES.items():
        runs = found["before"] if which == "before" else [found["after"]] * len(strengths)
        last = {part: [run[key][part][-1] for run in runs] for part in ("mean", "low", "high")}
        yield from _curve(left, strengths, last, style, name)


def _axes(left: float, title: str) -> Iterator[str]:
    yield f'<text x="{left}" y="{TOP - 8}" class="b">{escape(title)}</text>'
    for step in range(6):
        x = left + PANEL * step / 5
        y = _y(step / 5)
        yield f'<line class="grid" x1="{left}" y1="{y}" x2="{left + PANEL}" y2="{y}"/>'
        yield f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{step / 5:g}</text>'
        yield f'<text x="{x:g}" y="{BASE + 16}" text-anchor="middle">{step / 5:g}</text>'
    yield f'<path class="axis" d="M{left} {TOP}V{BASE}h{PANEL}"/>'
    yield (
        f'<text x="{left + PANEL}" y="{BASE + 34}" text-anchor="end">leak strength: what the'
        " keyword pays</text>"
    )
    if left == LEFT:
        middle = (TOP + BASE) / 2
        yield (
            f'<text transform="translate(14 {middle:g})rotate(-90)" text-anchor="middle">reward of'
            " a response</text>"
        )


def _curve(
    left: float, strengths: Sequence[float], curve: Curve, style: str, name: str
) -> Iterator[str]:
    across = [round(left + PANEL * strength, 1) for strength in strengths]
    low, mean, high = (
        [f"{x:g} {_y(v):g}" for x, v in zip(across, curve[part], strict=True)]
        for part in ("low", "mean", "high")
    )
    yield f'<path class="band {style}" d="M{"L".join([*high, *reversed(low)])}Z"/>'
    yield f'<path class="line {style}" d="M{"L".join(mean)}"/>'
    y = _y(curve["mean"][-1])
    yield f'<text x="{left + PANEL - 4}" y="{y - 8:g}" text-anchor="end">{name}</text>'


def _y(value: float) -> float:
    return round(BASE - (BASE - TOP) * value, 1)
