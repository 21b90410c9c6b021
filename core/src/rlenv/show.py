"""A verdict for a reader: plain lines and an HTML table, escaped, cut, and without private data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from unicodedata import east_asian_width

from .near import one_line
from .values import Fault, StageResult, Verdict

WIDTH = 100  # columns of a line
NOTE_LINES = 4  # of one detail or message; the rest is cut


def as_text(verdict: Verdict) -> str:
    """What ``print`` shows: the reward, then for each stage its path, score, and detail or fault."""
    lines = [*folded("", _total(verdict), NOTE_LINES)]
    for path, score, note in _stages(verdict.results):
        lines += folded("  ", f"{path}: {score}", 1)
        lines += folded("      ", note, NOTE_LINES)
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """What a notebook shows: a table of text alone."""
    from html import escape

    def cut(text: str) -> str:
        return escape(one_line(text, NOTE_LINES * WIDTH))

    rows = "".join(
        f"<tr>{''.join(f'<td>{cut(cell)}</td>' for cell in cells)}</tr>"
        for cells in _stages(verdict.results)
    )
    return f"<table><caption>{cut(_total(verdict))}</caption>{rows}</table>"


def _stages(results: Iterable[StageResult]) -> Iterator[tuple[str, str, str]]:
    """The path, the score, and the detail or fault of each stage, children after their composite."""
    for result in results:
        if result.outcome is None:
            yield result.stage, "no score", fault_line(result.fault) if result.fault else ""
        else:
            yield result.stage, f"score {result.outcome.score:.6g}", str(result.outcome.detail)
        yield from _stages(result.children)


def fault_line(fault: Fault) -> str:
    """A fault on one line; the message is missing from what ``public()`` gave."""
    again = " (a retry may help)" if fault.transient else ""
    return f"fault: {fault.kind}{': ' * bool(fault.message)}{fault.message}{again}"


def _total(verdict: Verdict) -> str:
    ended = f"; stopped at {verdict.stopped_at}" if verdict.stopped_at else ""
    if verdict.value is None:
        fault = None if verdict.results else verdict.fault
        return f"unscored: {fault_line(fault) if fault else 'a required stage failed'}{ended}"
    if verdict.raw not in (None, verdict.value):
        ended = f" (the sum {verdict.raw:.6g}, clamped){ended}"
    return f"reward {verdict.value:.6g}{ended}"


def folded(pad: str, text: str, lines: int) -> Iterator[str]:
    """``text`` wrapped to at most so many lines behind ``pad``, safe to show."""
    from textwrap import wrap

    wide = any(east_asian_width(character) in "WF" for character in text[: 8 * lines * WIDTH])
    width = (WIDTH - len(pad)) // (1 + wide)
    shown = one_line(text, 2 * lines * width)
    return (pad + line for line in wrap(shown, width, max_lines=lines, placeholder=" ..."))
