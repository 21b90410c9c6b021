"""An episode with ``[harness] sandbox`` has a workspace, which its tools share, its state takes and
its end drops.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from attrs import frozen
from rlenv import Environment, Outcome, Task, stage
from rlenv import sandbox as port
from rlenv.sandbox import Workspace
from rlenv_plugin_agent import Episode, Files, Harness, call, rollout
from rlenv_plugin_agent.messages import Message

TASK = Task("Fix it.", info={"files": {"a/notes.txt": "old"}})
TOOLS = ("file_read", "file_write")


@frozen
class Notes:
    text: str


class Kept:
    """A state that reads the workspace at the end."""

    def __init__(self) -> None:
        self.parts: Mapping[type, object] = {Kept: self}
        self.seen: list[str] = []
        self.workspace: Workspace | None = None

    async def begin(self, task: Task, seed: int) -> Kept:
        return self

    async def attach(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.seen = [each.path for each in await workspace.list() if each.kind == "file"]

    async def artifacts(self) -> tuple[object, ...]:
        assert self.workspace is not None
        return (Notes((await self.workspace.read("a/notes.txt")).decode()),)

    async def close(self) -> None: ...


@stage(where="inline", takes=(Notes,))
def is_new(attempt) -> Outcome:  # type: ignore[no-untyped-def]
    return Outcome(float(attempt.get(Notes).text == "new"))


@stage(where="inline")
def any_text(visible: str) -> float:
    return 1.0


def policy(messages: list[Message], tools: object) -> object:
    if messages[-1]["role"] == "user":
        return call("file_write", file="a/notes.txt", content="new")
    return "done"


def test_tools_share_a_workspace_and_the_state_judges_it() -> None:
    kept = Kept()
    harness = Harness("stateful-tool-use", tools=TOOLS, sandbox="sandbox/jail")
    env = Environment("notes", is_new, tables={"harness": harness, "state": kept})
    try:
        found = rollout(env, TASK, policy)
        assert (found.stop, found.verdict.value) == ("passed", 1.0)
        assert kept.seen == ["a/notes.txt"]
        assert rollout(env, TASK, lambda messages, tools: "done").verdict.value == 0.0
    finally:
        port.close_all()


@stage(where="inline", takes=(Files,))
def files_are_new(attempt) -> Outcome:  # type: ignore[no-untyped-def]
    return Outcome(float(attempt.get(Files).content == {"a/notes.txt": b"new"}))


def test_stages_may_take_the_files_of_a_workspace_without_a_state() -> None:
    env = Environment(
        "notes",
        files_are_new,
        tables={"harness": Harness("tool-use", tools=TOOLS, sandbox="sandbox/jail")},
    )
    try:
        assert rollout(env, TASK, policy).verdict.value == 1.0
        assert rollout(env, TASK, lambda messages, tools: "done").verdict.value == 0.0
    finally:
        port.close_all()


def test_each_episode_begins_with_the_files_of_its_task() -> None:
    env = Environment(
        "notes",
        any_text,
        tables={"harness": Harness("tool-use", tools=TOOLS, sandbox="sandbox/jail")},
    )
    try:
        with Episode(env) as episode:
            for _ in range(2):
                episode.reset(TASK)
                read = episode.step(call("file_read", file="a/notes.txt"))
                assert read.observation[0]["content"] == "old"
                episode.step(call("file_write", file="a/notes.txt", content="new"))
    finally:
        port.close_all()


@pytest.mark.parametrize(
    ("sandbox", "files"),
    [
        ("sandbox/nowhere", {}),
        ("sandbox/jail", {"../out": "x"}),
        ("sandbox/jail", {"a": 3}),
        ("sandbox/jail", "x"),
    ],
)
def test_a_workspace_that_cannot_be_made_is_the_environment_s_fault(
    sandbox: str, files: object
) -> None:
    harness = Harness("tool-use", tools=TOOLS, sandbox=sandbox)
    env = Environment("notes", any_text, tables={"harness": harness})
    try:
        found = rollout(env, Task("x", info={"files": files}), policy)
        assert (found.stop, found.verdict.value) == ("error", None)
    finally:
        port.close_all()
