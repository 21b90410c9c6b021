"""A run that is killed, interrupted or torn goes on where it was, without loss and without a
double.
"""

import json
import os
import signal
import time

import pytest

SLOW = '[[stage]]\nuse = "demo/slow"\noptions = { seconds = 0.01 }\n'
N = 120


@pytest.fixture
def slow(world):
    world.plugin()
    world.write_env(SLOW)
    rows = [{"task": f"t{i % 4}", "response": ["Paris", "Rome", "Bern"][i % 3]} for i in range(N)]
    world.write_rows(rows)
    return world


def without_seconds(rows):
    return json.loads(
        json.dumps(rows), object_hook=lambda d: {k: v for k, v in d.items() if k != "seconds"}
    )


def wait_for_rows(path, least, process):
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < least + 1:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def finish(world, *more):
    world.hurry()
    code, out, err = world.run("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--resume", *more)
    assert code == 0, err
    return out


def unbroken(world):
    assert world.run("score", "env.toml", "r.jsonl", "-o", "u.jsonl")[0] == 0
    return world.read("u.jsonl")


def test_killed_twice_and_resumed_equals_an_unbroken_run(slow):
    out = slow.folder / "o.jsonl"
    for least in (5, 50):
        process = slow.start("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--resume")
        wait_for_rows(out, least, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    kept = out.read_bytes()
    summary = finish(slow)
    assert out.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert f"{N} responses to 4 tasks" in summary
    header, rows = slow.read()
    want_header, want_rows = unbroken(slow)
    assert header == want_header
    assert without_seconds(rows) == without_seconds(want_rows)


def test_killed_with_workers_leaves_none_of_them_behind(slow):
    slow.write_env('[[stage]]\nuse = "demo/sleepy"\noptions = { seconds = 0.05 }\n')
    process = slow.start("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--workers", "2")
    wait_for_rows(slow.folder / "o.jsonl", 3, process)
    workers = children_of(process.pid)
    assert workers
    process.send_signal(signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 60
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    finish(slow, "--workers", "2")
    assert [r["row"] for r in slow.read()[1]] == list(range(1, N + 1))


def children_of(pid):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found.append(int(entry))
    return found


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def _signals_count():
    """Under nohup, or behind a shell's &, signals are ignored, and a child inherits that; here it
    must not.
    """
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    ignored = [number for number, handler in before.items() if handler is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


TWICE = pytest.mark.slow  # scored twice, with half a second for a response
OTHERS = [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]
SIGNALS = [
    pytest.param(signal.SIGINT, 130),
    *(pytest.param(*other, marks=TWICE) for other in OTHERS),
]


@pytest.mark.usefixtures("_signals_count")
@pytest.mark.parametrize(("number", "status"), SIGNALS)
@pytest.mark.parametrize("stage", ["slow", "sleepy"])
def test_an_interrupted_run_says_what_is_safe_and_goes_on(slow, number, status, stage):
    slow.write_env(f'[[stage]]\nuse = "demo/{stage}"\noptions = {{ seconds = 0.5 }}\n')
    process = slow.start("score", "env.toml", "r.jsonl", "-o", "o.jsonl")
    wait_for_rows(slow.folder / "o.jsonl", 5, process)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    safe = len(slow.read()[1])
    assert safe < N
    assert (
        f"interrupted; {safe} rows safe in o.jsonl; the same command with --resume" in err.decode()
    )
    assert b"Traceback" not in err
    finish(slow)
    assert [r["row"] for r in slow.read()[1]] == list(range(1, N + 1))


@pytest.fixture
def scored(world, rlenv):
    rows = [{"task": f"t{i % 4}", "response": ["Paris", "Rome"][i % 2]} for i in range(9)]
    path = world.write_rows(rows)
    assert rlenv("score", "env.toml", path, "-o", "u.jsonl", "--quiet").exit_code == 0
    return world


@pytest.mark.parametrize("cut", [0, 1, 40, -1, -30, -400])
def test_a_torn_file_is_cut_and_completed(scored, rlenv, cut):
    whole = (scored.folder / "u.jsonl").read_bytes()
    (scored.folder / "o.jsonl").write_bytes(whole[:cut])
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--resume")
    assert result.exit_code == 0, result.output
    assert without_seconds(scored.read("o.jsonl")[1]) == without_seconds(scored.read("u.jsonl")[1])
    assert "9 responses to 4 tasks" in result.output


def test_garbage_after_a_crash_is_cut(scored, rlenv):
    lines = (scored.folder / "u.jsonl").read_bytes().splitlines(keepends=True)
    (scored.folder / "o.jsonl").write_bytes(b"".join(lines[:4]) + b"\0" * 5000)
    assert rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--resume").exit_code == 0
    assert len(scored.read()[1]) == 9


def test_resuming_a_complete_run_changes_nothing_and_shows_the_summary(scored, rlenv):
    before = (scored.folder / "u.jsonl").read_bytes()
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "u.jsonl", "--resume")
    assert result.exit_code == 0
    assert "9 responses to 4 tasks" in result.output
    assert (scored.folder / "u.jsonl").read_bytes() == before


def test_resuming_what_was_never_begun_begins_it(scored, rlenv):
    assert rlenv("score", "env.toml", "r.jsonl", "-o", "new.jsonl", "--resume").exit_code == 0
    assert len(scored.read("new.jsonl")[1]) == 9


def test_unscored_rows_of_the_earlier_run_still_count(world, rlenv):
    path = world.write_rows([{"task": "t9", "response": "x"}, {"task": "t0", "response": "x"}])
    assert rlenv("score", "env.toml", path, "-o", "o.jsonl", "--limit", "1").exit_code == 3
    assert rlenv("score", "env.toml", path, "-o", "o.jsonl", "--resume").exit_code == 3


def change_configuration(world):
    world.write_env('[[stage]]\nuse = "core/equal"\noptions = { nfkc = true }\n')


def change_tasks(world):
    world.write_tasks(
        [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Peru", "Lima!")]
    )


def change_responses(world):
    with (world.folder / "r.jsonl").open("a") as file:
        file.write('{"task": "t0", "response": "more"}\n')


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (change_configuration, "the configuration"),
        (change_tasks, "the tasks changed"),
        (change_responses, "the responses changed"),
    ],
)
def test_a_run_of_something_else_is_refused_and_says_what_differs(scored, rlenv, change, said):
    before = (scored.folder / "u.jsonl").read_bytes()
    change(scored)
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "u.jsonl", "--resume")
    assert result.exit_code == 2
    assert "cannot go on" in result.output
    assert said in result.output
    assert "safe" not in result.output
    assert (scored.folder / "u.jsonl").read_bytes() == before


