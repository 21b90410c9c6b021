"""``rlenv score`` from a file of responses to a file of scores, a summary and a status."""

import gzip
import hashlib
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = [
    {"task": "t0", "response": "Paris"},
    {"prompt": "Capital of Italy?", "response": "Rome"},
    {"task": "t2", "response": "Lisbon"},
    {
        "task": "t3",
        "response": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Lima"}],
    },
]


def flat(text):
    """The text of tables without their layout."""
    return " ".join(text.split())


def test_every_response_gets_one_line_in_order_under_a_header(world, rlenv):
    path = world.write_rows(ROWS)
    result = rlenv("score", "env.toml", path, "-o", "o.jsonl")
    assert result.exit_code == 0, result.output
    header, rows = world.read()
    keys = [
        "schema",
        "env",
        "fingerprint",
        "tasks_sha256",
        "responses_sha256",
        "responses",
        "chain",
    ]
    assert list(header) == keys
    assert (header["schema"], header["env"]) == ("rlenv.scores/1", "capitals")
    assert header["responses_sha256"] == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert [r["row"] for r in rows] == [1, 2, 3, 4]
    assert [r["task"] for r in rows] == ["t0", "t1", "t2", "t3"]
    assert [r["reward"] for r in rows] == [1.0, 1.0, 0.0, 1.0]
    assert [r["passed"] for r in rows] == [True, True, False, True]
    assert rows[3]["response"] == ROWS[3]["response"]
    assert list(rows[0]) == [
        "row",
        "task",
        "response",
        "reward",
        "passed",
        "stopped_at",
        "fault",
        "stages",
    ]
    assert list(rows[0]["stages"][0]) == [
        "name", "use", "phase", "score", "weight", "gate", "penalty", "bonus", "detail", "data",
        "private", "steps", "fault", "seconds", "children",
    ]  # fmt: skip


def test_the_summary_says_how_good_and_how_sure(world, rlenv):
    out = flat(rlenv("score", "env.toml", world.write_rows(ROWS * 2), "-o", "o.jsonl").output)
    assert "8 responses to 4 tasks" in out
    assert "0.7500" in out
    assert "clustered by task" in out
    assert "100.0 % of 4 tasks: all responses get the same reward (1 all 0, 3 all 1)" in out
    assert "core/equal" in out
    assert "Slowest" in out


