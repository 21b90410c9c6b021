"""Progress: a bar for a terminal, few lines for a log, and never the whole file in memory."""

import json
import os
import pty
import subprocess
import sys
import threading
import time
import tracemalloc

import pytest
from rlenv_cli.scores.items import Bad
from rlenv_cli.scoring import lines as scoring
from rlenv_cli.scoring import progress


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_day_in_a_log_takes_less_than_two_hundred_lines(clock, capsys):
    lines = progress.Lines(86_400, 0)
    for second in range(86_400):
        clock.now = float(second)
        lines.advance(second, 0.5, 0)
    said = capsys.readouterr().err.splitlines()
    assert 20 < len(said) < 200
    assert said[0].startswith("5 of 86,400 rows, 1.0/s, ")
    assert said[0].endswith("left, mean reward 0.500")


def test_rows_of_an_earlier_run_do_not_count_for_the_rate(clock, capsys):
    lines = progress.Lines(2000, 1000)
    clock.now = 10.0
    lines.advance(1100, None, 3)
    assert (
        capsys.readouterr().err
        == "1,100 of 2,000 rows, 10/s, 1 min 30 s left, no reward yet, 3 unscored\n"
    )


def test_a_short_run_says_nothing_on_the_way(clock, capsys):
    lines = progress.Lines(10, 0)
    for n in range(10):
        lines.advance(n, 1.0, 0)
    assert capsys.readouterr().err == ""


def printed(capsys, seconds=60):
    """What another thread writes to standard error."""
    until = time.monotonic() + seconds
    while not (text := capsys.readouterr().err) and time.monotonic() < until:
        time.sleep(0.01)
    return text


def test_a_long_wait_is_told_and_a_short_one_is_not(capsys):
    others = set(threading.enumerate())
    with progress.waiting("loading env.toml", log_after=0.01):
        assert printed(capsys) == "rlenv: loading env.toml\n"
    with progress.waiting("loading env.toml", log_after=60.0):
        pass
    with progress.waiting("loading env.toml", quiet=True, log_after=0.001):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
    left = set(threading.enumerate()) - others
    assert not [thread for thread in left if isinstance(thread, threading.Timer)]


def test_a_log_says_that_the_first_verdict_is_awaited(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.Lines(30, 10) as lines:
        assert printed(capsys) == "rlenv: scoring 20 rows, waiting for the first verdict\n"
        lines.advance(11, 1.0, 0)
    assert capsys.readouterr().err == ""


def on_a_terminal(world, *args, **environ):
    """Standard output and error of a run as a terminal got them."""
    ours, theirs = pty.openpty()
    environ = world.environ(TERM="xterm", COLUMNS="100", **environ)
    command = [sys.executable, "-m", "rlenv", *args]
    process = subprocess.Popen(
        command,
        env=environ,
        cwd=world.folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(ours)
    return process.wait(timeout=60), seen.decode("utf-8")


def test_a_terminal_gets_a_bar_with_rate_and_mean(world):
    path = world.write_rows([{"task": "t0", "response": "Paris"}] * 30)
    code, seen = on_a_terminal(world, "score", "env.toml", path, "-o", "o.jsonl")
    assert code == 0
    assert "30/30" in seen
    assert "mean reward 1.000" in seen
    assert "/s" in seen
    assert "\x1b[" in seen


def test_no_color_means_no_color(world):
    path = world.write_rows([{"task": "t0", "response": "Paris"}] * 30)
    _, seen = on_a_terminal(world, "score", "env.toml", path, "-o", "o.jsonl", NO_COLOR="1")
    assert not any(f"\x1b[{code}m" in seen for code in range(30, 38))


def test_hostile_text_does_not_reach_the_terminal(world):
    world.write_tasks([("\x1b]0;owned\x07", "x")])
    path = world.write_rows([{"task": "\x1b]0;owned\x07", "response": "\x1b]0;owned\x07"}])
    code, seen = on_a_terminal(world, "score", "env.toml", path, "-o", "o.jsonl")
    assert code == 3
    assert "\x1b]0;owned" not in seen
    assert "owned" in seen


def test_chunks_are_bounded_in_rows_and_in_characters(monkeypatch):
    monkeypatch.setattr(scoring, "CHUNK_ROWS", 4000)
    monkeypatch.setattr(scoring, "CHUNK_CHARS", 10_000)
    short = [len(c) for c in scoring._chunks(Bad(i, None, "", "p", None) for i in range(9000))]
    assert short == [1024, 2048, 4000, 1928]
    long = [len(c) for c in scoring._chunks(Bad(i, None, "x" * 3000, "p", None) for i in range(10))]
    assert long == [4, 4, 2]


def test_memory_does_not_grow_with_the_file(world, rlenv, monkeypatch):
    monkeypatch.setattr(scoring, "CHUNK_CHARS", 1 << 20)
    path = world.folder / "r.jsonl"
    row = json.dumps({"task": "t0", "response": "x" * 10_000}) + "\n"
    with path.open("w") as file:
        for _ in range(3000):
            file.write(row)
    tracemalloc.start()
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--quiet")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.exit_code == 0
    assert path.stat().st_size > 30e6
    assert peak < 15e6