OTHER = "another secret, just as long as the first one"


def test_two_machines_without_a_secret_go_on_with_each_others_file(scored, rlenv, monkeypatch):
    monkeypatch.delenv("RLENV_SECRET")
    begun = ("score", "env.toml", "r.jsonl", "-o", "o.jsonl")
    for name in ("one", "two"):
        monkeypatch.setenv("XDG_STATE_HOME", str(scored.folder / name))
        result = rlenv(*begun, *(("--limit", "4") if name == "one" else ("--resume",)))
        assert result.exit_code == 0, result.output
    wanted = scored.read("u.jsonl")
    wanted[0].pop("chain")
    assert without_seconds(list(scored.read("o.jsonl"))) == without_seconds(list(wanted))


def test_a_file_that_was_chained_with_another_secret_is_not_gone_on_with(
    scored, rlenv, monkeypatch
):
    begun = ("score", "env.toml", "r.jsonl", "-o", "o.jsonl")
    assert rlenv(*begun, "--limit", "4").exit_code == 0
    before = (scored.folder / "o.jsonl").read_bytes()
    for secret, words in ((OTHER, "another RLENV_SECRET"), ("", "set RLENV_SECRET to the one")):
        monkeypatch.setenv("RLENV_SECRET", secret)
        result = rlenv(*begun, "--resume")
        assert result.exit_code == 2
        assert words in result.output
        assert (scored.folder / "o.jsonl").read_bytes() == before


