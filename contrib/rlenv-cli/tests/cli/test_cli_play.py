"""`rlenv play`: a person in the policy's place, at a terminal and by a pipe."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOOLS = '''
def add(a: int, b: int, note: str = "") -> str:
    """Add two numbers.

    Args:
        a: one.
        b: the other.
        note: repeated.
    """
    return f"{a + b}{note}"


def hostile() -> str:
    """Say what a terminal would obey."""
    return "\\x1b]0;owned\\x07\\x1b[2J"
'''
HARNESS = (
    '[harness]\nkind = "tool-use"\ntools = ["./tools.py:add", "./tools.py:hostile"]\nturn_limit ='
    " 6\n\n"
)
STAGE = '[[stage]]\nuse = "core/equal"\n'


@pytest.fixture
def sums(world):
    """An environment with tools."""
    (world.folder / "tools.py").write_text(TOOLS)
    world.write_env(HARNESS + STAGE)
    return world


@pytest.fixture
def play(rlenv):
    def run(*lines, args=()):
        return rlenv("play", "env.toml", *args, stdin="".join(f"{line}\n" for line in lines))

    return run


def test_an_answer_by_a_pipe_is_explained(world, play):
    right = play("Paris")
    wrong = play("Rome", args=["--task", "t0"])

    assert right.exit_code == wrong.exit_code == 0
    assert "[user]\nCapital of France?" in right.output
    assert "Reward    1" in right.output
    assert "Reward    0" in wrong.output
    assert "operator only: the answer is Paris" in wrong.output
    assert "Paris" not in play("Rome", args=["--public"]).output


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/call add a=2 b=3", "[tool]\n5\n"),
        ('/call add {"a": 2, "b": 4}', "[tool]\n6\n"),
        ('/call add a=1 b=1 note=" 3 4"', "[tool]\n2 3 4\n"),
        ("/call add a=1 b=1 note=7", "[tool]\n27\n"),
        ("/call add a=1 b=x", "is not of type 'integer'"),
        ("/call hostile", "[tool]\n\\x1b]0;owned\\x07\\x1b[2J\n"),
    ],
)
def test_tools_are_called(sums, play, line, said):
    result = play(line, "Paris")

    assert said in result.output
    assert "Reward    1" in result.output
    assert "\x1b" not in result.output


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/call ad a=1", 'did you mean "add"'),
        ("/call", "no tool ''"),
        ("/call add a=1 b", "write key=value"),
        ('/call add a="1', "No closing quotation; /help says how"),
        ('/call add {"a": 1', "delimiter: line 1"),
        ('/call add {"a": ' + "[" * 100_000, "/help says how"),
        ("/help", "an answer of several lines"),
        ("/nothing", "an answer of several lines"),
        ("/help", "add(a: integer, b: integer, note: string)  Add two numbers."),
    ],
)
def test_what_is_no_action_takes_no_turn(sums, play, line, said):
    result = play(line, "Paris")

    assert said in result.output
    assert "[tool]" not in result.output
    assert "Reward    1" in result.output


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["/text", "one", "/two", "."], "one\n          /two"),
        (["/text one", "two"], "one\n          two"),
        (["//call add"], "/call add"),
        (['{"name": "add", "arguments": {}}'], '{"name": "add", "arguments": {}}'),
        ([""], "(empty)"),
    ],
)
def test_an_answer_may_have_several_lines_or_look_like_a_command(sums, play, lines, answer):
    assert f"          {answer}\n" in play(*lines).output


def test_a_program_may_answer_by_pipes(sums):
    with sums.start("play", "env.toml", stdin=subprocess.PIPE, bufsize=0) as process:
        for line, awaited in (("/call add a=1 b=1\n", b"Add two"), ("Paris\n", b"[tool]\n2\n")):
            seen = b""
            while awaited not in seen:
                seen += os.read(process.stdout.fileno(), 65536)
            process.stdin.write(line.encode())
        assert b"Reward    1" in process.stdout.read()


def test_the_end_of_the_input_gives_up(sums, play):
    for lines in ([], ["/call add a=1 b=1"]):
        result = play(*lines)
        assert result.exit_code == 0, result.output
        assert "ended: gave_up" in result.output
        assert "Reward    0" in result.output


def test_wrong_arguments_are_named(world, play):
    unknown = play(args=["--task", "t9"])
    world.write_tasks([])
    none = play()

    assert unknown.exit_code == none.exit_code == 2
    assert "no task has the id 't9'" in unknown.output
    assert "Error" not in none.output


def test_a_task_cannot_write_to_the_screen(world, play):
    (world.folder / "tasks.jsonl").write_text(
        '{"id": "a\\nReward    1\\u001b[2J", "question": "\\u001b]0;owned\\u0007?\\u202e",'
        ' "answer": "x", "split": "s"}\n'
    )
    result = play("\x1b[31mx")

    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert "\nReward    1" not in result.output
    assert "\\x1b]0;owned" in result.output


class Terminal:
    """`rlenv play` at a pseudo terminal."""

    def __init__(self, world):
        self.ours, theirs = pty.openpty()
        self.seen = ""
        self.process = subprocess.Popen(
            ["setsid", "--ctty", sys.executable, "-m", "rlenv", "play", "env.toml"],
            env=world.environ(TERM="xterm", COLUMNS="100", NO_COLOR="1"),
            cwd=world.folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)

    def until(self, text):
        """Read until the screen shows ``text``; None: until the end."""
        while text is None or text not in self.seen:
            assert select.select([self.ours], [], [], 60)[0], self.seen
            try:
                part = os.read(self.ours, 65536)
            except OSError:
                part = b""
            if not part:
                assert text is None, self.seen
                return
            self.seen += part.decode().replace("\r\n", "\n")

    def type(self, text):
        os.write(self.ours, text.encode())

    def waits(self):
        """Until the process waits for a key; readline sees a signal that comes before with the next
        key only.
        """
        stat = Path(f"/proc/{self.process.pid}/stat")
        asleep = 0
        deadline = time.monotonic() + 60
        while asleep < 5:
            assert time.monotonic() < deadline
            time.sleep(0.01)
            asleep = asleep + 1 if stat.read_text().rpartition(")")[2].split()[0] == "S" else 0

    def end(self):
        self.until(None)
        return self.process.wait(timeout=60)


@pytest.fixture
def screen(sums):
    made = Terminal(sums)
    yield made
    made.process.kill()
    made.process.wait()
    os.close(made.ours)


def test_a_terminal_asks_and_explains(screen):
    screen.until("> ")
    screen.type("/call add a=2 b=3\n")
    screen.until("[tool]\n5\n")
    screen.type("Parix\x7fs\n")
    assert screen.end() == 0
    assert "Reward    1" in screen.seen


def test_a_long_line_is_not_cut(screen):
    screen.until("> ")
    for part in ["word " * 200] * 10:
        screen.type(part)
        time.sleep(0.02)
    screen.type("\n")
    assert screen.end() == 0
    assert "Response  10,000 characters" in screen.seen


def test_control_d_gives_up(screen):
    screen.until("> ")
    screen.type("\x04")
    assert screen.end() == 0
    assert "ended: gave_up" in screen.seen
    assert "Traceback" not in screen.seen


@pytest.mark.parametrize("by", ["key", "signal"])
def test_control_c_leaves_cleanly(screen, by):
    screen.until("> ")
    screen.waits()
    if by == "key":
        screen.type("\x03")
    else:
        screen.process.send_signal(signal.SIGTERM)
    assert screen.end() == (130 if by == "key" else 143)
    assert "interrupted" in screen.seen
    assert "Traceback" not in screen.seen
