"""`rlenv rollout`: rows that a report reads, a policy that fails in every way, and runs that are
killed.
"""

import json
import signal
import time

import pytest
from rlenv_cli.scores import ScoresReader

POLICIES = """
import json, sys, time

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Peru": "Lima"}


def right(messages, tools):
    country = messages[-1]["content"].removeprefix("Capital of ").removesuffix("?")
    return CAPITALS.get(country, "no idea")


async def right_async(messages, tools):
    return right(messages, tools)


def slow(messages, tools):
    time.sleep(0.5)
    return right(messages, tools)


def hangs_on_spain(messages, tools):
    while "Spain" in messages[-1]["content"]:
        time.sleep(0.05)
    return right(messages, tools)


def raises_on_italy(messages, tools):
    if "Italy" in messages[-1]["content"]:
        raise ValueError("no \\x1b[31mluck")
    return right(messages, tools)


def exits(messages, tools):
    sys.exit(0)


def none(messages, tools):
    pass


def with_ids(messages, tools):
    from rlenv import Tokens
    from rlenv_plugin_agent import Reply

    return Reply(right(messages, tools), Tokens([1, 2], [3], [-0.5]))


def looks_up(messages, tools):
    if messages[-1]["role"] == "tool":
        return messages[-1]["content"]
    function = {"name": "capital", "arguments": json.dumps({"question": messages[-1]["content"]})}
    calls = [{"type": "function", "function": function}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


NUMBER = 7
"""
TOOLS = '''
def capital(question: str) -> str:
    """Look a capital up.

    Args:
        question: as it was asked.
    """
    return {"Fr": "Paris", "It": "Rome", "Sp": "Madrid", "Pe": "Lima"}[question[11:13]]
'''
HARNESS = '[harness]\nkind = "tool-use"\ntools = ["./tools.py:capital"]\n\n'
SINGLE = '[[stage]]\nuse = "core/equal"\n'


@pytest.fixture
def played(world, rlenv):
    """Run a rollout with a policy of the file, in this process."""
    (world.folder / "policies.py").write_text(POLICIES)

    def run(policy, *args, out="o.jsonl"):
        return rlenv("rollout", "env.toml", "--policy", f"./policies.py:{policy}", "-o", out, *args)

    return run


@pytest.mark.parametrize("policy", ["right", "right_async"])
def test_a_single_turn_environment_needs_no_harness(world, played, policy):
    result = played(policy, "-n", "3")
    header, rows = world.read()

    assert result.exit_code == 0, result.output
    assert "12 responses to 4 tasks" in result.output
    assert header["schema"] == "rlenv.scores/1"
    assert {(row["task"], row["sample"]) for row in rows} == {
        (f"t{t}", k) for t in range(4) for k in range(3)
    }
    assert [row["row"] for row in rows] == [*range(1, 13)]
    assert {row["reward"] for row in rows} == {1.0}
    assert len({row["seed"] for row in rows}) == 12
    assert {(row["stop"], row["turns"], row["fingerprint"]) for row in rows} == {
        ("passed", 1, header["fingerprint"])
    }
    assert rows[0]["response"][-1]["role"] == "assistant"


