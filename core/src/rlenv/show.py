"""A verdict for a reader: plain lines and an HTML table, escaped, cut, and without private data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from unicodedata import east_asian_width

from .composites import ROOTS
from .near import one_line
from .record import result_rows
from .values import Fault, Verdict

WIDTH = 100  # columns of a line
NOTE_LINES = 4  # of one detail or message; the rest is cut


def stage_lines(
    rows: Iterable[Mapping[str, Any]],
    more: Callable[[Mapping[str, Any]], Iterable[str]] = lambda _: (),
) -> Iterator[str]:
    """A line per stage (path, score, what it counts for); under it, indented, its detail or fault.

    Args:
        rows: stages as ``rlenv.record.result_rows`` gives them.
        more: further lines under a stage; they are shown as they are.
    """
    for row in rows:
        yield from _folded("  ", f"{row['name']}: {', '.join(filter(None, _worth(row)))}", 1)
        yield from _folded("      ", _note(row), NOTE_LINES)
        yield from more(row)
        yield from stage_lines(row["children"], more)


def as_text(verdict: Verdict) -> str:
    """What ``print`` shows."""
    return "\n".join([*_folded("", _total(verdict), NOTE_LINES), *stage_lines(_rows(verdict))])


def as_html(verdict: Verdict) -> str:
    """What a notebook shows: a table of text alone."""
    from html import escape

    def table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        for row in rows:
            cells = (row["name"], *_worth(row), _note(row))
            shown = (f"<td>{escape(one_line(cell, NOTE_LINES * WIDTH))}</td>" for cell in cells)
            yield f"<tr>{''.join(shown)}</tr>"
            yield from table(row["children"])

    total = escape(one_line(_total(verdict), NOTE_LINES * WIDTH))
    return f"<table><caption>{total}</caption>{''.join(table(_rows(verdict)))}</table>"


def _worth(row: Mapping[str, Any]) -> tuple[str, str]:
    """The score of a stage, and what it counts for: "" where the composition is not known any more."""
    gate, score = row["gate"], row["score"]
    said = [f"{name} {row[name]:g}" for name in ("weight", "bonus", "penalty") if row[name]]
    if gate is not None:
        passed = "open" if score is None else "FAILED" if score < gate else "passed"
        said.append(f"gate {gate:g} {passed}")
    shown = "no score" if score is None else f"score {score:.6g}"
    return shown, ", ".join(said) or ("" if row["weight"] is None else "weight 0")


def _note(row: Mapping[str, Any]) -> str:
    """The detail of a stage, or its fault."""
    return fault_line(Fault(**row["fault"])) if row["fault"] else str(row["detail"])


def fault_line(fault: Fault) -> str:
    """A fault on one line; the message is missing from what ``public()`` gave."""
    again = " (a retry may help)" if fault.transient else ""
    return f"fault: {fault.kind}{': ' * bool(fault.message)}{fault.message}{again}"


def _rows(verdict: Verdict) -> list[dict[str, Any]]:
    return result_rows(ROOTS.get(verdict.fingerprint), verdict.results)


def _total(verdict: Verdict) -> str:
    ended = f"; stopped at {verdict.stopped_at}" if verdict.stopped_at else ""
    if verdict.value is None:
        fault = None if verdict.results else verdict.fault
        return f"unscored: {fault_line(fault) if fault else 'a required stage failed'}{ended}"
    if verdict.raw not in (None, verdict.value):
        ended = f" (the sum {verdict.raw:.6g}, clamped){ended}"
    return f"reward {verdict.value:.6g}{ended}"


def _folded(pad: str, text: str, lines: int) -> Iterator[str]:
    from textwrap import wrap

    wide = any(east_asian_width(character) in "WF" for character in text[: 8 * lines * WIDTH])
    width = (WIDTH - len(pad)) // (1 + wide)
    shown = one_line(text, 2 * lines * width)
    return (pad + line for line in wrap(shown, width, max_lines=lines, placeholder=" ..."))
