"""The upper half of a report: one run in figures, as HTML that needs no script."""

from __future__ import annotations

from rlenv_cli.console import amount
from rlenv_cli.scores.stats import Interval
from rlenv_cli.scores.tally import (
    StageSums,
    Tally,
    pass_at,
    pass_interval,
    reward_interval,
    signal,
    splits,
)
from rlenv_cli.scores.unscored import reasons, remedy

from .gather import TABLE_ROWS, Gathered
from .markup import (
    bounds,
    code,
    esc,
    figure,
    histogram,
    interval_bar,
    percent,
    row_link,
    section,
    spark,
    table,
    took,
)


def header(run: Gathered, *, public: bool) -> str:
    """What was scored, when, with what."""
    tally = run.tally
    parts = [
        f"{esc(amount(tally.rows, 'response'))} to {esc(amount(len(tally.tasks), 'task'))}",
        f"scored {run.written.day} {run.written:%B %Y, %H:%M} UTC",
        f"fingerprint {code(run.header.fingerprint)}",
    ]
    return head(run.header.env, "report", parts, public=public)


def head(
    env: str, kind: str, parts: list[str], *, public: bool, between: str = " &middot; "
) -> str:
    """The title of a page; ``parts`` are HTML."""
    said = between.join(parts)
    return (
        f'<header><p class="eyebrow">rlenv &middot; {kind}</p><h1>{esc(env, 200)}</h1>'
        f'<p class="meta">{said}</p>{_operator_only(public=public)}</header>'
    )


def _operator_only(*, public: bool) -> str:
    if public:
        return ""
    return (
        '<p class="operator"><strong>Operator only.</strong> This file holds answers and other'
        " private data; <code>--public</code> makes one without them.</p>"
    )


def notes(run: Gathered) -> list[str]:
    """What a reader must know of the file itself."""
    said = []
    if run.torn:
        said.append(
            f"The last line of {run.shown} is incomplete and was left out: the run was interrupted"
            " or is not finished."
        )
    if run.incomplete:
        said.append(f"{run.shown} is {run.incomplete}.")
    if run.tally.rows > len(run.columns):
        said.append(
            f"The table below holds the first {TABLE_ROWS:,} rows of {run.shown}; "
            f"all figures count all {run.tally.rows:,}."
        )
    phases = {sums.phase for sums in run.tally.stages.values() if sums.phase}
    if phases == {"judge"}:
        said.append("Only judges decide here: no program checked anything in these responses.")
    return said


def body(run: Gathered, *, public: bool) -> str:
    """Every section of the summary; for the public without the messages of faults."""
    parts = [
        f'<div class="figures">{_figures(run)}</div>',
        _rewards(run),
        section("By split", _splits(run)),
        section("Stages", stages(run)),
        section("Unscored", _reasons(run, public=public)),
        section("Slowest", _slowest(run)),
    ]
    return "".join(parts)


def _rewards(run: Gathered) -> str:
    note = (
        '<p class="note">Number of responses by reward. Exactly 0 and exactly 1 are separate'
        " bars.</p>"
    )
    left = section("Rewards", histogram(run.rewards) + note)
    right = section("Groups without signal", _signal(run.tally))
    return f'<div class="two">{left}{right}</div>' if right else left


def _figures(run: Gathered) -> str:
    tally = run.tally
    rate = pass_interval(tally)
    mean = reward_interval(tally)
    mark = "" if run.known is None else f"a pass is a reward of {run.known.pass_mark:g} or more"
    unscored = "every response has a reward" if not tally.unscored else _share(tally)
    return (
        figure("Pass rate", _mean(rate, percents=True), interval_bar(rate), bounds(rate), esc(mark))
        + figure("Mean reward", _mean(mean), interval_bar(mean), bounds(mean, percents=False))
        + figure("Unscored", f"{tally.unscored:,}", unscored)
        + figure(
            "Time per response",
            took(tally.times.at(0.5)),
            f"median; 95 % within {took(tally.times.at(0.95))}",
            f"{took(tally.seconds)} in all",
        )
    )


def _mean(found: Interval | None, *, percents: bool = False) -> str:
    if found is None:
        return "&ndash;"
    return percent(found.mean) if percents else f"{found.mean:.4f}"


def _share(tally: Tally) -> str:
    return f"{percent(tally.unscored / tally.rows)} of the responses; they are not counted as 0"