def test_quiet_says_nothing(world, rlenv):
    result = rlenv("score", "env.toml", world.write_rows(ROWS), "-o", "o.jsonl", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


BAD_ROWS = [
    ({"task": "nobody", "response": "x"}, "no task has the id 'nobody'"),
    ({"prompt": "Capital of Mars?", "response": "x"}, "no task has the prompt"),
    ({"task": "t0"}, "no response"),
    ({"task": "t0", "response": None}, "empty (null)"),
    ({"task": "t0", "response": 7}, "a number, not a text"),
    ({"task": "t0", "response": {"text": "x"}}, "an object, not a text"),
    ({"task": "t0", "response": ["x"]}, "element 0 is no message"),
    (
        {"task": "t0", "response": [{"role": "user", "content": "x"}]},
        "without one of the assistant",
    ),
    ({"task": "t0", "response": []}, "without one of the assistant"),
    ({"task": True, "response": "x"}, "task is true or false"),
    ({"task": ["t0"], "response": "x"}, "task is a list"),
    ({"response": "x"}, "neither a task nor a prompt"),
]


def test_a_row_that_makes_no_sense_is_unscored_by_itself(world, rlenv):
    bad = [row for row, _ in BAD_ROWS]
    rows = [row for pair in zip([ROWS[0]] * len(bad), bad, strict=True) for row in pair]
    result = rlenv("score", "env.toml", world.write_rows(rows), "-o", "o.jsonl")
    assert result.exit_code == 3
    _, got = world.read()
    assert [r["reward"] for r in got[::2]] == [1.0] * len(bad)
    assert all(r["reward"] is None and r["passed"] is None for r in got[1::2])
    for scored, (given, said) in zip(got[1::2], BAD_ROWS, strict=True):
        assert scored["fault"]["kind"] == "input"
        assert said in scored["fault"]["message"]
        assert scored["response"] == given.get("response")
    assert f"input: {len(bad)} rows, first row 2:" in flat(result.output)
    assert "input: correct the row" in result.output
    assert "The verifier itself" not in result.output


def test_unscored_rows_up_to_the_limit_are_no_failure(world, rlenv):
    path = world.write_rows(
        [*ROWS, {"task": "t9", "response": "x"}, {"task": "t9", "response": "x"}]
    )
    run = ("score", "env.toml", path, "-o", "o.jsonl", "--overwrite", "--quiet", "--max-unscored")
    assert rlenv(*run, "1").exit_code == 3
    assert rlenv(*run, "2").exit_code == 0


def test_a_task_id_may_be_a_number(world, rlenv):
    (world.folder / "tasks.jsonl").write_text(
        '{"id": 7, "question": "?", "answer": "x", "split": "s"}\n'
    )
    rlenv("score", "env.toml", world.write_rows([{"task": 7, "response": "x"}]), "-o", "o.jsonl")
    assert world.read()[1][0]["reward"] == 1.0


def test_json_csv_gzip_parquet_and_standard_input_score_alike(world, rlenv):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [r for r in ROWS if isinstance(r["response"], str)]
    full = [{"task": r.get("task", "t1"), "response": r["response"]} for r in rows]
    text = "".join(json.dumps(r) + "\n" for r in full)
    world.write_rows(full, "a.jsonl")
    (world.folder / "b.csv").write_text(
        "task,response\n" + "".join(f"{r['task']},{r['response']}\n" for r in full)
    )
    (world.folder / "c.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    parquet.write_table(pa.Table.from_pylist(full), world.path("d.parquet"))
    (world.folder / "e.json").write_text(json.dumps(full, indent=2))
    seen = []
    for n, name in enumerate(["a.jsonl", "e.json", "b.csv", "c.jsonl.gz", "d.parquet", "-"]):
        result = rlenv("score", "env.toml", name, "-o", f"o{n}.jsonl", "--quiet", stdin=text)
        assert result.exit_code == 0, result.output
        seen.append(
            [
                (r["row"], r["task"], r["response"], r["reward"])
                for r in world.read(f"o{n}.jsonl")[1]
            ]
        )
    assert all(rows == seen[0] for rows in seen)


def test_standard_input_can_be_resumed_by_piping_it_again(world, rlenv):
    text = "".join(json.dumps(r) + "\n" for r in ROWS)
    assert (
        rlenv("score", "env.toml", "-", "-o", "o.jsonl", "--limit", "2", stdin=text).exit_code == 0
    )
    assert len(world.read()[1]) == 2
    assert rlenv("score", "env.toml", "-", "-o", "o.jsonl", "--resume", stdin=text).exit_code == 0
    assert len(world.read()[1]) == 4
    changed = rlenv("score", "env.toml", "-", "-o", "o.jsonl", "--resume", stdin=text + text)
    assert changed.exit_code == 2
    assert "the responses changed" in changed.output


def test_a_limit_scores_the_first_rows_only(world, rlenv):
    path = world.write_rows(ROWS)
    assert rlenv("score", "env.toml", path, "-o", "o.jsonl", "--limit", "2").exit_code == 0
    assert len(world.read()[1]) == 2
    assert (
        rlenv("score", "env.toml", path, "-o", "o.jsonl", "--limit", "1", "--resume").exit_code == 0
    )
    assert len(world.read()[1]) == 2


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--resume",)])
def test_a_file_without_responses_is_a_mistake_and_leaves_no_scores(world, rlenv, more):
    (world.folder / "r.jsonl").write_text("\n")
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", *more)
    assert (result.exit_code, result.output) == (
        2,
        "rlenv: error: r.jsonl contains no responses, so nothing was scored\n",
    )
    assert not (world.folder / "o.jsonl").exists()


def test_no_row_at_all_may_be_asked_for(world, rlenv):
    path = world.write_rows([{"task": "t0", "response": "Paris"}])
    result = rlenv("score", "env.toml", path, "-o", "o.jsonl", "--limit", "0")
    assert result.exit_code == 0
    assert world.read()[1] == []
    assert "nothing was scored" in result.output


def test_hostile_responses_stay_data(world, rlenv):
    texts = ["\x1b]0;owned\x07", "a\u0000b", "\ud800", "\u202e", "[red]", "x" * 10**6]
    path = world.write_rows([{"task": "t0", "response": text} for text in texts])
    result = rlenv("score", "env.toml", path, "-o", "o.jsonl")
    assert result.exit_code == 0
    assert "\x1b]" not in result.output
    assert [r["response"] for r in world.read()[1]] == texts
    assert (world.folder / "o.jsonl").read_bytes().isascii()


def test_options_are_set_from_the_command_line(world, rlenv):
    path = world.write_rows([{"task": "t0", "response": "P a r i s"}])
    plain = rlenv("score", "env.toml", path, "-o", "a.jsonl", "--quiet")
    aliased = rlenv(
        "score", "env.toml", path, "-o", "b.jsonl", "--set", 'equal.aliases={"Paris"=["P a r i s"]}'
    )
    assert (plain.exit_code, aliased.exit_code) == (0, 0), aliased.output
    assert world.read("a.jsonl")[1][0]["reward"] == 0.0
    assert world.read("b.jsonl")[1][0]["reward"] == 1.0


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("case", "write STAGE.OPTION=VALUE"),
        ("equal=1", "write STAGE.OPTION=VALUE"),
        ("equl.case=true", "equal"),
        ("equal.cas=true", "case"),
    ],
)
def test_a_setting_that_fits_nothing_is_refused(world, rlenv, setting, said):
    result = rlenv("score", "env.toml", world.write_rows(ROWS), "-o", "o.jsonl", "--set", setting)
    assert result.exit_code == 2
    assert said in result.output
    assert not (world.folder / "o.jsonl").exists()


