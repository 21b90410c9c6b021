"""The summary's counters: from rows as they are in a file of scores."""

import random
import re
from io import StringIO

import pytest
from rlenv_cli.scores.tally import (
    SLOWEST,
    Tally,
    pass_at,
    pass_interval,
    reward_interval,
    signal,
    splits,
)
from rlenv_cli.summary import overview, show


def stage(name, score, *, gate=None, seconds=0.001, children=(), fault=None):
    return {
        "name": name,
        "use": f"x/{name}",
        "phase": "diff",
        "score": score,
        "gate": gate,
        "seconds": seconds,
        "children": list(children),
        "fault": fault,
    }


def row(n, task, reward, *stages, fault=None):
    return {
        "row": n,
        "task": task,
        "reward": reward,
        "passed": None if reward is None else reward >= 1,
        "fault": fault,
        "stages": list(stages),
    }


def tallied(*rewards_by_task, split="train"):
    tally = Tally()
    n = 0
    for i, rewards in enumerate(rewards_by_task):
        for reward in rewards:
            n += 1
            fault = {"kind": "error", "message": f"m{n}"} if reward is None else None
            tally.add(row(n, f"t{i}", reward, fault=fault), split)
    return tally


def test_unscored_rows_are_counted_and_left_out_of_every_mean():
    tally = tallied([1.0, None], [0.0, None, None])
    assert (tally.rows, tally.scored, tally.unscored, tally.mean) == (5, 2, 3, 0.5)
    assert pass_interval(tally).mean == 0.5
    assert splits(tally) == {"train": (2, 1, 3)}
    assert (tally.reasons["error", ""].count, tally.reasons["error", ""].message) == (3, "m2")


def test_groups_without_signal_are_told_apart():
    groups = [
        [0, 0],
        [1, 1, 1],
        [0.5, 0.5],
        [0, 1],
        [0.2, 0.3],
        [1],
        [None, 1],
    ]
    found = signal(tallied(*groups))
    assert (found.tasks, found.all_zero, found.all_one, found.all_equal, found.varying) == (
        5,
        1,
        1,
        1,
        2,
    )


def test_without_several_responses_there_is_no_group_to_speak_of():
    assert signal(tallied([1], [0], [1, None])) is None


def test_pass_at_k_counts_the_tasks_that_have_enough():
    assert pass_at(tallied([0, 1], [1, 1, 0, 0], [0])) == [
        (1, pytest.approx((0.5 + 0.5 + 0) / 3), 3),
        (2, pytest.approx((1 + 5 / 6) / 2), 2),
        (4, 1.0, 1),
    ]
    assert pass_at(tallied([1], [0])) == []


def test_splits_have_their_own_intervals():
    tally = tallied([1], [1])
    tally.add(row(3, "t9", 0.0), "test")
    assert pass_interval(tally, "test").mean == 0.0
    assert pass_interval(tally, "train").mean == 1.0
    assert pass_interval(tally, "none") is None


def test_stages_are_counted_by_path_with_their_children():
    tally = Tally()
    inner = [stage("all/a", 1.0), stage("all/b", 0.2, gate=0.5)]
    tally.add(row(1, "t", 0.0, stage("all", 0.0, children=inner)), "train")
    tally.add(
        row(
            2,
            "t",
            None,
            stage("all", None, children=[stage("all/a", None)]),
            fault={"kind": "crash", "message": "m"},
        ),
        "train",
    )
    assert {k: (s.n, s.mean, s.gate_failures, s.faults) for k, s in tally.stages.items()} == {
        "all": (1, 0.0, 0, 1), "all/a": (1, 1.0, 0, 1), "all/b": (1, 0.2, 1, 0),
    }  # fmt: skip


def test_reasons_are_counted_by_kind_and_by_the_stage_that_broke():
    tally = Tally()
    fault = {"kind": "error", "message": "m", "transient": False}
    away = {"kind": "unavailable", "message": "a", "transient": True}
    other = {"kind": "error", "message": "of no matter", "transient": False}
    inner = stage(
        "all", None, children=[stage("all/a", 1.0), stage("all/b", None, fault=fault)], fault=fault
    )
    tally.add(row(1, "t", None, stage("extra", None, fault=other), inner, fault=fault), "train")
    tally.add(row(2, "t", None, stage("last", None, fault=away), fault=away), "train")
    tally.add(row(3, "t", None, stage("last", None, fault=away), fault=away), "train")
    assert {key: (r.count, r.transient, r.row) for key, r in tally.reasons.items()} == {
        ("error", "all/b"): (1, 0, 1), ("unavailable", "last"): (2, 2, 2),
    }  # fmt: skip


def wide(n):
    """Rows with long names, many stages, faults and every kind of task."""
    tally = Tally()
    for i in range(n):
        fault = (
            {"kind": "unavailable", "message": "x" * 500, "transient": True} if i % 5 == 4 else None
        )
        stages = [
            stage(
                f"{'a rather long name of a step ' * (k % 2)}{k}",
                None if fault else i % 3 / 2,
                fault=fault,
                gate=k / 9,
            )
            for k in range(6)
        ]
        reward = None if fault else i % 3 / 2
        tally.add(
            row(i + 1, f"task {i % 7} {'long ' * 9}", reward, *stages, fault=fault),
            f"a split {i % 2}",
        )
    return tally


HEADINGS = {
    "split", "responses", "passed", "pass rate", "95 % interval", "unscored", "stage", "use",
    "phase", "ran", "mean score", "gate failed", "faults", "median", "p95", "total",
}  # fmt: skip


