"""The summary of a run, as tables for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.padding import Padding
from rich.table import Table

from rlenv_cli.scores import unscored
from rlenv_cli.scores.stats import Interval
from rlenv_cli.scores.tally import Tally, pass_at, pass_interval, reward_interval, signal, splits

from .console import amount, duration, one_line

if TYPE_CHECKING:
    from rich.console import Console


LABEL = 13  # columns of a label of the first lines, with the space after it


def show(
    console: Console, tally: Tally, *, title: str, pass_mark: float, wall: float | None
) -> None:
    """Print everything that is known of these rows; ``wall`` is the run's own time in seconds."""
    for line in overview(tally, title, pass_mark, wall, console.width):
        console.print(line, soft_wrap=True)
    console.print()
    if len(splits(tally)) > 1:
        console.print(_splits(tally, console))
    if tally.stages:
        console.print(_stages(tally, console))
    if tally.unscored:
        console.print("Unscored", style="bold")
        for line in [*_reasons(tally), *unscored.advice(tally)]:
            console.print(Padding(line, (0, 0, 0, 2)))
        console.print()
    if tally.rows:
        console.print(_slowest(tally, console.width))


def overview(
    tally: Tally, title: str, pass_mark: float, wall: float | None, width: int
) -> Iterator[str]:
    """The first lines: a title and up to six figures, each cut at a comma where ``width`` is too
    small for it.
    """
    counts = f"{amount(tally.rows, 'response')} to {amount(len(tally.tasks), 'task')}"
    took = [] if wall is None else [f" in {duration(wall)}"]
    yield _cut([f"{one_line(title, max(width - len(counts) - 2, 8))}: {counts}", *took], width)
    named = [
        ("mean reward", _interval(reward_interval(tally))),
        ("pass rate", _interval(pass_interval(tally), f"a pass is {pass_mark:g} or more")),
        ("pass@k", _pass_at(pass_at(tally))),
        ("no signal", _signal(tally)),
        ("unscored", _unscored(tally)),
        ("time", _times(tally)),
    ]
    for label, parts in named:
        if parts:
            yield f"  {label:<{LABEL}}{_cut(parts, width - LABEL - 2)}"


def _cut(parts: Sequence[str], width: int) -> str:
    """As many of the first ``parts`` as fit; the first always."""
    shown = parts[0]
    for part in parts[1:]:
        if len(shown) + len(part) > width:
            break
        shown += part
    return shown


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _fitted(
    console: Console,
    title: str,
    columns: Mapping[str, Sequence[str]],
    left: int,
    spare: Sequence[str],
) -> Table:
    """A table that drops columns, the first of ``spare`` first, until it is no wider than the
    screen.
    """
    kept = dict(columns)
    names = list(spare)
    while True:
        text = sum(name in kept for name in [*columns][:left])
        table = _table(title, list(kept), list(zip(*kept.values(), strict=True)), text)
        wide = console.measure(table, options=console.options.update(width=1000)).maximum
        if wide <= console.width or not names:
            return table
        kept.pop(names.pop(0), None)


def _interval(found: Interval | None, note: str = "") -> list[str]:
    """A mean with its 95 % interval and notes; as a rate in percent where ``note`` says what is
    counted.
    """
    if found is None:
        return ["nothing was scored"]
    how = found.method.removeprefix("Wilson").removeprefix(", ")
    parts = [_number(found.mean, percent=bool(note))]
    if found.low is not None and found.high is not None:
        low, high = (_number(x, percent=bool(note)) for x in (found.low, found.high))
        parts.append(f", 95 % interval {low.removesuffix(' %')} to {high}")
    return parts + [f", {text}" for text in (note, how) if text]


def _number(x: float, *, percent: bool) -> str:
    return f"{100 * x:.2f} %" if percent else f"{x:.4f}"


def _pass_at(ks: Sequence[tuple[int, float, int]]) -> list[str]:
    """The number of tasks is given where it changes: some have too few responses for a larger k."""
    parts: list[str] = []
    before = -1
    for k, value, n in ks:
        count = f" ({amount(n, 'task')})" if n != before else ""
        parts.append(f"{', ' if parts else ''}@{k} {value:.3f}{count}")
        before = n
    return parts