def test_workers_and_isolation_give_the_same_rewards(world, rlenv):
    path = world.write_rows(ROWS)
    for n, more in enumerate([(), ("--workers", "2"), ("--isolate",)]):
        result = rlenv("score", "env.toml", path, "-o", f"o{n}.jsonl", "--quiet", *more)
        assert result.exit_code == 0, result.output
    rewards = [[r["reward"] for r in world.read(f"o{n}.jsonl")[1]] for n in range(3)]
    assert rewards[0] == rewards[1] == rewards[2] == [1.0, 1.0, 0.0, 1.0]


def test_a_stage_that_breaks_leaves_its_row_unscored_and_is_named(world):
    world.plugin()
    env = world.write_env('[[stage]]\nuse = "demo/broken"\n')
    path = world.write_rows(
        [{"task": "t0", "response": r} for r in ("fine", "break it", "break", "fine")]
    )
    code, out, _ = world.run("score", env, path, "-o", "o.jsonl")
    assert code == 3
    assert [r["reward"] for r in world.read()[1]] == [1.0, None, None, 1.0]
    assert "RuntimeError: no \\x1b[31mluck" in out
    assert "row 2" in out


@pytest.mark.parametrize("closed", ["2>&-", "1>&-", "0<&- 1>&- 2>&-"])
def test_closed_standard_streams_cost_no_row_and_no_status(world, closed):
    world.write_rows(ROWS)
    command = (
        f"exec {shlex.quote(sys.executable)} -m rlenv score env.toml r.jsonl -o o.jsonl {closed}"
    )
    with subprocess.Popen(
        ["bash", "-c", command],
        cwd=world.folder,
        env=world.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b""), err
    assert [row["reward"] for row in world.read()[1]] == [1.0, 1.0, 0.0, 1.0]
    assert (b"written to o.jsonl" in out) == ("1>" not in closed)


REWARD = """
def mine(response, answer):
    if response == "none":
        return None
    if response == "raise":
        raise ValueError("cannot \\x1b[31mread")
    if response == "away":
        raise ConnectionError("no server")
    return float(response == answer)
"""


