"""``rlenv verify`` explains one response so that a person can follow the arithmetic."""

import json
import re

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import Environment, Outcome, Slot, Task
from rlenv_cli.arithmetic import written_out

SHAPED = """
[[stage]]
use = "core/equal"
name = "right"
weight = 3

[[stage]]
use = "core/equal"
name = "loud"
options = { case = true }
penalty = 0.25

[[stage]]
use = "demo/slow"
name = "kept"
bonus = 0.1
options = { seconds = 0.0 }
"""


def verify(rlenv, response, *more, task="t0"):
    return rlenv("verify", "env.toml", "--task", task, "--response", "-", *more, stdin=response)


def test_a_right_response_is_explained_to_the_end(world, rlenv):
    result = verify(rlenv, "Paris\n")
    assert result.exit_code == 0, result.output
    for part in (
        "Task      t0",
        "Capital of France?",
        "5 characters",
        "core/equal",
        "score 1",
        "Reward    1",
        "Passed    yes",
        "Time",
    ):
        assert part in result.output


def test_the_arithmetic_is_written_out(world, rlenv, demo):
    world.write_env(SHAPED)
    result = verify(rlenv, "Rome")
    assert "mean   (3 x 0 (right)) / 3 = 0" in result.output
    assert "- 0.25 x (1 - 0) (loud) = -0.25" in result.output
    assert "bonuses pay nothing when the mean is 0" in result.output
    assert "clamped to [0, 1]: 0" in result.output
    right = verify(rlenv, "Paris")
    assert "1 x 1 + 0.1 x 1 (kept) - 0.25 x (1 - 1) (loud) = 1.1" in right.output
    assert "clamped to [0, 1]: 1" in right.output


def test_a_failed_gate_says_what_did_not_run(world, rlenv):
    world.write_env(
        '[[stage]]\nuse = "core/equal"\nname = "first"\ngate = 1\n\n[[stage]]\nuse ='
        ' "core/equal"\nname = "then"\n'
    )
    result = verify(rlenv, "Rome")
    assert "gate 1 FAILED" in result.output
    assert "(1 later stage did not run)" in result.output
    assert "0, since the gate of first failed (below 1)" in result.output


@pytest.mark.parametrize("kind", ["any", "all", "product", "first"])
def test_other_composites_say_how_they_decide(world, rlenv, kind):
    child = '[[stage.stage]]\nuse = "core/equal"\nname = "{}"\n'
    world.write_env(f'[[stage]]\nuse = "core/{kind}"\n{child.format("a")}{child.format("b")}')
    result = verify(rlenv, "Paris")
    assert result.exit_code == 0, result.output
    assert f"{kind}/a" in result.output
    assert "Reward    1" in result.output


def test_gold_is_for_the_operator_and_public_hides_it(world, rlenv, demo):
    world.write_env('[[stage]]\nuse = "demo/slow"\noptions = { seconds = 0.0 }\n')
    full = verify(rlenv, "Rome").output
    assert "operator only: the answer is Paris" in full
    assert "operator only: gold: Paris" in full
    public = verify(rlenv, "Rome", "--public").output
    assert "Paris" not in public
    assert "operator" not in public
    assert "chars: 4" in public


def test_a_fault_is_explained_with_what_to_do_and_status_3(world, rlenv, demo):
    world.write_env('[[stage]]\nuse = "demo/broken"\n')
    result = verify(rlenv, "break")
    assert result.exit_code == 3
    assert "fault: error: RuntimeError: no \\x1b[31mluck" in result.output
    assert "what to do: the stage has a bug" in result.output
    assert "Reward    none: unscored" in result.output
    assert "luck" not in verify(rlenv, "break", "--public").output


def test_a_file_of_messages_is_a_conversation(world, rlenv):
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Paris"}]
    (world.folder / "chat.json").write_text(json.dumps(messages))
    result = rlenv(
        "verify", "env.toml", "--prompt", "Capital of France?", "--response", "chat.json"
    )
    assert result.exit_code == 0, result.output
    assert "the last assistant text of 2 messages" in result.output


def test_hostile_text_is_escaped_in_every_place(world, rlenv):
    world.write_tasks([("\x1b[2Jx", "\x1b]0;y\x07")])
    result = verify(rlenv, "\x1b[31m\u202e\r")
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert "\\x1b[31m\\u202e" in result.output


