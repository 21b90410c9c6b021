"""Every mistake of a person is one screen that names place and remedy, exit status 2, nothing
lost.
"""

import json
import os
import resource
import shutil
import subprocess
import time

import pytest

GOOD = '{"task": "t0", "response": "Paris"}\n'


def refused(result, *said):
    assert result.exit_code == 2, result.output
    assert result.output.startswith(("rlenv: error: ", "Usage: "))
    assert "Traceback" not in result.output
    assert len(result.output.splitlines()) <= 30
    for word in said:
        assert word in result.output
    return result


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD + "{broken\n", ["line 2", "not valid JSON"]),
        (GOOD + '["a", "b"]\n', ["line 2", "an object is expected"]),
        (GOOD.encode() + b'{"task": "t0", "response": "\xff"}\n', ["line 2", "not UTF-8"]),
        (
            '{"question": "x", "answer": "y"}\n',
            ["row 1", '"response"', "question, answer", "rename"],
        ),
        ('{"response": "x"}\n', ["row 1", '"task" (an id) or "prompt"']),
        (GOOD + '{"task": "t0", "response": NaN}\n', ["line 2", "NaN"]),
        (GOOD + "[" * 100_000 + "\n", ["line 2", "nested"]),
    ],
)
def test_a_malformed_file_is_refused_before_anything_is_scored(world, rlenv, content, said):
    path = world.folder / "r.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl"), "r.jsonl", *said)
    assert not (world.folder / "o.jsonl").exists()


def test_standard_input_is_named_as_such(world, rlenv):
    refused(rlenv("score", "env.toml", "-", "-o", "o.jsonl", stdin="{\n"), "standard input: line 1")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.csv", b"task,response\nt0,Paris,more\n", ["r.csv", "row 1", "3 cells"]),
        ("r.csv", b"task,response\nt0,\xff\n", ["r.csv", "line 2", "UTF-8"]),
        ("r.parquet", b"nonsense", ["r.parquet", "not a Parquet file"]),
        ("r.jsonl.gz", b"nonsense", ["r.jsonl.gz", "gzip"]),
        ("r.txt", b"nonsense", ["r.txt", ".jsonl"]),
    ],
)
def test_other_formats_have_their_own_words(world, rlenv, name, content, said):
    (world.folder / name).write_bytes(content)
    refused(rlenv("score", "env.toml", name, "-o", "o.jsonl"), *said)


def test_missing_files_and_folders_are_named(world, rlenv):
    path = world.write_rows([json.loads(GOOD)])
    refused(rlenv("score", "env.toml", "none.jsonl", "-o", "o.jsonl"), "none.jsonl")
    refused(rlenv("score", "none.toml", path, "-o", "o.jsonl"), "none.toml")
    refused(rlenv("score", "noenv", path, "-o", "o.jsonl"), "noenv")
    refused(
        rlenv("score", "env.toml", path, "-o", "none/o.jsonl"), "the folder none does not exist"
    )
    refused(rlenv("score", "env.toml", path, "-o", "."), "this is a folder")
    refused(rlenv("score", "env.toml", ".", "-o", "o.jsonl"), ".")
    refused(rlenv("score", "env.toml", path, "-o", "-"), "file name")
    refused(rlenv("score", "env.toml", path), "--out")


@pytest.mark.parametrize(
    "more",
    [
        ("--workers", "0"),
        ("--workers", "x"),
        ("--max-unscored", "-1"),
        ("--limit", "-1"),
        ("--what",),
    ],
)
def test_options_out_of_range_are_refused(world, rlenv, more):
    refused(rlenv("score", "env.toml", world.write_rows([]), "-o", "o.jsonl", *more), more[0])


def test_all_mistakes_of_an_environment_come_at_once(world, rlenv):
    world.write_env('[[stage]]\nuse = "core/eqal"\n\n[[stage]]\nuse = "core/equal"\nwieght = 1\n')
    refused(
        rlenv("score", "env.toml", world.write_rows([]), "-o", "o.jsonl"),
        "eqal",
        "wieght",
        "env.toml",
    )


def test_hundreds_of_mistakes_still_fit_one_screen(world, rlenv):
    stages = "".join(
        f'[[stage]]\nuse = "core/equal"\nname = "s{i}"\nx{i} = 1\n' for i in range(300)
    )
    world.write_env(stages)
    refused(rlenv("score", "env.toml", world.write_rows([]), "-o", "o.jsonl"), "more")


def test_a_row_that_breaks_while_running_keeps_what_is_written(world, rlenv, monkeypatch):
    from rlenv_cli.scores import responses

    path = world.write_rows([json.loads(GOOD)] * 5)
    survey = responses.survey

    def survey_then_change(*args, **more):
        found = survey(*args, **more)
        with open(path, "w") as file:
            file.write(GOOD * 3 + "{broken\n")
        return found

    monkeypatch.setattr(responses, "survey", survey_then_change)
    monkeypatch.setattr("rlenv_cli.scoring.lines.FIRST_CHUNK_ROWS", 1)
    monkeypatch.setattr("rlenv_cli.scoring.lines.CHUNK_ROWS", 1)
    result = rlenv("score", "env.toml", path, "-o", "o.jsonl")
    refused(result, "changed while it was being scored", "3 rows safe in o.jsonl", "--overwrite")
    assert "JSON" not in result.output
    assert len(world.read()[1]) == 3


def test_a_file_that_grows_while_running_is_noticed(world, rlenv, monkeypatch):
    from rlenv_cli.scores import responses

    path = world.write_rows([json.loads(GOOD)] * 3)
    survey = responses.survey

    def survey_then_grow(*args, **more):
        found = survey(*args, **more)
        with open(path, "a") as file:
            file.write(GOOD)
        return found

    monkeypatch.setattr(responses, "survey", survey_then_grow)
    refused(rlenv("score", "env.toml", path, "-o", "o.jsonl"), "changed while it was being scored")


