"""``rlenv report`` and ``rlenv score --report``: what they write, and what they say to mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from rlenv_cli.app import cli
from rlenv_cli.report.pack import unpacked

NASTY = (
    "</script><script>alert(1)</script><!--<img src=x"
    " onerror=alert(2)>]]>{{script}}\u202eevil\ud800\x00"
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(cli, args)


@pytest.fixture
def env(tmp_path):
    tasks = [
        {"id": f"t{i}", "q": f"Question {i}?", "a": "gold of " + str(i), "split": "ab"[i % 2]}
        for i in range(4)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(t) + "\n" for t in tasks))
    (tmp_path / "env.toml").write_text(
        'name = "demo"\n[tasks]\npath = "tasks.jsonl"\nid = "id"\nprompt = "q"\nanswer = "a"\nsplit'
        ' = "split"\n[[stage]]\nuse = "core/equal"\n'
    )
    rows = [{"task": f"t{i % 4}", "response": f"gold of {i % 3}"} for i in range(12)]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return tmp_path


def page(path="report.html"):
    return Path(path).read_text("ascii")


def blocks(kind, path="report.html"):
    found = re.findall(rf'<script type="text/rlenv-{kind}">(.*?)</script>', page(path))
    return [unpacked(text) for text in found]


def refused(result, *words):
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert len(result.output.splitlines()) <= 25
    for word in words:
        assert word in result.output, result.output


def test_score_writes_a_report_of_the_whole_run(run, env):
    result = run("score", "env.toml", "r.jsonl", "-o", "s.jsonl", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert "report of 12 rows written to r.html" in result.output
    index = blocks("index", "r.html")[0]
    facts = blocks("facts", "r.html")[0]
    assert len(index["reward"]) == 12
    assert index["splits"] == ["a", "b"]
    assert facts["bases"] == [1.0]
    chunk = blocks("rows0", "r.html")[0]
    assert chunk["tasks"]["t1"] == {"prompt": "Question 1?", "answer": "gold of 1"}
    assert "By split" in page("r.html")


def test_a_resumed_run_reports_all_rows(run, env):
    run("score", "env.toml", "r.jsonl", "-o", "s.jsonl", "--limit", "5", "--quiet")
    result = run(
        "score", "env.toml", "r.jsonl", "-o", "s.jsonl", "--resume", "--quiet", "--report", "r.html"
    )
    assert (result.exit_code, result.output) == (0, "")
    assert len(blocks("index", "r.html")[0]["reward"]) == 12


def test_a_report_stands_alone_and_forbids_what_is_not_its_own(run, scores, make):
    row, _ = make
    scores([row()])
    assert run("report", "s.jsonl").exit_code == 0
    text = page()
    assert "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert not re.search(r"[a-z]+://", text)


def test_the_same_scores_give_the_same_report(run, scores, make):
    row, _ = make
    scores([row(), row(0.0), row(None)])
    assert run("report", "s.jsonl", "-o", "1.html").exit_code == 0
    assert run("report", "s.jsonl", "-o", "2.html").exit_code == 0
    assert page("1.html") == page("2.html")


def test_nothing_from_data_becomes_markup(run, scores, make):
    row, stage = make
    fault = {"kind": NASTY, "message": NASTY, "transient": False}
    bad = stage(
        NASTY,
        None,
        use=NASTY,
        phase=NASTY,
        detail=NASTY,
        data={NASTY: NASTY},
        private={NASTY: NASTY},
        fault=fault,
    )
    rows = [
        row(None, NASTY, NASTY, stages=[bad], fault=fault, stopped_at=NASTY),
        row(0.0, NASTY, NASTY),
        row(1.0, NASTY),
    ]
    scores(rows, env=NASTY, fingerprint=NASTY, tasks_sha256=NASTY)
    for other in ((), ("s.jsonl",)):
        result = run("report", "s.jsonl", *other)
        assert result.exit_code == 0, result.output
        text = page()
        assert "alert(" not in re.sub(r"&lt;.*?alert\(.*?&gt;", "", text)
        assert "<img" not in text
        assert text.count("</script>") == text.count("<script")
        assert "\\u202e" in text
        assert blocks("rows0")[0]["rows"][0]["response"] == NASTY


def test_public_leaves_private_data_out_of_the_file(run, env, monkeypatch):
    monkeypatch.delenv("RLENV_SECRET")  # the file is edited by hand
    run("score", "env.toml", "r.jsonl", "-o", "s.jsonl", "--quiet")
    lines = (env / "s.jsonl").read_text().splitlines()
    spoiled = json.loads(lines[1])
    spoiled["stages"][0]["private"] = {"gold": "SECRET"}
    spoiled["fault"] = {"kind": "error", "message": "SECRET", "transient": False}
    spoiled["reward"] = spoiled["passed"] = None
    (env / "s.jsonl").write_text("\n".join([lines[0], json.dumps(spoiled), *lines[2:]]) + "\n")
    for flags in ((), ("--public",)):
        assert run("report", "s.jsonl", "--tasks", "env.toml", *flags).exit_code == 0
        whole = page() + json.dumps([blocks(kind) for kind in ("rows0", "index", "facts")])
        assert ("SECRET" in whole) == (not flags)
        assert ('"answer"' in whole) == (not flags)
        assert ("Operator only" in whole) == (not flags)
        assert "Question 1?" in whole


def test_a_comparison_says_what_changed_for_which_tasks(run, scores, make):
    row, _ = make
    scores([row(0.0, "left"), row(1.0, "right")], "a.jsonl")
    scores([row(1.0, "left"), row(1.0, "right")], "b.jsonl")
    assert run("report", "a.jsonl", "b.jsonl").exit_code == 0
    text = page()
    assert "gained most" in text
    assert "Of 2 tasks scored in both, 1 gained, 0 lost, 1 kept" in text
    assert blocks("index")[0]["change"] == [0, 4]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["is empty"]),
        (b'{"schema": "rlenv.sco', ["torn"]),
        (b"hello\n", ["not a file of scores", "rlenv score -o"]),
        (b"PK\x03\x04\xff\xfe\n", ["not a file of scores"]),
        (b'{"schema": "rlenv.scores/2"}\n', ["rlenv.scores/2", "rlenv.scores/1"]),
    ],
)
def test_what_is_no_file_of_scores_is_told(run, tmp_path, content, words):
    (tmp_path / "x.jsonl").write_bytes(content)
    refused(run("report", "x.jsonl"), "x.jsonl", *words)
    assert not (tmp_path / "report.html").exists()


def test_a_header_without_rows_is_told(run, scores):
    scores([])
    refused(run("report", "s.jsonl"), "holds no rows yet")


def test_damage_in_the_middle_is_told_with_a_remedy_for_readers(run, scores, make):
    row, _ = make
    path = scores([row(), row()])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"garbage\n" + lines[2])
    result = run("report", "s.jsonl")
    refused(result, "line 2", "read that")
    assert "--resume" not in result.output


def test_a_torn_end_is_a_warning(run, scores, make):
    row, _ = make
    path = scores([row(), row()])
    path.write_bytes(path.read_bytes()[:-9])
    result = run("report", "s.jsonl")
    assert result.exit_code == 0
    assert "torn last line" in result.output


def test_missing_files_and_wrong_counts_are_told(run, scores, make):
    row, _ = make
    scores([row()])
    refused(run("report"), "one score file, or two")
    refused(run("report", "s.jsonl", "s.jsonl", "s.jsonl"), "one score file, or two")
    refused(run("report", "none.jsonl"), "none.jsonl", "No such file")
    refused(run("report", "s.jsonl", "--set", "a.b=1"), "--tasks")
    refused(run("report", "/dev/null"), "no regular file", "twice")
    refused(run("report", "."), "Is a directory")


def test_mixed_environments_are_told(run, scores, make):
    row, _ = make
    scores([row()], "a.jsonl")
    scores([row()], "b.jsonl", env="else")
    refused(run("report", "a.jsonl", "b.jsonl"), "'demo'", "'else'", "one environment")
    assert sorted(p.name for p in Path().iterdir()) == ["a.jsonl", "b.jsonl"]


def test_tasks_of_another_run_are_told(run, env, scores, make):
    row, _ = make
    scores([row()])
    refused(run("report", "s.jsonl", "--tasks", "env.toml"), "other tasks", "--tasks")


def test_only_a_report_is_ever_replaced(run, scores, make, tmp_path):
    row, _ = make
    scores([row()])
    (tmp_path / "notes.html").write_text("mine")
    refused(run("report", "s.jsonl", "-o", "notes.html"), "no report of rlenv")
    refused(run("report", "s.jsonl", "-o", "s.jsonl"), "another file of this run")
    refused(run("report", "s.jsonl", "-o", "."), "folder")
    refused(run("report", "s.jsonl", "-o", "no/where.html"), "does not exist")
    assert (tmp_path / "notes.html").read_text() == "mine"
    assert run("report", "s.jsonl").exit_code == 0
    assert run("report", "s.jsonl").exit_code == 0


def test_a_report_that_cannot_be_written_fails_before_anything_is_scored(run, env):
    refused(
        run("score", "env.toml", "r.jsonl", "-o", "s.jsonl", "--report", "r.jsonl"),
        "another file of this run",
    )
    refused(
        run("score", "env.toml", "r.jsonl", "-o", "s.jsonl", "--report", "no/r.html"), "no/r.html"
    )
    same = run("score", "env.toml", "r.jsonl", "-o", "s.html", "--report", "s.html")
    refused(same, "s.html", "another file of this run")
    assert not (env / "s.jsonl").exists()
    assert not (env / "s.html").exists()


def test_a_link_that_leads_to_itself_is_a_mistake_and_no_traceback(run, env):
    (env / "loop").symlink_to("loop")
    assert run("score", "env.toml", "r.jsonl", "-o", "s.jsonl").exit_code == 0
    for argv in (("loop",), ("loop", "s.jsonl")):
        result = run("report", *argv)
        assert (result.exit_code, type(result.exception)) == (2, SystemExit)
        assert "loop" in result.output
    assert run("report", "s.jsonl", "-o", "loop").exception is None