def test_a_long_response_is_cut_and_an_empty_one_is_named(world, rlenv):
    long = verify(rlenv, "x\n" * 10_000)
    assert len(long.output.splitlines()) < 60
    assert "more characters" in long.output
    assert "(empty)" in verify(rlenv, "").output


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--task", "t9"), "t9"),
        (("--prompt", "Capital of Mars?"), "no task has the prompt"),
        (("--task", "t0", "--prompt", "x"), "either --task ID or --prompt TEXT"),
        ((), "either --task ID or --prompt TEXT"),
    ],
)
def test_a_task_that_is_not_there_is_a_mistake(world, rlenv, args, said):
    result = rlenv("verify", "env.toml", *args, "--response", "-", stdin="x")
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"ab\xffc", "byte 3 (0xff) is not UTF-8"),
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b"{}", "an object, not a text"),
        ("a.json", b"[" * 9999, "not valid JSON"),
        ("b.txt", None, "cannot be read"),
    ],
)
def test_a_response_that_cannot_be_read_is_a_mistake(world, rlenv, name, content, said):
    if content is not None:
        (world.folder / name).write_bytes(content)
    result = rlenv("verify", "env.toml", "--task", "t0", "--response", name)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert name in result.output


def test_a_response_may_be_given_as_text(world, rlenv):
    def verify_text(text):
        return rlenv("verify", "env.toml", "--task", "t0", "--text", text)

    assert "Reward    1" in verify_text("Paris").output
    # a dash is the response here, not standard input
    assert "Reward    0" in verify_text("-").output
    assert "(empty)" in verify_text("").output
    broken = verify_text("Par\udcffis")
    assert broken.exit_code == 2
    assert "--text is not UTF-8" in broken.output


@pytest.mark.parametrize("given", [(), ("--text", "Paris", "--response", "-")])
def test_exactly_one_response_is_wanted(world, rlenv, given):
    result = rlenv("verify", "env.toml", "--task", "t0", *given, stdin="Paris")
    assert result.exit_code == 2
    assert "--response FILE or --text TEXT" in result.output


@pytest.mark.parametrize(
    "name",
    ["Paris", "I think it is Paris.", "a\nb", "x" * 5000, "no/such/folder", "nul\0", "\x1b[2J"],
)
def test_a_response_given_as_a_file_name_is_told_so(world, rlenv, name):
    result = rlenv("verify", "env.toml", "--task", "t0", "--response", name)
    assert result.exit_code == 2, result.output
    assert "with --text instead of --response" in result.output
    assert len(result.output) < 400
    assert "\x1b" not in result.output


def test_a_misspelled_file_of_a_response_gets_its_nearest_name(world, rlenv):
    (world.folder / "reply.txt").write_text("Paris")
    result = rlenv("verify", "env.toml", "--task", "t0", "--response", "replay.txt")
    assert "did you mean reply.txt?" in result.output


def test_a_group_stage_sees_a_group_of_one(world, rlenv, demo):
    world.write_env('[[stage]]\nuse = "demo/ranked"\n')
    assert verify(rlenv, "Rome").exit_code == 0


@frozen
class Fixed:
    """Always says the same."""

    phase = "diff"
    where = "inline"
    score: float

    def check(self, attempt):
        return Outcome(self.score)


numbers = st.integers(0, 20).map(lambda n: n / 10)
slots = st.lists(
    st.tuples(st.integers(0, 10).map(lambda n: n / 10), numbers, numbers, numbers),
    min_size=1,
    max_size=4,
)


@given(slots)
@settings(max_examples=100, deadline=None)
def test_the_written_arithmetic_leads_to_the_verdict(rows):
    parts = [
        Slot(f"s{i}", Fixed(s), weight=w, bonus=b, penalty=p) for i, (s, w, b, p) in enumerate(rows)
    ]
    env = Environment("e", [*parts, Slot("last", Fixed(0.5), weight=1)])
    verdict = env.evaluate(Task("?", id="t"), "x")
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in written_out(env.root, verdict)}
    expression, _, result = (
        re.sub(r"\((s\d|last)\)", "", lines["sum"]).replace(" x ", " * ").rpartition(" = ")
    )
    assert eval(expression) == pytest.approx(float(result), abs=1e-4)
    assert float(result) == pytest.approx(verdict.raw, abs=1e-4)
    assert float(lines["value"].rpartition(" ")[2]) == pytest.approx(verdict.value, abs=1e-5)


def test_arguments_are_read_as_utf8_whatever_the_locale(world):
    world.write_tasks([("Türkiye", "☃")])
    plain = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    argv = [
        "verify",
        "env.toml",
        "--prompt",
        "Capital of Türkiye?".encode(),
        "--text",
        "☃".encode(),
    ]
    code, out, err = world.run(*argv, environ=plain)
    assert code == 0, err
    assert "Passed    yes" in out
    assert world.run("verify", "env.toml", "--task", "t0", "--text", b"\xff", environ=plain)[0] == 2