def test_an_episode_is_a_row_too_and_a_report_reads_it(world, rlenv, played):
    (world.folder / "tools.py").write_text(TOOLS)
    world.write_env(HARNESS + SINGLE)
    done = played("looks_up", "--report", "page.html")
    with ScoresReader(world.folder / "o.jsonl") as reader:
        rows = [*reader.rows()]
    report = rlenv("report", "o.jsonl", "--tasks", "env.toml")

    assert done.exit_code == 0, done.output
    assert [message["role"] for message in rows[0]["response"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert {(row["turns"], row["reward"]) for row in rows} == {(2, 1.0)}
    assert "report of 4 rows" in report.output
    assert (world.folder / "page.html").read_text().startswith("<!doctype html>")


def test_token_ids_that_a_policy_tells_are_in_its_rows(world, played):
    assert played("with_ids").exit_code == 0
    call = {"prompt_ids": [1, 2], "ids": [3], "logprobs": [-0.5], "exact": True}
    assert [row["tokens"] for row in world.read()[1]] == [
        {"sampled": 1, "exact": True, "calls": [call]}
    ] * 4
    assert played("right", "--overwrite").exit_code == 0
    assert {(row["tokens"]["exact"], *row["tokens"]["calls"]) for row in world.read()[1]} == {
        (False,)
    }


def test_the_command_line_says_whether_calls_are_recorded_or_pinned(world, played):
    (world.folder / "tools.py").write_text(TOOLS)
    world.write_env(HARNESS + '[config]\ncall_log = "calls.db"\n\n' + SINGLE)
    assert "there is no" in played("looks_up", "--replay", "pin").stderr
    assert played("looks_up", "--replay", "record").exit_code == 0
    live = TOOLS.replace("return", "import os; return os.environ['NOT_SET'] or")
    (world.folder / "tools.py").write_text(live)
    pinned = played("looks_up", "--replay", "pin", "--overwrite")

    assert pinned.exit_code == 0, pinned.output
    assert {row["reward"] for row in world.read()[1]} == {1.0}
    world.write_env(HARNESS + SINGLE)
    assert "needs call_log" in played("looks_up", "--replay", "pin", "--overwrite").stderr


@pytest.mark.parametrize(
    ("args", "tasks"),
    [
        (["--task", "t2", "--task", "t0"], ["t0", "t2"]),
        (["--split", "test"], ["t1", "t3"]),
        (["--limit", "3"], ["t0", "t1", "t2"]),
        (["--split", "train", "--limit", "1"], ["t0"]),
    ],
)
def test_tasks_are_chosen(world, played, args, tasks):
    assert played("right", *args).exit_code == 0
    assert sorted(row["task"] for row in world.read()[1]) == tasks


def test_a_policy_that_raises_has_no_row_and_resume_plays_what_is_missing(world, played):
    first = played("raises_on_italy", "-n", "2")
    rows = world.read()[1]
    again = played("raises_on_italy", "-n", "2", "--resume")
    source = (world.folder / "policies.py").read_text()
    (world.folder / "policies.py").write_text(source.replace("ValueError", "KeyError"))
    other = played("raises_on_italy", "-n", "2", "--resume")

    assert first.exit_code == again.exit_code == 3
    assert sorted(row["task"] for row in rows) == ["t0", "t0", "t2", "t2", "t3", "t3"]
    assert {row["reward"] for row in rows} == {1.0}
    assert (
        "the policy failed in 2 rollouts: ValueError: no \\x1b[31mluck (policies.py:"
        in first.stderr
    )
    assert "2 rollouts not in o.jsonl; the same command with --resume" in again.stderr
    assert world.read()[1] == rows
    assert other.exit_code == 2
    assert "of another --policy (or its file has changed)" in other.stderr


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("none", "returned None"),
        ("exits", "SystemExit"),
        ("hangs_on_spain", "no action within 0.3 s"),
    ],
)
def test_a_policy_without_an_action_is_no_reward(world, played, policy, why):
    result = played(policy, "--policy-timeout", "0.3")

    assert result.exit_code == 3
    assert why in result.stderr
    assert all(row["reward"] == 1.0 for row in world.read()[1])


def test_a_policy_that_only_fails_ends_the_run(world, played):
    world.write_tasks([(f"{n}", "x") for n in range(200)])
    result = played("exits", "--concurrent", "4")

    assert result.exit_code == 3
    assert "after so many failures in a row no others were begun" in result.stderr
    assert 24 <= int(result.stderr.split(" rollouts: ")[0].split()[-1]) < 60


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("./policies.py:rigth", 'did you mean "right"'),
        ("./nothing.py:right", "nothing.py"),
        ("policies", "write package.module:name or ./file.py:name"),
        ("json:loads", "standard library"),
        ("no_such_module_here:fn", "install it"),
        ("./policies.py:NUMBER", "no function"),
        ("rlenv:__all__", "it is a list"),
    ],
)
def test_a_policy_that_is_not_there_is_named(world, played, rlenv, policy, why):
    (world.folder / "policies.py").write_text(POLICIES)
    result = rlenv("rollout", "env.toml", "--policy", policy, "-o", "o.jsonl")

    assert result.exit_code == 2
    assert why in result.stderr
    assert not (world.folder / "o.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import sys\nsys.exit(0)\n", "SystemExit: 0 (bad.py:2)"),
        ("import no_such_module_here\n", "ModuleNotFoundError"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named(world, rlenv, text, why):
    (world.folder / "bad.py").write_text(f"{text}def fn(messages, tools): return ''\n")
    result = rlenv("rollout", "env.toml", "--policy", "./bad.py:fn", "-o", "o.jsonl")

    assert result.exit_code == 2
    assert f"--policy ./bad.py:fn: {why}" in result.stderr


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--resume", "--overwrite"], "use one"),
        (["--retry-unscored"], "needs --resume"),
        (["--model", "x"], "leave them out"),
        (["--sampling", "temperature"], "KEY=VALUE"),
        (["--task", "t9"], "no task has the id"),
        (["--split", "none"], "splits: train, test"),
    ],
)
def test_wrong_arguments_are_named(played, args, why):
    result = played("right", *args)

    assert result.exit_code == 2
    assert why in result.stderr