@pytest.fixture
def function(world):
    (world.folder / "reward.py").write_text(REWARD)
    world.write_env('[[stage]]\nuse = "./reward.py:mine"\n')
    texts = ["Paris", "none", "Rome", "none", "raise", "away", "none"]
    world.write_rows([{"task": "t0", "response": text} for text in texts])
    return world


def test_the_summary_says_what_the_verifier_itself_left_unscored(function, rlenv):
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl")
    assert result.exit_code == 3
    said = flat(result.output)
    assert (
        "The verifier itself left 4 responses unscored: mine returned no score (3), mine raised"
        in said
    )
    assert "It should return 0.0 for a response that it cannot read." in said
    assert "contract in mine: 3 rows, first row 2:" in said
    assert "1 response may get a reward when asked again: the same command with --resume" in said
    assert "\x1b" not in result.output


def test_reasons_go_to_standard_error_also_when_quiet(function):
    code, out, err = function.run(
        "score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--quiet", "--max-unscored", "9"
    )
    assert (code, out) == (0, "")
    lines = err.splitlines()
    assert lines[0].startswith("rlenv: 3 responses unscored, contract in mine; first row 2: ")
    assert [line.split(";")[0] for line in lines[1:]] == [
        "rlenv: 1 response unscored, error in mine",
        "rlenv: 1 response unscored, unavailable in mine",
    ]
    assert "cannot \\x1b[31mread" in lines[1]


def group_rows(*lengths):
    return [{"task": f"t{t}", "response": "x" * n} for t, ns in enumerate(lengths) for n in ns]


@pytest.fixture
def ranked(world, demo):
    world.write_env('[[stage]]\nuse = "demo/ranked"\n')
    return world


def test_a_group_stage_needs_the_group(ranked, rlenv):
    path = ranked.write_rows(group_rows([1, 3, 2], [5, 5]))
    refused = rlenv("score", "env.toml", path, "-o", "o.jsonl")
    assert refused.exit_code == 2
    assert "--group" in refused.output
    assert rlenv("score", "env.toml", path, "-o", "o.jsonl", "--group").exit_code == 0
    assert [r["reward"] for r in ranked.read()[1]] == [0.0, 1.0, 0.0, 1.0, 1.0]


def test_a_group_cut_in_two_is_judged_whole_again(ranked, rlenv):
    path = ranked.write_rows(group_rows([1, 3, 2], [4, 5], [1, 2]))
    assert rlenv("score", "env.toml", path, "-o", "whole.jsonl", "--group").exit_code == 0
    whole = (ranked.folder / "whole.jsonl").read_bytes().splitlines(keepends=True)
    for keep in range(1, 9):
        (ranked.folder / "o.jsonl").write_bytes(b"".join(whole[:keep]))
        assert (
            rlenv("score", "env.toml", path, "-o", "o.jsonl", "--group", "--resume").exit_code == 0
        )
        rewards = [r["reward"] for r in ranked.read()[1]]
        assert rewards == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]


def test_a_bad_row_of_a_group_takes_no_part_in_it(ranked, rlenv):
    rows = group_rows([1, 3, 2])
    rows.insert(2, {"task": "t0", "response": None})
    rows.append({"task": "nobody", "response": "x"})
    path = ranked.write_rows(rows)
    assert rlenv("score", "env.toml", path, "-o", "o.jsonl", "--group").exit_code == 3
    assert [r["reward"] for r in ranked.read()[1]] == [0.0, 1.0, None, 0.0, None]


def test_a_scattered_group_is_refused_before_anything_is_scored(ranked, rlenv):
    path = ranked.write_rows([*group_rows([1], [2]), {"task": "t0", "response": "x"}])
    refused = rlenv("score", "env.toml", path, "-o", "o.jsonl", "--group")
    assert refused.exit_code == 2
    assert "row 3: task 't0' comes again" in refused.output
    assert "sort the file by task" in refused.output
    assert not (ranked.folder / "o.jsonl").exists()
