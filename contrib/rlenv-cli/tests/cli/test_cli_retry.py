"""``score --resume --retry-unscored`` asks unscored rows again and loses no other row."""

import json
import os
import random
import signal
import time
import types

import pytest
from rlenv_cli.scores.chain import unlinked
from rlenv_cli.scores.file import ScoresReader
from rlenv_cli.scoring import retry
from rlenv_cli.scoring.durable import DurableFile

PLUGIN = '''
import os, time
from rlenv import hookimpl
from rlenv.model.values import Outcome

RLENV_API = 1


class Remote:
    """Right or wrong; unreachable for some responses while there is a file "down"."""

    phase, where = "diff", "inline"

    def check(self, attempt):
        time.sleep(0.004)
        if attempt.response.startswith("?") and os.path.exists("down"):
            raise ConnectionError("the judge is away")
        return Outcome(float(attempt.response.lstrip("?") == attempt.task.answer))


class Ranked:
    """The longest of a group wins.

    Nobody does while there is a file "down" and a "?" in the group.
    """

    phase, where = "judge", "inline"

    def check_group(self, attempts):
        lengths = [len(a.response) for a in attempts]
        if os.path.exists("down") and any(a.response.startswith("?") for a in attempts):
            raise ConnectionError("the judge is away")
        return [Outcome(float(n == max(lengths)), f"of {len(lengths)}") for n in lengths]


@hookimpl
def rlenv_stages():
    return {"judge": Remote, "ranked": Ranked}
'''
ANSWERS = ["Paris", "?Rome", "Rome", "?Paris", "?Lima"]


@pytest.fixture
def flaky(world, rlenv):
    """Rows of which some are unscored while the file "down" is there; the plugin works in this
    process too.
    """
    from rlenv.plugins.registry import registry

    module = types.ModuleType("far_module")
    exec(PLUGIN, vars(module))
    registry().register(module, "far")
    world.write_plugin("far", PLUGIN)
    world.write_env('[[stage]]\nuse = "far/judge"\n')
    rows = [{"task": f"t{i % 4}", "response": ANSWERS[i % 5]} for i in range(30)]
    world.write_rows([*rows, {"task": "t9", "response": "nobody's"}])
    yield world
    registry().unregister("far")


def score(rlenv, *more, out="o.jsonl"):
    return rlenv("score", "env.toml", "r.jsonl", "-o", out, "--max-unscored", "99", *more)


def again(rlenv, *more, out="o.jsonl"):
    return score(rlenv, "--resume", "--retry-unscored", *more, out=out)


def down(world):
    (world.folder / "down").touch()


def up(world):
    (world.folder / "down").unlink()


@pytest.fixture
def outage(flaky, rlenv):
    """A finished file in which 19 of 31 rows are unscored, 18 of them transiently; the judge is
    back.
    """
    down(flaky)
    assert score(rlenv).exit_code == 0
    up(flaky)
    assert sum(row["reward"] is None for row in flaky.read()[1]) == 19
    assert score(rlenv, out="clean.jsonl").exit_code == 0
    return flaky


def without_seconds(rows):
    return json.loads(
        json.dumps(rows), object_hook=lambda d: {k: v for k, v in d.items() if k != "seconds"}
    )


def same_as_clean(world):
    header, rows = world.read()
    want_header, want_rows = world.read("clean.jsonl")
    assert header == want_header
    assert without_seconds(rows) == without_seconds(want_rows)
    assert sorted(p.name for p in world.folder.glob("o.jsonl*")) == ["o.jsonl"]


def lines_of(world):
    """The lines without the codes that chain them."""
    content = (world.folder / "o.jsonl").read_bytes()
    return [unlinked(line) for line in content.splitlines(keepends=True)]


def test_a_row_that_was_edited_is_not_chained_anew_by_a_retry(outage, rlenv):
    path = outage.folder / "o.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"reward": 0.0', b'"reward": 1.0', 1))
    result = again(rlenv)
    assert result.exit_code == 2
    assert "its mac does not fit" in result.output


def test_rows_without_a_reward_are_asked_again_and_the_others_stay_as_they_are(outage, rlenv):
    before = lines_of(outage)
    result = again(rlenv)
    assert result.exit_code == 0, result.output
    assert "asked again: 19 rows; 18 now have a reward, 1 are still unscored" in result.output
    same_as_clean(outage)
    after = lines_of(outage)
    assert [a for a, b in zip(after, before, strict=True) if b'"reward": null' not in b] == [
        b for b in before if b'"reward": null' not in b
    ]