def test_scores_are_not_overwritten_by_accident(world, played):
    played("right")
    before = world.read()
    again = played("right")
    more = played("right", "-n", "2", "--resume")

    assert again.exit_code == 2
    assert "--resume goes on with it" in again.stderr
    assert more.exit_code == 0
    assert world.read()[0] == {**before[0], "responses": 8}
    assert world.read()[1][:4] == before[1]
    assert len(world.read()[1]) == 8
    assert played("right", "--overwrite").exit_code == 0
    assert len(world.read()[1]) == 4


def test_a_torn_line_is_played_again(world, played):
    played("right", "-n", "4")
    path = world.folder / "o.jsonl"
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) - 300, len(whole) // 2, 30):
        path.write_bytes(whole[:size])
        assert played("right", "-n", "4", "--resume").exit_code == 0
        assert sorted((r["task"], r["sample"]) for r in world.read()[1]) == [
            (f"t{t}", k) for t in range(4) for k in range(4)
        ]


def test_rollouts_without_a_reward_are_played_again_when_asked(world, played, demo):
    world.write_env('[[stage]]\nuse = "demo/broken"\n')
    (world.folder / "policies.py").write_text(
        'import os\ndef right(messages, tools):\n    return "break" if "Peru" in'
        ' messages[-1]["content"] and not os.path.exists("mended") else "x"\n'
    )
    first = played("right", "-n", "2")
    (world.folder / "mended").touch()
    plain = played("right", "-n", "2", "--resume")
    again = played("right", "-n", "2", "--resume", "--retry-unscored")

    assert first.exit_code == plain.exit_code == 3
    assert "2 rollouts without score" in first.stderr
    assert again.exit_code == 0, again.output
    rows = world.read()[1]
    assert [row["row"] for row in rows] == [*range(1, 9)]
    assert {row["reward"] for row in rows} == {1.0}
    assert sorted(path.name for path in world.folder.glob("o.jsonl*")) == ["o.jsonl"]


def test_what_a_killed_run_wrote_is_kept(world, played):
    world.write_tasks([(f"{n}", "no idea") for n in range(100)])
    argv = [
        "rollout",
        "env.toml",
        "--policy",
        "./policies.py:slow",
        "--concurrent",
        "2",
        "-o",
        "o.jsonl",
    ]
    out = world.folder / "o.jsonl"
    with world.start(*argv) as process:
        _until(lambda: out.exists() and out.read_bytes().count(b"\n") > 3)
        second = world.run(*argv, "--resume")
        process.send_signal(signal.SIGKILL)
    kept = out.read_bytes()[: out.read_bytes().rindex(b"\n") + 1]
    code, _, err = world.run(*argv, "--resume", "--concurrent", "100")

    assert second[0] == 2
    assert "another run is writing this file" in second[2]
    assert code == 0, err
    assert out.read_bytes().startswith(kept)
    assert sorted(row["task"] for row in world.read()[1]) == sorted(f"t{n}" for n in range(100))


def test_an_interrupted_run_says_how_to_go_on(world, played):
    world.write_tasks([(f"{n}", "no idea") for n in range(100)])
    argv = [
        "rollout",
        "env.toml",
        "--policy",
        "./policies.py:slow",
        "--concurrent",
        "2",
        "-o",
        "o.jsonl",
    ]
    out = world.folder / "o.jsonl"
    with world.start(*argv) as process:
        _until(lambda: out.exists() and out.read_bytes().count(b"\n") > 3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert b"interrupted" in err
    assert b"--resume goes on from there" in err
    assert b"Traceback" not in err


def test_control_characters_and_new_lines_reach_no_screen(world, played):
    world.write_tasks([("x", "y")])
    row = json.dumps(
        {
            "id": "a\nReward 1\x1b]0;owned\x07",
            "question": "\x1b[31m?",
            "answer": "y",
            "split": "s\x1b[2J",
        }
    )
    (world.folder / "tasks.jsonl").write_text(row + "\n")
    for policy in ("right", "none"):
        result = played(policy, "--overwrite")
        assert "\x1b" not in result.output
        assert "\nReward 1" not in result.output


def _until(ready, seconds=60):
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.01)