def _signal(tally: Tally) -> str:
    found = signal(tally)
    if found is None:
        return ""
    parts = [
        (
            "vary",
            found.varying,
            "responses get different rewards: a group-relative trainer learns from these",
        ),
        ("zero", found.all_zero, "all 0"),
        ("one", found.all_one, "all 1"),
        ("equal", found.all_equal, "all equal, between 0 and 1"),
    ]
    x = 0.0
    rects = []
    for kind, n, _ in parts:
        width = 660 * n / found.tasks
        rects.append(f'<rect class="{kind}" x="{x:.1f}" y="0" width="{width:.1f}" height="14"/>')
        x += width
    legend = "".join(
        f'<li><span class="key {kind}"></span><b>{percent(n / found.tasks)}</b> {esc(what)} '
        f'<span class="how">({n:,})</span></li>'
        for kind, n, what in parts
        if n
    )
    flat = (found.tasks - found.varying) / found.tasks
    groups = f"{esc(amount(found.tasks, 'task'))} with several scored responses"
    lead = (
        f"<p>{percent(flat)} of the {groups} carry no signal: all responses to the task get the"
        " same reward.</p>"
        if flat
        else (
            f"<p>None of the {groups} is without signal: the responses to each get different"
            " rewards.</p>"
        )
    )
    bar = (
        '<svg class="stack" viewBox="0 0 660 14" preserveAspectRatio="none"'
        f' aria-hidden="true">{"".join(rects)}</svg>'
    )
    return f'{lead}{bar}<ul class="legend">{legend}</ul>{_pass_at(tally)}'


def _pass_at(tally: Tally) -> str:
    """The chance that at least one of k responses passes."""
    items = "".join(
        f"<li><b>{percent(value)}</b> pass@{k} "
        f'<span class="how">({esc(amount(n, "task"))})</span></li>'
        for k, value, n in pass_at(tally)
    )
    return f'<ul class="legend">{items}</ul>' if items else ""


def _splits(run: Gathered) -> str:
    if run.known is None:
        return ""
    rows = []
    for split, (n, passes, unscored) in sorted(splits(run.tally).items()):
        found = pass_interval(run.tally, split)
        cells = (
            f"{n + unscored:,}",
            f"{passes:,}",
            _mean(found, percents=True),
            interval_bar(found),
            _range(found),
            f"{unscored:,}",
        )
        rows.append((esc(split, 60), *cells))
    return table(
        ("split", "responses", "passed", "pass rate", "0 to 100 %", "95 % interval", "unscored"),
        rows,
    )


def _range(found: Interval | None) -> str:
    if found is None or found.low is None or found.high is None:
        return "&ndash;"
    return f"{percent(found.low)} to {percent(found.high)}"


def stages(run: Gathered) -> str:
    """The table of stages: outcomes and time."""
    heads = (
        "stage", "phase", "scores 0 to 1", "ran", "mean", "gate failed", "faults", "median", "95 %",
        "share of time",
    )  # fmt: skip
    total = run.tally.seconds or 1.0
    rows = [_stage(run, path, sums, total) for path, sums in run.tally.stages.items()]
    return table(heads, rows, left=3)


def _stage(run: Gathered, path: str, sums: StageSums, total: float) -> tuple[str, ...]:
    indent = path.count("/")
    name = (
        f'<span class="in{min(indent, 4)}">{esc(path.rsplit("/", 1)[-1], 60)}</span> '
        f'<span class="how">{esc(sums.use, 80)}</span>'
    )
    return (
        name,
        esc(sums.phase or "composite", 40),
        spark(run.stages[path]),
        f"{sums.n + sums.faults:,}",
        "&ndash;" if sums.mean is None else f"{sums.mean:.3f}",
        f"{sums.gate_failures:,}" if sums.gate_failures else "",
        f'<span class="bad">{sums.faults:,}</span>' if sums.faults else "",
        took(sums.times.at(0.5)),
        took(sums.times.at(0.95)),
        percent(min(1.0, sums.seconds / total), 0),
    )


def _reasons(run: Gathered, *, public: bool) -> str:
    heads = ("kind", "stage", "first, with its row", "what to do", "rows")
    rows = [
        (
            f'<span class="bad">{esc(reason.kind, 40)}</span>',
            code(reason.stage) if reason.stage else "",
            link(run, reason.row) + ("" if public else f" {esc(reason.message, 300)}"),
            esc(remedy(reason.kind, "" if public else reason.message), 300),
            f"{reason.count:,}",
        )
        for reason in reasons(run.tally)
    ]
    return table(heads, rows, left=4) if rows else ""


def link(run: Gathered, row: int) -> str:
    """A link to the row where the table holds it, else its number."""
    return row_link(row) if row <= len(run.columns) else f"row {row:,}"


def _slowest(run: Gathered) -> str:
    rows = [
        (link(run, -row), esc(task, 100), took(seconds))
        for seconds, row, task in sorted(run.tally.slowest, reverse=True)
    ]
    return table(("", "task", "time"), rows, left=2)


def about(runs: dict[str, Gathered]) -> str:
    """The hashes in full, for whoever wants to make the run again."""
    rows = []
    for name, run in runs.items():
        head = run.header
        texts = (run.shown, head.fingerprint, head.tasks_sha256, head.responses_sha256)
        rows.append((esc(name), *(f'<code class="whole">{esc(text)}</code>' for text in texts)))
    heads = ("", "file", "fingerprint", "sha256 of the tasks", "sha256 of the responses")
    return f"<details><summary>About this file</summary>{table(heads, rows, left=5)}</details>"