def test_without_resume_it_says_what_to_type(outage, rlenv):
    before = outage.read()
    for more in ((), ("--overwrite",)):
        result = score(rlenv, "--retry-unscored", *more)
        assert result.exit_code == 2
        assert (
            "`rlenv score env.toml r.jsonl -o o.jsonl --resume --retry-unscored`" in result.output
        )
    assert outage.read() == before


def test_what_is_still_unreachable_stays_unscored_and_counts(outage, rlenv):
    down(outage)
    before = without_seconds(outage.read()[1])
    result = rlenv("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--resume", "--retry-unscored")
    assert result.exit_code == 3
    assert "0 now have a reward, 19 are still unscored" in result.output
    assert without_seconds(outage.read()[1]) == before


def test_a_run_that_never_ended_is_retried_and_then_completed(outage, rlenv):
    whole = (outage.folder / "o.jsonl").read_bytes()
    for cut in (-1, -40, len(whole) // 2, 30, 0):
        (outage.folder / "o.jsonl").write_bytes(whole[:cut])
        assert again(rlenv).exit_code == 0
        same_as_clean(outage)


def test_a_file_that_is_not_there_is_begun(outage, rlenv):
    (outage.folder / "o.jsonl").unlink()
    assert again(rlenv).exit_code == 0
    same_as_clean(outage)


def test_where_nothing_is_unscored_nothing_is_written(outage, rlenv):
    rows = [{"task": "t0", "response": "Paris"}]
    outage.write_rows(rows)
    assert score(rlenv, "--overwrite").exit_code == 0
    path = outage.folder / "o.jsonl"
    inode = path.stat().st_ino
    text = path.read_bytes()
    assert again(rlenv).exit_code == 0
    assert (path.stat().st_ino, path.read_bytes()) == (inode, text)


def test_a_limit_limits_what_is_asked_again(outage, rlenv):
    assert "asked again: 3 rows" in again(rlenv, "--limit", "5").output
    kept = outage.read()[1]
    assert [row["row"] for row in kept if row["reward"] is None][:2] == [7, 9]
    assert len(kept) == 31


def test_a_group_is_judged_again_as_a_whole(flaky, rlenv):
    flaky.write_env('[[stage]]\nuse = "far/ranked"\n')
    groups = [["a", "bb"], ["?c", "d", "eee"], ["f"]]
    flaky.write_rows(
        [{"task": f"t{i}", "response": text} for i, group in enumerate(groups) for text in group]
    )
    down(flaky)
    assert score(rlenv, "--group").exit_code == 0
    assert [row["reward"] for row in flaky.read()[1]] == [0.0, 1.0, None, None, None, 1.0]
    up(flaky)
    assert "asked again: 3 rows" in again(rlenv, "--group").output
    rows = flaky.read()[1]
    assert [row["reward"] for row in rows] == [0.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    assert rows[3]["stages"][0]["detail"] == "of 3"


def test_a_link_stays_a_link_and_a_file_keeps_its_mode(outage, rlenv):
    real = outage.folder / "o.jsonl"
    real.chmod(0o640)
    link = outage.folder / "link.jsonl"
    link.symlink_to("o.jsonl")
    assert again(rlenv, out="link.jsonl").exit_code == 0
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    same_as_clean(outage)


@pytest.mark.parametrize("name", ["replace", "fsync"])
def test_a_disk_that_fails_leaves_everything_and_says_so(outage, rlenv, monkeypatch, name):
    before = (outage.folder / "o.jsonl").read_bytes()
    real = getattr(os, name)

    def full(*args):
        if name == "replace" or os.readlink(f"/proc/self/fd/{args[0]}").endswith(".new"):
            raise OSError(28, "No space left on device")
        return real(*args)

    with monkeypatch.context() as patched:
        patched.setattr(os, name, full)
        result = again(rlenv)
    assert result.exit_code == 2
    assert "o.jsonl: cannot be written anew: No space left on device" in result.output
    assert "19 new rows wait in" in result.output
    assert (outage.folder / "o.jsonl").read_bytes() == before
    assert score(rlenv, "--resume").exit_code == 0  # a plain resume puts them in
    same_as_clean(outage)


def test_new_lines_that_cannot_be_written_leave_the_file_as_it_was(outage, rlenv, monkeypatch):
    before = (outage.folder / "o.jsonl").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        result = again(rlenv, "--quiet")
    assert result.exit_code == 2, result.output
    assert "o.jsonl.retry: cannot be written: No space left on device" in result.output
    assert (outage.folder / "o.jsonl").read_bytes() == before
    assert again(rlenv).exit_code == 0
    same_as_clean(outage)


def test_ended_between_its_two_last_steps_it_is_complete_all_the_same(outage, rlenv, monkeypatch):
    def killed(self, **_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(outage.folder), "unlink", killed)
        assert again(rlenv).exit_code != 0
    assert (outage.folder / "o.jsonl.retry").exists()
    assert score(rlenv, "--resume").exit_code == 0
    same_as_clean(outage)


def test_lines_that_wait_for_other_scores_are_not_put_in(outage, rlenv):
    (outage.folder / "o.jsonl.retry").write_bytes((outage.folder / "o.jsonl").read_bytes())
    outage.write_rows([{"task": "t0", "response": "Paris"}])
    assert score(rlenv, out="other.jsonl").exit_code == 0
    os.replace(outage.folder / "other.jsonl", outage.folder / "o.jsonl")
    before = outage.read()
    result = score(rlenv, "--resume")
    assert result.exit_code == 2
    assert "o.jsonl.retry: cannot go on: the responses changed" in result.output
    assert "Remove it" in result.output
    assert outage.read() == before
    assert score(rlenv, "--overwrite").exit_code == 0  # it begins anew, and forgets them
    assert not (outage.folder / "o.jsonl.retry").exists()


def test_a_file_of_somebody_else_under_that_name_is_left_alone(outage, rlenv):
    mine = outage.folder / "o.jsonl.retry"
    mine.write_text("my notes")
    assert again(rlenv).exit_code == 2
    assert score(rlenv, "--overwrite").exit_code == 0
    assert mine.read_text() == "my notes"


def whole(world, before):
    """The file at any moment: every row once, those with a reward as they were."""
    with ScoresReader(world.folder / "o.jsonl") as reader:
        rows = list(reader.rows())
        assert reader.size == (world.folder / "o.jsonl").stat().st_size
    assert [row["row"] for row in rows] == list(range(1, len(before) + 1))
    for row, old in zip(rows, before, strict=True):
        assert row == old or old["reward"] is None
    return rows


def in_a_fork(work):
    """The process that does this work; it ends without cleaning up."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os._exit(work())
    finally:
        os._exit(1)


def test_killed_at_any_moment_of_a_retry_it_loses_nothing(outage, rlenv):
    """Kills come later and later until a run ends by itself: before, in and after the writing."""
    before = outage.read()[1]
    draw = random.Random(7)
    seconds = 0.02
    kills = 0
    while True:
        pid = in_a_fork(lambda: again(rlenv).exit_code)
        time.sleep(seconds * draw.uniform(0.8, 1.2))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        before = whole(outage, before)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        kills += 1
        seconds *= 1.1
    assert kills
    same_as_clean(outage)


@pytest.mark.parametrize("step", ["first line", "last line", "fsync", "replace", "unlink"])
def test_killed_at_each_step_of_a_retry_it_loses_nothing(outage, rlenv, monkeypatch, step):
    append = DurableFile.append
    fsync = os.fsync

    def work():
        def kill(*_, **__):
            os._exit(9)

        def appends(self, line):
            append(self, line)
            rows = vars(self)["rows"] = vars(self).get("rows", -1) + 1
            if self.path.suffix == ".retry" and (step, rows) in {
                ("first line", 1),
                ("last line", 19),
            }:
                self.close()
                kill()

        def syncs(fd):
            return kill() if os.readlink(f"/proc/self/fd/{fd}").endswith(".new") else fsync(fd)

        monkeypatch.setattr(DurableFile, "append", appends)
        if step == "fsync":
            monkeypatch.setattr(os, "fsync", syncs)
        if step == "replace":
            monkeypatch.setattr(os, "replace", kill)
        if step == "unlink":
            monkeypatch.setattr(type(outage.folder), "unlink", kill)
        return again(rlenv).exit_code

    before = outage.read()[1]
    _, status = os.waitpid(in_a_fork(work), 0)
    assert os.waitstatus_to_exitcode(status) == 9
    whole(outage, before)
    if step != "first line":
        down(outage)  # it need not be asked any more
    assert score(rlenv, "--resume").exit_code == 0
    rows = whole(outage, before)
    assert sum(row["reward"] is None for row in rows) == (18 if step == "first line" else 1)
    if step == "first line":
        assert again(rlenv).exit_code == 0
    same_as_clean(outage)


def test_interrupted_in_a_retry_it_says_that_the_rows_are_safe(outage, rlenv, monkeypatch):
    def stop(*_, **__):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr(retry, "encoded", stop)
    before = outage.read()
    result = again(rlenv)
    assert result.exit_code == 143
    assert "interrupted; 31 rows safe in o.jsonl" in result.output
    assert outage.read() == before