def test_a_full_device_is_named_with_what_is_safe(world, rlenv):
    path = world.write_rows([json.loads(GOOD)] * 3)
    result = rlenv("score", "env.toml", path, "-o", "/dev/full")
    refused(result, "/dev/full: cannot be written: No space left on device", "0 rows safe")


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_a_file_that_cannot_grow_keeps_its_rows_and_can_be_gone_on_with(world):
    path = world.write_rows([json.loads(GOOD)] * 200)
    code, out, err = world.run("score", "env.toml", path, "-o", "o.jsonl", preexec_fn=limit_files)
    assert code == 2, out + err
    kept = (world.folder / "o.jsonl").read_bytes()
    safe = kept.count(b"\n") - 1
    assert kept.endswith(b"\n")
    assert 10 < safe < 200
    assert (
        f"o.jsonl: cannot be written: File too large. Make room or mend the disk: {safe} rows safe"
        in err
    )
    assert world.run("score", "env.toml", path, "-o", "o.jsonl", "--resume")[0] == 0
    assert (world.folder / "o.jsonl").read_bytes().startswith(kept)
    assert [r["row"] for r in world.read()[1]] == list(range(1, 201))


def test_two_runs_cannot_write_one_output(world):
    world.plugin()
    env = world.write_env('[[stage]]\nuse = "demo/slow"\noptions = { seconds = 0.05 }\n')
    path = world.write_rows([json.loads(GOOD)] * 5000)
    first = world.start("score", env, path, "-o", "o.jsonl", "--quiet")
    deadline = time.monotonic() + 60
    while not (world.folder / "o.jsonl").exists() or not (world.folder / "o.jsonl").stat().st_size:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for flag in ("--resume", "--overwrite"):
        code, _, err = world.run("score", env, path, "-o", "o.jsonl", flag)
        assert code == 2
        assert "o.jsonl: another run is writing this file" in err
    assert first.poll() is None
    first.terminate()
    first.communicate()
    rows = world.read()[1]
    assert [r["row"] for r in rows] == list(range(1, len(rows) + 1))


def test_a_vanished_folder_is_said_to_have_vanished(world):
    world.plugin()
    env = world.write_env('[[stage]]\nuse = "demo/slow"\noptions = { seconds = 0.05 }\n')
    path = world.write_rows([json.loads(GOOD)] * 400)
    (world.folder / "gone").mkdir()
    process = world.start("score", env, path, "-o", "gone/o.jsonl")
    while not (world.folder / "gone" / "o.jsonl").exists():
        time.sleep(0.01)
    shutil.rmtree(world.folder / "gone")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"gone/o.jsonl: it was removed or replaced during the run" in err
    assert b"Traceback" not in err


def test_nobody_reading_the_summary_is_no_failure(world):
    path = world.write_rows([json.loads(GOOD)] * 50)
    reading, writing = os.pipe()
    os.close(reading)
    code, _, err = world.run("score", "env.toml", path, "-o", "o.jsonl", stdout=writing)
    os.close(writing)
    assert (code, err) == (0, "")
    assert len(world.read()[1]) == 50


def test_nobody_reading_the_progress_is_no_failure_either(world):
    path = world.write_rows([json.loads(GOOD)] * 50)
    code, out, _ = world.run("score", "env.toml", path, "-o", "o.jsonl", stderr=subprocess.DEVNULL)
    assert code == 0
    assert "50 responses to 1 task" in out


def test_a_terminal_without_unicode_sees_everything_in_ascii(world):
    world.write_tasks([("Česko", "Praha")])
    path = world.write_rows(
        [{"task": "ť0", "response": "\ud800"}, {"task": "t0", "response": "Praha"}]
    )
    code, out, err = world.run(
        "score",
        "env.toml",
        path,
        "-o",
        "o.jsonl",
        environ={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )
    assert code == 3, err
    assert out.isascii()
    assert "\\u0165" in out or "\\x" in out


def test_an_unreadable_terminal_setting_is_no_obstacle(world):
    code, out, err = world.run(
        "stages", environ={"TERM": "nonsense", "NO_COLOR": "1", "COLUMNS": "0"}
    )
    assert code == 0, err
    assert "\x1b" not in out


def test_a_pipe_with_a_name_is_refused_since_it_cannot_be_read_twice(world, rlenv):
    os.mkfifo(world.path("r.jsonl"))
    refused(
        rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl"), "no regular file", "standard input"
    )


@pytest.mark.parametrize(
    "row",
    [
        {"row": 1},
        {"row": 1, "task": [], "reward": 1.0, "fault": None, "stages": []},
        {"row": 1, "task": "t0", "reward": "1", "fault": None, "stages": []},
        {"row": 1, "task": "t0", "reward": 1.0, "fault": None, "stages": [3]},
    ],
)
def test_a_row_that_no_run_wrote_is_damage_and_no_traceback(world, rlenv, row):
    path = world.write_rows([json.loads(GOOD)] * 3)
    rlenv("score", "env.toml", path, "-o", "o.jsonl", "--quiet")
    lines = (world.folder / "o.jsonl").read_text().splitlines(keepends=True)
    lines[1] = json.dumps(row) + "\n"
    (world.folder / "o.jsonl").write_text("".join(lines))
    refused(
        rlenv("score", "env.toml", path, "-o", "o.jsonl", "--resume"), "o.jsonl: line 2 is damaged"
    )