TALLIES = [
    wide(60),
    wide(3),
    tallied([0, 1, 1, 0], [1, 1], [0]),
]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("tally", TALLIES)
def test_a_summary_fits_the_screen_and_cuts_no_heading(tally, width):
    from rich.console import Console

    out = StringIO()
    console = Console(width=width, file=out, markup=False, highlight=False)
    show(console, tally, title="t", pass_mark=1.0, wall=1.0)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    heads = [
        re.split(" {2,}", line.strip())
        for line in lines
        if line.startswith(("  split ", "  stage "))
    ]
    assert len(heads) == (len(splits(tally)) > 1) + bool(tally.stages)
    assert {name for names in heads for name in names} <= HEADINGS
    if width == 200 and tally.stages:
        assert all(name in "".join(lines) for name in ("phase", "median", "p95", "gate failed"))


def words(text):
    return set(re.findall(r"[\w.%@-]+", text))


@pytest.mark.parametrize("tally", TALLIES)
def test_the_summary_begins_with_at_most_six_figures_that_no_screen_cuts(tally):
    whole = [*overview(tally, "name", 1.0, 61.0, 200)]
    assert len(whole) <= 7
    for width in (60, 80, 120):
        lines = [*overview(tally, "name", 1.0, 61.0, width)]
        assert [line[:15] for line in lines] == [line[:15] for line in whole]
        assert max(map(len, lines)) <= width
        assert all(words(line) <= words(full) for line, full in zip(lines, whole, strict=True))


def test_groups_without_signal_are_told_in_the_words_of_the_report():
    tally = tallied([0, 0], [1, 1], [0.5, 0.5], [0, 1])
    (line,) = [line for line in overview(tally, "t", 1.0, None, 80) if "signal" in line]
    assert line == "  no signal    75.0 % of 4 tasks: all responses get the same reward"
    (line,) = [line for line in overview(tally, "t", 1.0, None, 120) if "signal" in line]
    assert line.endswith("(1 all 0, 1 all 1, 1 all equal)")
    (line,) = [line for line in overview(tallied([0, 1]), "t", 1.0, None, 80) if "signal" in line]
    assert line == "  no signal    none of 1 task; responses to a task get different rewards"


def test_a_row_of_an_unknown_task_belongs_to_no_split():
    tally = Tally()
    tally.add(row(1, None, None, fault={"kind": "input", "message": "unknown"}), None)
    assert (tally.unscored, tally.tasks) == (1, {})


def test_the_slowest_rows_are_kept_whatever_the_order():
    times = [i / 1000 for i in range(100)]
    random.Random(1).shuffle(times)
    tally = Tally()
    for n, seconds in enumerate(times, 1):
        tally.add(row(n, f"t{n}", 1.0, stage("s", 1.0, seconds=seconds)), "train")
    assert sorted(t for t, _, _ in tally.slowest) == [i / 1000 for i in range(100 - SLOWEST, 100)]
    assert tally.times.at(0.5) == pytest.approx(0.05, rel=0.05)


def test_the_order_of_the_rows_does_not_matter():
    rows = [row(n, f"t{n % 3}", n % 2 / 1) for n in range(1, 20)]
    forward = Tally()
    backward = Tally()
    for r in rows:
        forward.add(r, "train")
    for r in reversed(rows):
        backward.add(r, "train")
    assert reward_interval(forward) == reward_interval(backward)
    assert signal(forward) == signal(backward)


def test_memory_grows_with_the_tasks_and_not_with_the_rows():
    tally = Tally()
    one = stage("s", 1.0)
    for n in range(1, 20_001):
        one["seconds"] = n / 7e5
        tally.add(row(n, f"t{n % 10}", float(n % 2), one), "train")
    assert len(tally.tasks) == 10
    assert len(tally.slowest) == SLOWEST
    assert len(tally.times._buckets) < 1000


@pytest.mark.parametrize(
    "tally", [Tally(), tallied([None]), tallied([1.0]), tallied([0, 1], [None, 0.5])]
)
def test_every_summary_can_be_shown(tally, capsys):
    from rlenv_cli.console import console

    show(console(), tally, title="t", pass_mark=1.0, wall=1.0)
    assert "mean reward" in capsys.readouterr().out


def test_markup_and_escapes_in_a_fault_are_shown_as_they_are(capsys):
    from rlenv_cli.console import console

    tally = Tally()
    tally.add(
        row(
            1,
            "[red]t[/red]",
            None,
            fault={"kind": "error", "message": "[bold]x[/] \x1b[31m \ud800"},
        ),
        None,
    )
    show(console(), tally, title="[b]t", pass_mark=1.0, wall=None)
    out = capsys.readouterr().out
    assert "[bold]x[/] \\x1b[31m \\ud800" in out
    assert "[red]t[/red]" in out
    assert "[b]t" in out


def test_the_share_of_responses_with_hidden_reasoning_is_told(capsys):
    from rlenv_cli.console import console

    tally = Tally()
    for n, data in enumerate([{}, {"hidden": 12}, {"hidden": 0}, None]):
        inner = stage("b", 1.0) | {"data": data}
        tally.add(row(n, "t", 1.0, stage("a", 1.0, children=[inner])), "train")
    show(console(), tally, title="t", pass_mark=1.0, wall=None)
    show(console(), tallied([1.0]), title="t", pass_mark=1.0, wall=None)
    assert tally.hidden == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "hidden" in line]
    assert line == "  unscored     none; 25.00 % of the responses have hidden reasoning"
