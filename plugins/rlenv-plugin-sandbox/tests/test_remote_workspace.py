"""Workspaces on another machine: neither side believes what the other says of their content."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Exit, Profile
from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.guest import tree
from rlenv_plugin_sandbox.remote import Remote
from sandbox_hostile import END, answer, hostile, instead
from sandbox_server import TOKEN, Friend, Server, start

pytestmark = pytest.mark.usefixtures("hang_up")
SMALL = {"workspace_mb": 1, "workspace_files": 20}


def told(
    path: str, mode: int = tree.FILE, content: bytes = b"x", *, end: bytes = trees.END
) -> bytes:
    name = path.encode()
    return tree.ENTRY.pack(len(name), mode, len(content)) + name + content + end


def opened(server: Server) -> Friend:
    friend = server.friend()
    friend.open(**SMALL)
    return friend


@pytest.mark.parametrize(
    "content",
    [
        b"",
        told("a", end=b""),
        told("../planted"),
        told("/planted"),
        told("a/planted"),
        told("a", 0o104755),
        told("a", 0o20666, b""),
        told("a", tree.LINK, b""),
        told("a" * 2000),
        tree.ENTRY.pack(1, tree.FILE, 1 << 60) + b"a",
        b"\xff" * 100,
    ],
)
def test_a_content_that_is_none_ends_one_conversation(server: Server, content: bytes) -> None:
    friend = opened(server)
    friend.start("pass", content)

    assert friend.status == 400
    assert friend.has_ended()
    server.runs()


@pytest.mark.parametrize("pieces", [[], [b""], [trees.END], [b"", b"pass", b"more", trees.END]])
def test_a_program_without_a_content_ends_one_conversation(
    server: Server, pieces: list[bytes]
) -> None:
    friend = opened(server)
    friend.ask("start", start(), *pieces)

    assert friend.status == 400
    assert friend.has_ended()
    server.runs()


@pytest.mark.parametrize(
    "content", [told("a", content=bytes((1 << 20) + 1)), tree.ENTRY.pack(0, tree.FULL, 0)]
)
def test_more_than_the_workspace_holds_is_a_mistake_of_the_client(
    server: Server, content: bytes
) -> None:
    friend = opened(server)
    answer = friend.start("pass", content)

    assert answer["error"] == "config"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workspace_mb": 129, "memory_mb": 8192}, "workspace_mb"),
        ({"workspace_mb": 65}, "workspace_mb"),
        ({"workspace_mb": -1}, "workspace_mb"),
        ({"workspace_mb": True}, "workspace_mb"),
        ({"workspace_mb": 1e9}, "workspace_mb"),
        ({"workspace_mb": "1"}, "workspace_mb"),
        ({"workspace_files": 20_001}, "workspace_files"),
        ({"workspace_files": 1 << 40}, "workspace_files"),
    ],
)
def test_too_large_a_workspace_is_a_mistake_of_the_profile(
    server: Server, options: dict[str, Any], said: str
) -> None:
    friend = server.friend()
    answer = friend.open(**options)

    assert answer["error"] == "config"
    assert said in "\n".join(answer["problems"])


@pytest.mark.parametrize(
    "what", ["snapshot", "restore", "read", "write", "list", "run", "workspace", "load"]
)
def test_the_server_knows_no_snapshots_and_reads_no_paths(server: Server, what: str) -> None:
    friend = opened(server)
    question = {"path": "../../etc/passwd", "snapshot": hashlib.sha256().hexdigest()}
    friend.ask(what, question, b"")

    assert friend.status == 404
    server.runs()


def test_one_client_sees_nothing_of_another(server: Server) -> None:
    first = opened(server)
    second = opened(server)
    first.start("open('mine', 'w').write('secret')", told("given"))
    assert first.ask("finish", {"wait": None})["exit"]["status"] == 0
    look = "import os; assert os.listdir('.') == [], os.listdir('.')"
    for friend in (second, first):
        friend.start(look, trees.END)
        assert friend.ask("finish", {"wait": None})["exit"]["status"] == 0


def test_a_second_program_is_refused_while_one_runs(server: Server) -> None:
    friend = opened(server)
    friend.start("import time; time.sleep(30)", trees.END)
    answer = friend.start("pass", told("other"))

    assert answer["error"] == "fault"
    server.runs()


def test_nothing_of_a_workspace_stays_on_the_server(server: Server) -> None:
    before = set(Path("/tmp").iterdir())
    friend = opened(server)
    friend.start("open('big', 'wb').write(bytes(1 << 19))", told("a"))
    friend.ask("finish", {"wait": None})
    friend.close()
    server.runs()

    left = {path for path in set(Path("/tmp").iterdir()) - before if path.name.startswith("rlenv")}
    assert [path for folder in left for path in folder.rglob("big")] == []


# -- the client
# ----------------------------------------------------------------------------------------


def ran(*pieces: bytes) -> tuple[Exit, list[str]]:
    """How a program ends, and what the workspace holds, after a server that answers this to
    ``finish``.
    """

    async def whole(url: str) -> tuple[Exit, list[str]]:
        remote = Remote(url, TOKEN)
        asked: dict[str, Any] = {"min_isolation": "process", "output_bytes": 100, **SMALL}
        session = await remote.open(Profile(**asked))
        await session.workspace.write("before", b"x")
        found = await session.workspace.run("pass")
        paths = [entry.path for entry in await session.workspace.list()]
        await session.close()
        await remote.aclose()
        return found, paths

    with hostile(instead("finish", answer({"exit": END}, *pieces))) as server:
        return asyncio.run(whole(server.url))


def test_an_honest_server_is_believed() -> None:
    end, paths = ran(b"out", b"err", told("after"))

    assert (end.reason, end.fault, end.stdout, paths) == ("exit", None, b"out", ["after"])


@pytest.mark.parametrize(
    "pieces",
    [
        (b"out", b"err"),
        (b"out",),
        (),
        (b"out", b"err", b""),
        (b"out", b"err", told("../a")),
        (b"out", b"err", told("a"), b"more"),
        (b"x" * 101, b"err", trees.END),
        (b"out", b"err", told("a", 0o104755)),
    ],
)
def test_a_server_that_answers_anything_else_is_a_fault(pieces: tuple[bytes, ...]) -> None:
    end, paths = ran(*pieces)

    assert end.fault is not None
    assert paths == ["before"]


def test_a_server_that_keeps_no_limits_cannot_fill_the_client() -> None:
    end, paths = ran(b"", b"", told("a", content=bytes((1 << 20) + 1)))

    assert (end.reason, paths) == ("disk", ["before"])


def test_the_client_is_told_what_the_server_gives(server: Server) -> None:
    async def whole() -> None:
        remote = Remote(server.url, TOKEN)
        with pytest.raises(ConfigError, match="workspace_mb"):
            await remote.open(Profile(min_isolation="process", memory_mb=8192, workspace_mb=500))
        await remote.aclose()

    asyncio.run(whole())
