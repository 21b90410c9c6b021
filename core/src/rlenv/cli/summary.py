"""The summary of a run, as tables for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.table import Table

from .stats import Interval, band
from .tally import Tally, pass_at, pass_interval, reward_interval, signal, splits
from .text import amount, duration, one_line

if TYPE_CHECKING:
    from rich.console import Console

BANDS = {
    "below": "below the 0.1-9 % band of a launch benchmark: too hard to tell models apart",
    "inside": "inside the 0.1-9 % band of a launch benchmark",
    "above": "above the 0.1-9 % band of a launch benchmark",
}


def show(
    console: Console, tally: Tally, *, title: str, pass_mark: float, wall: float | None
) -> None:
    """Print everything that is known of these rows; ``wall`` is the run's own time in seconds."""
    console.print(_overall(tally, title, pass_mark, wall))
    if tally.tasks:
        console.print(_splits(tally))
    if tally.stages:
        console.print(_stages(tally))
    if tally.unscored:
        console.print(_reasons(tally))
    if tally.rows:
        console.print(_slowest(tally))


def _table(title: str, *columns: str, left: int = 1) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < left else "right", overflow="fold")
    return table


def _overall(tally: Tally, title: str, pass_mark: float, wall: float | None) -> Table:
    table = Table(
        title=title, title_justify="left", box=SIMPLE, show_header=False, title_style="bold"
    )
    table.add_column()
    table.add_column(overflow="fold")
    rows = [("responses", f"{tally.rows:,} to {amount(len(tally.tasks), 'task')}")]
    rows += [("mean reward", _interval(reward_interval(tally)))]
    rate = pass_interval(tally)
    rows += [(f"pass rate (at {pass_mark:g})", _interval(rate, percent=True))]
    if rate is not None:
        rows += [("", BANDS[band(rate.mean)])]
    if ks := pass_at(tally):
        rows += [
            ("pass@k", ", ".join(f"@{k} {value:.3f} ({amount(n, 'task')})" for k, value, n in ks))
        ]
    rows += _signal(tally)
    rows += [("unscored", f"{tally.unscored:,}" if tally.unscored else "none")]
    rows += [("time per response", _times(tally))]
    if wall is not None:
        rows += [("time of this run", duration(wall))]
    for row in rows:
        table.add_row(*row)
    return table


def _interval(found: Interval | None, *, percent: bool = False) -> str:
    if found is None:
        return "nothing was scored"
    mean = _number(found.mean, percent=percent)
    if found.low is None or found.high is None:
        return f"{mean} ({found.method})"
    low, high = _number(found.low, percent=percent), _number(found.high, percent=percent)
    return f"{mean}  (95 %: {low} to {high}; {found.method})"


def _number(x: float, *, percent: bool) -> str:
    return f"{100 * x:.2f} %" if percent else f"{x:.4f}"


def _signal(tally: Tally) -> list[tuple[str, str]]:
    found = signal(tally)
    if found is None:
        return []
    flat = found.tasks - found.varying
    said = (
        f"{flat:,} of {amount(found.tasks, 'task')} with several responses do not vary and carry none "
        f"({flat / found.tasks:.1%}): {found.all_zero:,} all 0, {found.all_one:,} all 1, "
        f"{found.all_equal:,} otherwise equal"
    )
    return [("group signal", said)]


def _times(tally: Tally) -> str:
    p50, p95 = duration(tally.times.at(0.5)), duration(tally.times.at(0.95))
    return f"median {p50}, p95 {p95}, total {duration(tally.seconds)}"


def _splits(tally: Tally) -> Table:
    table = _table(
        "By split", "split", "responses", "passed", "pass rate", "95 % interval", "unscored"
    )
    for split, (n, passes, unscored) in sorted(splits(tally).items()):
        found = pass_interval(tally, split)
        rate = f"{100 * found.mean:.2f} %" if found else "-"
        known = found is not None and found.low is not None and found.high is not None
        bounds = f"{100 * found.low:.2f} to {100 * found.high:.2f} %" if known else "-"  # type: ignore[union-attr,operator]
        table.add_row(
            one_line(split, 30), f"{n + unscored:,}", f"{passes:,}", rate, bounds, f"{unscored:,}"
        )
    return table


def _stages(tally: Tally) -> Table:
    columns = (
        "stage",
        "use",
        "phase",
        "ran",
        "mean score",
        "gate failed",
        "faults",
        "median",
        "p95",
        "total",
    )
    table = _table("By stage", *columns, left=3)
    for path, s in tally.stages.items():
        mean = "-" if s.mean is None else f"{s.mean:.4f}"
        times = (duration(s.times.at(0.5)), duration(s.times.at(0.95)), duration(s.seconds))
        counts = (f"{s.n + s.faults:,}", mean, f"{s.gate_failures:,}", f"{s.faults:,}")
        table.add_row(one_line(path, 40), one_line(s.use, 40), s.phase, *counts, *times)
    return table


def _reasons(tally: Tally) -> Table:
    table = Table(title="Unscored", title_justify="left", box=SIMPLE, title_style="bold")
    table.add_column("kind")
    table.add_column("rows", justify="right")
    table.add_column("first, with its row", overflow="fold")
    for kind, reason in sorted(tally.reasons.items(), key=lambda pair: -pair[1].count):
        table.add_row(
            one_line(kind),
            f"{reason.count:,}",
            f"row {reason.row}: {one_line(reason.message, 300)}",
        )
    return table


def _slowest(tally: Tally) -> Table:
    table = _table("Slowest", "row", "task", "time", left=2)
    for seconds, row, task in sorted(tally.slowest, reverse=True):
        table.add_row(str(-row), one_line(task, 60), duration(seconds))
    return table
