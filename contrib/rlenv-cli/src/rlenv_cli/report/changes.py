"""The upper half of a report of two runs: what changed from A to B, and for which tasks."""

from __future__ import annotations

from rlenv_cli.console import amount
from rlenv_cli.scores.tally import pass_interval, reward_interval

from .compare import CHANGES, Comparison, Shift, TaskChange, most_changed, shift
from .gather import Gathered
from .markup import code, esc, figure, histogram, percent, section, signed, spark, table, took
from .summary import head

WORDS = {
    "gained": "a higher reward in B",
    "lost": "a lower reward in B",
    "newly unscored": "scored in A, not in B",
    "newly scored": "scored in B, not in A",
    "same": "the same reward, or unscored in both",
    "only in A": "no partner in B",
    "only in B": "no partner in A",
}


def header(found: Comparison, *, public: bool) -> str:
    """Which two runs these are."""
    parts = [_run(name, run) for name, run in (("A", found.a), ("B", found.b))]
    return head(found.a.header.env, "comparison of two runs", parts, public=public, between="")


def _run(name: str, run: Gathered) -> str:
    when = f"{run.written.day} {run.written:%B %Y, %H:%M} UTC"
    return (
        f'<span class="run"><b>{name}</b> {esc(run.shown, 80)},'
        f" {esc(amount(run.tally.rows, 'response'))}, {when}, fingerprint"
        f" {code(run.header.fingerprint)}</span>"
    )


def body(found: Comparison) -> str:
    """Every section of the comparison."""
    return "".join(
        [
            f'<div class="figures">{_figures(found)}</div>',
            '<div class="two even">',
            section("What changed", _changes(found)),
            section("Rewards", _rewards(found)),
            "</div>",
            section("Tasks", _tasks(found)),
            section("Stages", _stages(found)),
        ]
    )


def _figures(found: Comparison) -> str:
    a = found.a.tally
    b = found.b.tally
    rates = pass_interval(a), pass_interval(b)
    means = reward_interval(a), reward_interval(b)
    passes = tuple(None if r is None else r.mean for r in rates)
    rewards = tuple(None if m is None else m.mean for m in means)
    times = a.times.at(0.5), b.times.at(0.5)
    ratio = f"{times[1] / times[0]:.2g} times A's" if times[0] else ""
    return (
        figure("Pass rate", _points(*passes), _from_to(*passes))
        + figure(
            "Mean reward",
            _delta(*rewards),
            _from_to(*rewards, percents=False),
            _paired(shift(found.tasks)),
        )
        + figure(
            "Unscored", _more(b.unscored - a.unscored), f"{a.unscored:,} &rarr; {b.unscored:,}"
        )
        + figure(
            "Time per response",
            took(times[1]),
            f"median, from {took(times[0])}",
            esc(ratio),
        )
    )


def _delta(a: float | None, b: float | None) -> str:
    return "&ndash;" if a is None or b is None else signed(b - a)


def _points(a: float | None, b: float | None) -> str:
    if a is None or b is None:
        return "&ndash;"
    return f'{signed(100 * (b - a), 1)} <span class="unit">points</span>'


def _from_to(a: float | None, b: float | None, *, percents: bool = True) -> str:
    said = ["nothing scored" if x is None else _point(x, percents=percents) for x in (a, b)]
    return " &rarr; ".join(said)


def _point(x: float, *, percents: bool) -> str:
    return percent(x, 2) if percents else f"{x:.4f}"


def _more(n: int) -> str:
    if not n:
        return "0"
    return f"+{n:,}" if n > 0 else f"&minus;{-n:,}"


def _paired(found: Shift | None) -> str:
    if found is None:
        return "no row is scored in both"
    lead = f"{signed(found.mean)} over {esc(amount(found.rows, 'row'))} scored in both"
    if found.low is None or found.high is None:
        return f"{lead}; one task: no interval"
    return f"{lead}; 95 %: {signed(found.low)} to {signed(found.high)}"


def _changes(found: Comparison) -> str:
    counts = found.counts
    total = sum(counts.values())
    rows = [
        (
            f'<span class="key c{CHANGES.index(name)}"></span>{esc(name)}',
            f'<span class="how">{esc(WORDS[name])}</span>',
            f"{n:,}",
            percent(n / total),
        )
        for name, n in counts.items()
        if n or name in CHANGES[:3]
    ]
    return table(("in B against A", "", "rows", "share"), rows, left=2) + _flips(found)


def _flips(found: Comparison) -> str:
    pairs = [(p.a, p.b) for p in found.pairs if p.a is not None and p.b is not None]
    flips = [(found.a.columns.passed[i], found.b.columns.passed[j]) for i, j in pairs]
    up = flips.count((False, True))
    down = flips.count((True, False))
    return (
        f"<p>{esc(amount(up, 'row'))} went from failed to passed, {down:,} from passed to"
        " failed.</p>"
    )


def _rewards(found: Comparison) -> str:
    legend = (
        '<ul class="legend"><li><span class="key run0"></span>A</li><li><span class="key'
        ' run1"></span>B</li></ul>'
    )
    return histogram(found.a.rewards, found.b.rewards) + legend


def _tasks(found: Comparison) -> str:
    up = sum(t.delta > 1e-9 for t in found.tasks.values())
    down = sum(t.delta < -1e-9 for t in found.tasks.values())
    same = len(found.tasks) - up - down
    lead = (
        f"<p>Of {esc(amount(len(found.tasks), 'task'))} scored in both, {up:,} gained, {down:,}"
        f" lost, {same:,} kept their mean reward.</p>"
    )
    tables = [
        _most("gained most", most_changed(found, 1)),
        _most("lost most", most_changed(found, -1)),
    ]
    return f'{lead}<div class="pair">{"".join(tables)}</div>'


def _most(caption: str, rows: list[tuple[str, TaskChange]]) -> str:
    cells = [
        (esc(task, 60), f"{t.a / t.n:.3f}", f"{t.b / t.n:.3f}", signed(t.delta, 3), f"{t.n:,}")
        for task, t in rows
    ]
    return table(("task", "A", "B", "change", "rows"), cells, caption=caption) if rows else ""


def _stages(found: Comparison) -> str:
    names = list(dict.fromkeys([*found.a.tally.stages, *found.b.tally.stages]))
    rows = [_stage(found, name) for name in names]
    heads = ("stage", "A", "B", "mean A", "mean B", "change", "faults", "median time")
    return table(heads, rows, left=3)


def _stage(found: Comparison, name: str) -> tuple[str, ...]:
    sums = [run.tally.stages.get(name) for run in (found.a, found.b)]
    means = [None if s is None else s.mean for s in sums]
    sparks = [spark(run.stages[name]) if name in run.stages else "" for run in (found.a, found.b)]
    return (
        esc(name, 80),
        *sparks,
        *("&ndash;" if m is None else f"{m:.3f}" for m in means),
        "" if None in means else signed((means[1] or 0.0) - (means[0] or 0.0), 3),
        " &rarr; ".join("&ndash;" if s is None else f"{s.faults:,}" for s in sums),
        " &rarr; ".join("&ndash;" if s is None else took(s.times.at(0.5)) for s in sums),
    )
