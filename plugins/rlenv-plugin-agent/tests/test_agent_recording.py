"""Recorded calls: what a log answers, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from recorded import TASK, World, recorded
from rlenv import ConfigError, Task
from rlenv_plugin_agent import Database, tool
from rlenv_plugin_agent import World as State
from rlenv_plugin_agent.errors import EpisodeError
from rlenv_plugin_agent.recording import MISSING, CallLog, RecordedCalls, check_pinned
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.keys import canonical


def asked(
    recorded: RecordedCalls, *wanted: tuple[str, str], context: ToolContext | None = None
) -> list[str]:
    given = context or ToolContext(task=TASK.public())

    async def all_of_them() -> list[str]:
        return [await recorded(name, arguments, given) for name, arguments in wanted]

    return asyncio.run(all_of_them())


CALLS = (
    ("search", '{"query": "a"}'),
    ("browse", '{"link": "x"}'),
    ("browse", '{"link": "x"}'),
    ("add", '{"a": 1, "b": 2}'),
)


def test_a_log_answers_what_was_recorded_and_runs_nothing_else(tmp_path: Path) -> None:
    world = World()
    first = asked(world.wrapped(CallLog(tmp_path / "log", writes=True), "record"), *CALLS)
    runs = world.runs
    again = World()
    pinned = again.wrapped(CallLog(tmp_path / "log"), "pin")

    assert first == ["'a': result 1", "page 2", "page 3", "3"]
    assert asked(pinned, *CALLS) == first
    assert (runs, again.runs) == (4, 1)  # what is deterministic runs


def test_a_call_that_is_not_recorded_is_an_error_that_the_policy_sees_and_the_trace_counts(
    tmp_path: Path,
) -> None:
    world = World()
    CallLog(tmp_path / "log", writes=True).close()
    context = ToolContext(task=TASK.public(), turn=3)
    found = asked(
        world.wrapped(CallLog(tmp_path / "log"), "pin"),
        ("search", '{"query": "new"}'),
        context=context,
    )

    assert json.loads(found[0])["error"]["type"] == MISSING
    assert context.marks == [("search", MISSING)]
    assert world.runs == 0


def test_the_state_of_a_call_is_all_stateful_calls_before_the_task_and_the_seed(
    tmp_path: Path,
) -> None:
    record = World().wrapped(CallLog(tmp_path / "log", writes=True), "record")
    asked(record, *CALLS)
    pinned = World().wrapped(CallLog(tmp_path / "log"), "pin")
    page = ("browse", '{"link": "x"}')

    assert "page 2" in asked(pinned, page)[0]
    assert MISSING in asked(pinned, ("browse", '{"link": "y"}'), page)[1]
    assert MISSING in asked(pinned, page, context=ToolContext(task=TASK.public(), seed=1))[0]
    assert MISSING in asked(pinned, page, context=ToolContext(task=Task("Another.").public()))[0]
    other = ToolContext(task=Task("Another.").public())
    assert asked(pinned, page, CALLS[0], context=other)[1] == "'a': result 1"
    assert MISSING in asked(pinned, CALLS[0], context=ToolContext(role="critic"))[0]
    assert "page 2" in asked(pinned, page)[0]  # of another episode of the same task
    held = State({}, Database(b"", {}), start="what an earlier episode left")
    began = ToolContext(TASK.public(), parts={State: held})
    assert MISSING in asked(pinned, page, context=began)[0]


def test_calls_that_run_no_tool_are_answered_as_ever(tmp_path: Path) -> None:
    CallLog(tmp_path / "log", writes=True).close()
    pinned = World().wrapped(CallLog(tmp_path / "log"), "pin")
    found = asked(
        pinned, ("serch", "{}"), ("search", "{"), ("search", '{"no": 1}'), ("search", "[" * 100_000)
    )

    assert [json.loads(each)["error"]["type"] for each in found] == [
        "unknown_tool",
        *["arguments"] * 3,
    ]


def test_recording_again_keeps_what_stateless_tools_said_and_runs_the_others(
    tmp_path: Path,
) -> None:
    log = CallLog(tmp_path / "log", writes=True)
    world = World()
    first = asked(world.wrapped(log, "record"), *CALLS)
    second = asked(world.wrapped(log, "record"), *CALLS)

    assert second[0] == first[0]
    assert second[1:3] == ["page 5", "page 6"]
    assert asked(World().wrapped(CallLog(tmp_path / "log"), "pin"), *CALLS) == second


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ('{"a": 1, "b": [2]}', '{"b":[2],"a":1}', True),
        ('{"a": 1}', '{"a": 1.0}', True),
        ('{"a": -0.0}', '{"a": 0}', True),
        ('{"a": 100}', '{"a": 1e2}', True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": 9007199254740993}', '{"a": 9007199254740992}', False),
        ('{"a": "\\u00e9"}', '{"a": "é"}', True),
        ('{"a": "e\\u0301"}', '{"a": "é"}', False),
        ('{"a": "\\ud800"}', '{"a": "\\ud801"}', False),
        ('{"a": 1, "a": 2}', '{"a": 2}', True),
        ("", "{}", True),
        ("{", "{ ", False),
        ("\"not JSON: '{'\"", "{", False),
    ],
)
def test_which_arguments_are_the_same(left: str, right: str, same: bool) -> None:
    assert (canonical(left) == canonical(right)) is same


def test_any_text_is_recorded_as_it_is(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "log", writes=True)
    for i, text in enumerate(["", "\0", "\ud800", "é\u2028", "x" * 300_000, '{"error": 1}']):
        log.put(str(i), "t\ud800", text, replace=False)
        assert CallLog(tmp_path / "log").get(str(i)) == text
        assert log.put(str(i), "t", "another", replace=False) == text


# -- files that are not to be trusted -----------------------------------------------------------


def edit(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    with db:
        db.execute(statement)
    db.close()


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def other_schema(path: Path) -> None:
    path.unlink()
    edit(path, "CREATE TABLE calls (key TEXT)")


def link(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def overwrite(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)


EDIT = "UPDATE calls SET text = '\"all is well\"' WHERE key = '00007'"
SWAP = "UPDATE calls SET text = (SELECT text FROM calls WHERE key = '00008') WHERE key = '00007'"
BLOB = "UPDATE calls SET text = x'80' WHERE key = '00007'"


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (partial(edit, statement=EDIT), "was edited"),
        (partial(edit, statement=SWAP), "was edited"),
        (partial(edit, statement=BLOB), "was edited"),
        (truncate, "cannot be read"),
        (overwrite, "cannot be read"),
        (other_schema, "not a call log"),
        (link, "not a regular file"),
        (lambda path: path.chmod(0o620), "chmod go-w"),
        (lambda path: path.chmod(0o602), "chmod go-w"),
        (Path.unlink, "record"),
    ],
)
def test_a_log_that_was_tampered_with_is_not_opened(
    tmp_path: Path, harm: Callable[[Path], object], said: str
) -> None:
    recorded(tmp_path / "log")
    harm(tmp_path / "log")

    with pytest.raises(ConfigError, match=said):
        CallLog(tmp_path / "log")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_log_of_another_user_is_not_opened(tmp_path: Path) -> None:
    recorded(tmp_path / "log")
    os.chown(tmp_path / "log", 12_345, 12_345)

    with pytest.raises(ConfigError, match="another user"):
        CallLog(tmp_path / "log")


def test_a_log_that_is_edited_while_it_is_read_ends_the_episode_by_the_environments_fault(
    tmp_path: Path,
) -> None:
    world = World()
    asked(world.wrapped(CallLog(tmp_path / "log", writes=True), "record"), CALLS[0])
    pinned = world.wrapped(CallLog(tmp_path / "log"), "pin")
    edit(tmp_path / "log", "UPDATE calls SET text = '\"all is well\"'")

    with pytest.raises(EpisodeError, match="edited"):
        asked(pinned, CALLS[0])


def test_an_edit_changes_the_hash_of_the_log(tmp_path: Path) -> None:
    recorded(tmp_path / "a", 5)
    recorded(tmp_path / "b", 5)
    recorded(tmp_path / "c", 6)

    assert (
        CallLog(tmp_path / "a").sha256
        == CallLog(tmp_path / "b").sha256
        != CallLog(tmp_path / "c").sha256
    )


def _fill(path: Path, start: int) -> None:
    log = CallLog(path, writes=True)
    for i in range(start, start + 20):
        log.put(str(i), "search", f"text {i}", replace=False)


def test_processes_write_one_log(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for each in [pool.submit(_fill, tmp_path / "log", start) for start in (0, 10)]:
            each.result()

    log = CallLog(tmp_path / "log")
    assert [log.get(str(i)) for i in range(30)] == [f"text {i}" for i in range(30)]


def test_a_tool_that_changes_what_the_episode_holds_cannot_be_pinned() -> None:
    def write(context: ToolContext, text: str) -> str:
        return text

    check_pinned({"write": tool(stateful=True, deterministic=True)(write)})
    with pytest.raises(ConfigError, match=r"write.*deterministic=True"):
        check_pinned({"write": tool(stateful=True)(write)})
