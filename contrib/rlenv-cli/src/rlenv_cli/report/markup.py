"""Pieces of HTML and SVG, in ASCII; every text that comes from data passes ``esc``."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from rlenv_cli.console import duration, visible
from rlenv_cli.scores.stats import Interval

from .bars import LABELS, Bars


def esc(text: object, limit: int = 2000) -> str:
    """Text made harmless: markup escaped, control and direction marks shown as escapes."""
    whole = str(text)
    kept = whole if len(whole) <= limit else whole[: limit - 1] + "\u2026"
    return html.escape(visible(kept)).encode("ascii", "xmlcharrefreplace").decode("ascii")


def section(title: str, body: str, kind: str = "") -> str:
    return f'<section class="{kind}"><h2>{esc(title)}</h2>{body}</section>' if body else ""


def figure(label: str, value: str, *notes: str) -> str:
    """A key figure: its name, the number, and lines beneath that are HTML already."""
    said = "".join(f'<p class="note">{note}</p>' for note in notes if note)
    return f'<div class="figure"><h3>{esc(label)}</h3><p class="number">{value}</p>{said}</div>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1, caption: str = ""
) -> str:
    """A table of cells that are HTML already; the first ``left`` columns are texts, the rest
    numbers.
    """
    kinds = ["" if i < left else ' class="n"' for i in range(len(heads))]
    top = "".join(f'<th scope="col"{k}>{esc(h)}</th>' for h, k in zip(heads, kinds, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{k}>{c}</td>" for c, k in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    said = f"<caption>{esc(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table>{said}<thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def row_link(row: int) -> str:
    """A link that opens a row of the table (rows count from 1)."""
    return f'<a href="#row-{row}">row {row:,}</a>'


def took(seconds: float) -> str:
    """A duration as HTML, with a real micro sign."""
    return duration(seconds).replace(" us", " &micro;s")


def code(text: str, shown: int = 12) -> str:
    return f'<code title="{esc(text)}">{esc(text[:shown])}</code>'


def percent(x: float, digits: int = 1) -> str:
    """``100 %`` and ``0 %`` only where nothing is rounded away."""
    return f"{100 * x:.0f} %" if x in {0.0, 1.0} else f"{100 * x:.{digits}f} %"


def signed(x: float, digits: int = 4) -> str:
    """A difference with a real minus sign."""
    text = f"{abs(x):.{digits}f}"
    if not float(text):
        return text
    return f"+{text}" if x > 0 else f"&minus;{text}"


def bounds(found: Interval | None, *, percents: bool = True) -> str:
    """The interval in words, or why there is none."""
    if found is None:
        return "nothing was scored"
    if found.low is None or found.high is None:
        return esc(found.method)
    low, high = (percent(x) if percents else f"{x:.3f}" for x in (found.low, found.high))
    return f'95 %: {low} to {high} <span class="how">({esc(found.method)})</span>'


def interval_bar(found: Interval | None) -> str:
    """A line from 0 to 1 with the interval as a band and the mean as a tick."""
    if found is None:
        return ""
    low = found.low
    high = found.high
    band = (
        ""
        if low is None or high is None
        else (
            f'<rect class="band" x="{200 * low:.1f}" y="2"'
            f' width="{max(1.0, 200 * (high - low)):.1f}" height="8" rx="2"/>'
        )
    )
    tick = f'<rect class="tick" x="{200 * found.mean - 1:.1f}" y="0" width="2" height="12"/>'
    return (
        '<svg class="interval" viewBox="-2 0 204 12" aria-hidden="true"><line x1="0" x2="200"'
        f' y1="6" y2="6"/>{band}{tick}</svg>'
    )


def spark(bars: Bars) -> str:
    """The distribution of a stage's scores, as small as a word."""
    top = max(bars.counts) or 1
    rects = "".join(
        f'<rect class="b{i}" x="{7 * i}" y="{20 - _height(n, top, 20):.1f}" width="5.5"'
        f' height="{_height(n, top, 20):.1f}"/>'
        for i, n in enumerate(bars.counts)
    )
    said = "; ".join(f"{label}: {n:,}" for label, n in zip(LABELS, bars.counts, strict=True) if n)
    title = esc(said or "no score")
    return (
        '<svg class="spark" viewBox="0 0 84 21" role="img"'
        f' aria-label="{title}"><title>{title}</title>{rects}<line x1="0" x2="82.5" y1="20.5"'
        ' y2="20.5"/></svg>'
    )


def _height(n: int, top: int, full: float) -> float:
    return max(1.0, full * n / top) if n else 0.0


def histogram(bars: Bars, other: Bars | None = None) -> str:
    """The distribution of rewards; with ``other``, bars of two runs side by side."""
    runs = [bars] if other is None else [bars, other]
    top = max(max(run.counts) for run in runs) or 1
    rects = "".join(_columns(runs, i, top) for i in range(len(LABELS)))
    said = "; ".join(f"{label}: {n:,}" for label, n in zip(LABELS, bars.counts, strict=True) if n)
    return (
        f'<svg class="hist" viewBox="0 0 660 200" role="img" aria-label="Rewards: {esc(said)}">'
        f'<line x1="0" x2="660" y1="180.5" y2="180.5"/>{rects}'
        "</svg>"
    )


def _columns(runs: Sequence[Bars], i: int, top: int) -> str:
    x = 55 * i + 6
    width = 43 / len(runs)
    parts = []
    for k, run in enumerate(runs):
        n = run.counts[i]
        left = x + k * width
        tall = _height(n, top, 150)
        name = f"{'AB'[k]}, " if len(runs) > 1 else ""
        kind = f"run{k}" if len(runs) > 1 else f"b{i}"
        parts.append(
            f'<g><title>{name}{LABELS[i]}: {n:,}</title><rect class="{kind}" x="{left:.1f}"'
            f' y="{180 - tall:.1f}" width="{width - 1:.1f}" height="{tall:.1f}"/>'
            + (
                f'<text class="count" x="{left + width / 2:.1f}" y="{174 - tall:.1f}"'
                f' text-anchor="middle">{_count(n, narrow=len(runs) > 1)}</text>'
                if n
                else ""
            )
            + "</g>"
        )
    ends = [f"{t / 10:g}".replace("0.", ".") for t in (i - 1, i)]
    label = {0: "0", 11: "1"}.get(i, "&ndash;".join(ends))
    return "".join(parts) + f'<text x="{x + 21.5}" y="195" text-anchor="middle">{label}</text>'


def _count(n: int, *, narrow: bool) -> str:
    if n < (1000 if narrow else 10_000):
        return f"{n:,}"
    return (
        f"{n / 1e6:.3g}M" if n >= 999_500 else f"{n / 1000:.{2 if narrow and n < 99_500 else 3}g}k"
    )