def _signal(tally: Tally) -> list[str]:
    """The groups from which a group-relative trainer learns nothing, in the words of the HTML
    report.
    """
    found = signal(tally)
    if found is None:
        return []
    of = f"of {amount(found.tasks, 'task')}"
    flat = found.tasks - found.varying
    if not flat:
        return [f"none {of}", "; responses to a task get different rewards"]
    share = f"{100 * flat / found.tasks:.1f} % {of}"
    kinds = [(found.all_zero, "all 0"), (found.all_one, "all 1"), (found.all_equal, "all equal")]
    said = ", ".join(f"{n:,} {what}" for n, what in kinds if n)
    return [share, ": all responses get the same reward", f" ({said})"]


def _unscored(tally: Tally) -> list[str]:
    parts = [f"{tally.unscored:,}" if tally.unscored else "none"]
    if tally.hidden:
        share = _number(tally.hidden / tally.rows, percent=True)
        parts.append(f"; {share} of the responses have hidden reasoning")
    return parts


def _times(tally: Tally) -> list[str]:
    p50 = duration(tally.times.at(0.5))
    p95 = duration(tally.times.at(0.95))
    return [f"median {p50}", f", p95 {p95}", f", total {duration(tally.seconds)}"]


def _splits(tally: Tally, console: Console) -> Table:
    columns: dict[str, list[str]] = {
        name: []
        for name in ("split", "responses", "passed", "pass rate", "95 % interval", "unscored")
    }
    for split, (n, passes, left) in sorted(splits(tally).items()):
        found = pass_interval(tally, split)
        rate = f"{100 * found.mean:.2f} %" if found else "-"
        known = found is not None and found.low is not None and found.high is not None
        bounds = f"{100 * found.low:.2f} to {100 * found.high:.2f} %" if known else "-"  # type: ignore[union-attr,operator]
        row = (one_line(split, 30), f"{n + left:,}", f"{passes:,}", rate, bounds, f"{left:,}")
        for cells, cell in zip(columns.values(), row, strict=True):
            cells.append(cell)
    return _fitted(console, "By split", columns, 1, ("passed", "95 % interval"))


def _stages(tally: Tally, console: Console) -> Table:
    stages = tally.stages.values()
    columns = {
        "stage": [one_line(path, 40) for path in tally.stages],
        "use": [one_line(s.use, 40) for s in stages],
        "phase": [s.phase for s in stages],
        "ran": [f"{s.n + s.faults:,}" for s in stages],
        "mean score": ["-" if s.mean is None else f"{s.mean:.4f}" for s in stages],
        "gate failed": [f"{s.gate_failures:,}" for s in stages],
        "faults": [f"{s.faults:,}" for s in stages],
        "median": [duration(s.times.at(0.5)) for s in stages],
        "p95": [duration(s.times.at(0.95)) for s in stages],
        "total": [duration(s.seconds) for s in stages],
    }
    empty = [name for name in ("gate failed", "faults") if set(columns[name]) == {"0"}]
    spare = ["phase", "use", "median", *empty, "p95", "gate failed", "total"]
    return _fitted(console, "By stage", columns, 3, spare)


def _reasons(tally: Tally) -> Iterator[str]:
    for reason in unscored.reasons(tally):
        where = f" in {one_line(reason.stage, 40)}" if reason.stage else ""
        rows = f"{amount(reason.count, 'row')}, first row {reason.row}"
        yield f"{one_line(reason.kind)}{where}: {rows}: {one_line(reason.message, 300)}"


def _slowest(tally: Tally, width: int) -> Table:
    rows = [
        (str(-row), one_line(task, max(width - 32, 8)), duration(seconds))
        for seconds, row, task in sorted(tally.slowest, reverse=True)
    ]
    return _table("Slowest", ("row", "task", "time"), rows, 2)
