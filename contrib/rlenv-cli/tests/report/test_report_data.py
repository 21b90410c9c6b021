"""From files of scores to the figures and tables of a report."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.model.errors import InputError
from rlenv_cli.report import gather, write
from rlenv_cli.report.bars import Bars, bin_of
from rlenv_cli.report.base import implied
from rlenv_cli.report.compare import compare, most_changed, notes, shift
from rlenv_cli.report.pack import CHUNK_ROWS, fitting, unpacked

UNIT = st.floats(0, 1)


@given(UNIT)
def test_exact_zeros_and_ones_have_bars_of_their_own(score):
    place = bin_of(score)
    assert (place == 0) == (score == 0)
    assert (place == 11) == (score == 1)
    assert 0 <= place <= 11


def test_tenths_stand_at_the_beginning_of_their_bar():
    assert [bin_of(i / 10) for i in range(11)] == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]


def test_what_broke_is_in_no_bar():
    bars = Bars()
    for score in (None, 0.0, 1.0, 0.55):
        bars.add(score)
    assert (bars.broken, bars.total) == (1, 3)


def test_the_base_is_read_off_the_rewards(scores, make):
    row, stage = make
    shaped = [
        stage("a", 0.5, weight=2.0),
        stage("b", 1.0, weight=0.0, bonus=0.1),
        stage("c", 0.0, weight=0.0, penalty=0.2),
    ]
    found = gather(scores([row(0.8 * 0.5 + 0.1 - 0.2, stages=shaped), row(1.0), row(None)]))
    assert found.base == pytest.approx(0.8)


@given(UNIT, st.floats(0.1, 3), st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_the_implied_base_gives_the_reward_again(score, weight, reward):
    stage = {"name": "a", "score": score, "weight": weight}
    base = implied({"reward": reward, "stages": [stage]})
    assert base is None or base * score == pytest.approx(reward)


def test_rows_that_contradict_each_other_give_no_base(scores, make):
    row, stage = make
    rows = [row(0.5, stages=[stage(score=1.0)]), row(0.7, stages=[stage(score=1.0)])]
    assert gather(scores(rows)).base is None


def test_rewards_of_nothing_but_zero_and_one_leave_the_base_at_one(scores, make):
    row, _ = make
    assert gather(scores([row(0.0), row(1.0)])).base == 1.0


def test_a_torn_last_line_is_left_out_and_said(scores, make, tmp_path):
    row, _ = make
    path = scores([row(), row(0.0)])
    path.write_bytes(path.read_bytes() + b'{"row": 3, "ta')
    found = gather(path)
    assert (found.tally.rows, found.torn) == (2, True)
    write(tmp_path / "r.html", [found])
    assert "incomplete" in (tmp_path / "r.html").read_text("ascii")


def test_rows_come_out_of_their_chunks_in_order(scores, make):
    row, _ = make
    n = 2 * CHUNK_ROWS + 7
    run = gather(scores([row(response=f"answer {i}") for i in range(n)]))
    _, texts = fitting(run, 1e7, public=False)
    found = [r["response"] for text in texts for r in unpacked(text)["rows"]]
    assert found == [f"answer {i}" for i in range(n)]
    assert len(texts) == 3


def test_long_responses_are_cut_until_the_file_fits(scores, make):
    import random

    row, _ = make
    draw = random.Random(1)
    long = [
        row(response="".join(chr(draw.randint(33, 120)) for _ in range(9000))) for _ in range(150)
    ]
    run = gather(scores(long))
    whole, _ = fitting(run, 1e7, public=False)
    limit, texts = fitting(run, 200_000, public=False)
    assert whole >= 9000 > limit
    assert sum(map(len, texts)) <= 200_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": 7.0}, r"line 2 has 7\.0 as a score"),
        ({"reward": float("nan")}, "line 2 has nan as a score"),
        ({"stages": "seconds"}, "line 2 has -1.0 seconds"),
    ],
)
def test_what_no_run_writes_is_refused_with_its_line(scores, make, change, message):
    row, stage = make
    if change.get("stages"):
        change = {"stages": [stage(seconds=-1.0)]}
    with pytest.raises(InputError, match=message):
        gather(scores([row(**change)]))


def test_deeply_nested_stages_are_refused_in_words(scores, make):
    row, stage = make
    path = scores([row(), row(stages=[stage(name="INNER")]), row()])
    flat = path.read_text()
    begin, end = json.dumps(stage(children=[7])).split("7")
    for depth in (200, 330, 480, 700, 3000):
        inner = begin * depth + json.dumps(stage()) + end * depth
        path.write_text(flat.replace(json.dumps(stage(name="INNER")), inner))
        try:
            assert gather(path).tally.rows == 3
        except InputError as error:
            assert "line 3" in str(error)  # noqa: PT017 - either is right, a traceback is not


def test_a_file_that_changes_meanwhile_is_refused(scores, make, tmp_path):
    row, _ = make
    run = gather(scores([row(), row(task="u")]))
    scores([row()])
    with pytest.raises(InputError, match="changed while it was read"):
        write(tmp_path / "r.html", [run])
    assert [p.name for p in tmp_path.iterdir()] == ["s.jsonl"]


def test_a_file_that_grows_meanwhile_is_reported_as_it_was(scores, make, tmp_path):
    row, _ = make
    run = gather(scores([row()]))
    scores([row(), row()])
    assert write(tmp_path / "r.html", [run]) > 0


def test_beyond_the_table_all_rows_still_count(scores, make, tmp_path, monkeypatch):
    import importlib

    row, _ = make
    for module in ("gather", "summary"):
        monkeypatch.setattr(importlib.import_module(f"rlenv_cli.report.{module}"), "TABLE_ROWS", 10)
    run = gather(scores([row(float(i % 2)) for i in range(25)]))
    assert (run.tally.rows, len(run.columns), run.rewards.total) == (25, 10, 25)
    write(tmp_path / "r.html", [run])
    text = (tmp_path / "r.html").read_text("ascii")
    assert "holds the first 10 rows" in text
    assert "#row-11" not in text


# -- two runs


def pair(scores, first, second, **header):
    return compare(gather(scores(first, "a.jsonl")), gather(scores(second, "b.jsonl", **header)))


def test_every_row_finds_its_partner_and_its_kind(scores, make):
    row, _ = make
    first = [
        row(0.0, "x"),
        row(1.0, "x"),
        row(1.0, "y"),
        row(None, "y"),
        row(1.0, "z"),
        row(0.5, "w"),
        row(0.5, "gone"),
    ]
    second = [
        row(1.0, "y"),
        row(1.0, "x"),
        row(0.0, "x"),
        row(1.0, "y"),
        row(None, "z"),
        row(0.5, "w"),
        row(1.0, "new"),
    ]
    found = pair(scores, first, second)
    changes = [(p.task, p.change) for p in found.pairs]
    assert changes == [
        ("x", "gained"), ("x", "lost"), ("y", "same"), ("y", "newly scored"),
        ("z", "newly unscored"), ("w", "same"), ("gone", "only in A"), ("new", "only in B"),
    ]  # fmt: skip
    assert [p.b for p in found.pairs] == [1, 2, 0, 3, 4, 5, None, 6]


@given(st.lists(st.tuples(st.sampled_from("abc"), UNIT | st.none()), max_size=12), st.data())
@settings(max_examples=60, deadline=None)
def test_every_row_of_both_runs_stands_in_one_pair(first, data):
    from rlenv_cli.report.compare import _paired

    second = data.draw(st.permutations([task for task, _ in first]))
    pairs = list(_paired([t for t, _ in first], second[: len(second) // 2 + 1]))
    rows_a = [i for _, i, _ in pairs if i is not None]
    rows_b = [j for _, _, j in pairs if j is not None]
    assert sorted(rows_a) == list(range(len(first)))
    assert sorted(rows_b) == list(range(min(len(second), len(second) // 2 + 1)))


def test_a_run_against_itself_changes_nothing(scores, make):
    row, _ = make
    rows = [row(0.0, "x"), row(None, "y"), row(0.3, None)]
    found = pair(scores, rows, rows)
    assert found.counts["same"] == 3
    moved = shift(found.tasks)
    assert moved is not None
    assert moved.mean == 0.0
    assert any("chance" in note for note in notes(found))


def test_the_shift_is_the_mean_of_paired_differences(scores, make):
    row, _ = make
    tasks = "abcdefgh"
    found = pair(
        scores,
        [row(0.2, t) for t in tasks],
        [row(0.2 + 0.05 * (i % 2), t) for i, t in enumerate(tasks)],
    )
    moved = shift(found.tasks)
    assert moved is not None
    assert moved.mean == pytest.approx(0.025)
    assert moved.low is not None
    assert moved.high is not None
    assert moved.low < 0.025 < moved.high
    assert [task for task, _ in most_changed(found, 1)] == ["b", "d", "f", "h"]
    assert most_changed(found, -1) == []


def test_other_verifiers_tasks_and_responses_are_said(scores, make):
    row, _ = make
    found = pair(
        scores,
        [row()],
        [row()],
        fingerprint="e" * 64,
        tasks_sha256="c" * 64,
        responses_sha256="d" * 64,
    )
    assert len(notes(found)) == 3


def test_runs_of_two_environments_are_not_compared(scores, make):
    row, _ = make
    with pytest.raises(InputError, match=r"only runs of one environment"):
        pair(scores, [row()], [row()], env="other")