def test_an_edited_reward_is_found_by_resume(scored, rlenv):
    begun = ("score", "env.toml", "r.jsonl", "-o", "o.jsonl")
    assert rlenv(*begun, "--limit", "4").exit_code == 0
    path = scored.folder / "o.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"reward": 0.0', b'"reward": 1.0', 1))
    result = rlenv(*begun, "--resume")
    assert result.exit_code == 2
    assert "its mac does not fit" in result.output


def test_where_a_stage_draws_another_secret_is_another_configuration(
    world, rlenv, demo, monkeypatch
):
    monkeypatch.setattr(demo.Slow, "draws", True, raising=False)
    world.write_env('[[stage]]\nuse = "demo/slow"\noptions = { seconds = 0.0 }\n')
    world.write_rows([{"task": "t0", "response": "Paris"}] * 3)
    assert rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--limit", "1").exit_code == 0
    monkeypatch.setenv("RLENV_SECRET", OTHER)
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--resume")
    assert result.exit_code == 2
    assert "the secret" in result.output


def test_an_existing_file_is_not_overwritten_without_a_word(scored, rlenv):
    before = (scored.folder / "u.jsonl").read_bytes()
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "u.jsonl")
    assert result.exit_code == 2
    assert all(
        word in result.output for word in ("u.jsonl: exists", "--resume", "--overwrite", "-o")
    )
    assert (scored.folder / "u.jsonl").read_bytes() == before


def test_overwriting_starts_anew(scored, rlenv):
    change_tasks(scored)
    assert (
        rlenv(
            "score", "env.toml", "r.jsonl", "-o", "u.jsonl", "--overwrite", "--limit", "3"
        ).exit_code
        == 0
    )
    assert len(scored.read("u.jsonl")[1]) == 3


def test_a_file_that_holds_no_scores_is_never_overwritten(scored, rlenv):
    for flag in ("--resume", "--overwrite", "--quiet"):
        result = rlenv("score", "env.toml", "r.jsonl", "-o", "tasks.jsonl", flag)
        assert result.exit_code == 2
        assert "not a file of scores" in result.output
    for name, what in (("r.jsonl", "the responses"), ("env.toml", "the environment")):
        result = rlenv("score", "env.toml", "r.jsonl", "-o", name, "--overwrite")
        assert result.exit_code == 2
        assert f"this is the file of {what}" in result.output
    assert "Paris" in (scored.folder / "tasks.jsonl").read_text()


def test_a_damaged_file_is_refused_with_its_line(scored, rlenv):
    lines = (scored.folder / "u.jsonl").read_bytes().splitlines(keepends=True)
    lines[4] = b"damaged\n"
    (scored.folder / "o.jsonl").write_bytes(b"".join(lines))
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--resume")
    assert result.exit_code == 2
    assert "o.jsonl: line 5 is damaged" in result.output
    assert (scored.folder / "o.jsonl").read_bytes() == b"".join(lines)


@pytest.mark.parametrize("line", [0, 1, 4])
def test_overwrite_starts_a_damaged_file_anew_as_its_message_advises(scored, rlenv, line):
    path = scored.folder / "u.jsonl"
    clean = scored.read("u.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line][:40] + b"\0\0\n"
    path.write_bytes(b"".join(lines))
    refused = rlenv("score", "env.toml", "r.jsonl", "-o", "u.jsonl", "--resume")
    assert refused.exit_code == 2
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "u.jsonl", "--overwrite")
    assert result.exit_code == 0, result.output
    assert without_seconds(list(scored.read("u.jsonl"))) == without_seconds(list(clean))


def test_resume_and_overwrite_exclude_each_other(scored, rlenv):
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "u.jsonl", "--resume", "--overwrite")
    assert result.exit_code == 2
