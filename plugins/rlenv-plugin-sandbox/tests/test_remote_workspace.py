"""Workspaces on another machine: neither side believes what the other says of their content."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Exit, Profile, Tier
from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.guest import tree
from rlenv_plugin_sandbox.remote import Remote, greeting, payload
from rlenv_plugin_sandbox.workspace import WorkspaceSession
from sandbox_server import TOKEN, Friend, Server, profile, start

pytestmark = pytest.mark.usefixtures("hang_up")
SMALL = {"workspace_mb": 1, "workspace_files": 20}


def told(
    path: str, mode: int = tree.FILE, content: bytes = b"x", *, end: bytes = trees.END
) -> bytes:
    name = path.encode()
    return tree.ENTRY.pack(len(name), mode, len(content)) + name + content + end


def opened(server: Server) -> Friend:
    friend = server.friend()
    friend.asked({"do": "open", "profile": profile(**SMALL)})
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
    friend.say(greeting.ASK, {**start("pass"), "id": 9}, b"", content)

    assert friend.hung_up()
    server.runs()


@pytest.mark.parametrize("pieces", [[], [b""], [trees.END], [b"", b"more", trees.END]])
def test_a_program_without_a_content_ends_one_conversation(
    server: Server, pieces: list[bytes]
) -> None:
    friend = opened(server)
    friend.say(greeting.ASK, {**start("pass"), "id": 9}, *pieces)

    assert friend.hung_up()
    server.runs()


@pytest.mark.parametrize(
    "content", [told("a", content=bytes((1 << 20) + 1)), tree.ENTRY.pack(0, tree.FULL, 0)]
)
def test_more_than_the_workspace_holds_is_a_mistake_of_the_client(
    server: Server, content: bytes
) -> None:
    friend = opened(server)
    answer = friend.asked(start("pass"), b"", content)
    friend.sock.close()

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
    answer = friend.asked({"do": "open", "profile": profile(**options)})
    friend.sock.close()

    assert answer["error"] == "config"
    assert said in "\n".join(answer["problems"])


@pytest.mark.parametrize(
    "what", ["snapshot", "restore", "read", "write", "list", "run", "workspace", "load"]
)
def test_the_server_knows_no_snapshots_and_reads_no_paths(server: Server, what: str) -> None:
    friend = opened(server)
    question = {
        "do": what,
        "path": "../../etc/passwd",
        "snapshot": hashlib.sha256().hexdigest(),
        "id": 9,
    }
    friend.say(greeting.ASK, question, b"")

    assert friend.hung_up()
    server.runs()


def test_one_client_sees_nothing_of_another(server: Server) -> None:
    first = opened(server)
    second = opened(server)
    first.asked(start("open('mine', 'w').write('secret')"), b"", told("given"))
    assert first.asked({"do": "finish", "wait": None})["exit"]["status"] == 0
    look = start("import os; assert os.listdir('.') == [], os.listdir('.')")
    second.asked(look, b"", trees.END)
    assert second.asked({"do": "finish", "wait": None})["exit"]["status"] == 0
    second.asked({"do": "open", "profile": profile(**SMALL)})
    first.asked({"do": "open", "profile": profile(**SMALL)})
    first.asked(look, b"", trees.END)
    assert first.asked({"do": "finish", "wait": None})["exit"]["status"] == 0
    first.sock.close()
    second.sock.close()


def test_a_second_program_is_refused_while_one_runs(server: Server) -> None:
    friend = opened(server)
    friend.asked(start("import time; time.sleep(30)"), b"", trees.END)
    answer = friend.asked(start("pass"), b"", told("other"))
    friend.sock.close()

    assert answer["error"] == "fault"
    server.runs()


def test_nothing_of_a_workspace_stays_on_the_server(server: Server) -> None:
    before = set(Path("/tmp").iterdir())
    friend = opened(server)
    friend.asked(start("open('big', 'wb').write(bytes(1 << 19))"), b"", told("a"))
    friend.asked({"do": "finish", "wait": None})
    friend.sock.close()
    server.runs()

    left = {path for path in set(Path("/tmp").iterdir()) - before if path.name.startswith("rlenv")}
    assert [path for folder in left for path in folder.rglob("big")] == []


# -- the client
# ----------------------------------------------------------------------------------------


class Link:
    """What a server answers to ``finish``, in place of a connection."""

    lost = False
    most = 0

    def __init__(self, *pieces: bytes, **end: Any) -> None:
        self.pieces = pieces
        self.end = end

    async def send(self, _: int, asked: bytes, **__: Any) -> None:
        self.asked = payload.unwrap(asked)[0]

    async def receive(self, *_: Any) -> tuple[int, bytes]:
        exit_ = {**payload.said_of_end(Exit(0, "exit")), **self.end}
        answer: dict[str, Any] = {"id": self.asked["id"]}
        finish = self.asked["do"] == "finish"
        answer |= {"exit": exit_} if finish else {}
        return greeting.ANSWER, payload.wrap(answer, *(self.pieces if finish else ()))

    def alive(self) -> bool:
        return True

    def close(self) -> None: ...


def ran(*pieces: bytes, **end: Any) -> tuple[Exit, list[str]]:
    """How a program ends, and what the workspace holds, after a server that answers this."""

    async def whole() -> tuple[Exit, list[str]]:
        remote = Remote("tcp://127.0.0.1:1", TOKEN)
        tier: Tier = "process"
        link: Any = Link(*pieces, **end)
        remote._idle.append((link, {"tier": tier, "sandbox": "x"}))
        asked = Profile(min_isolation="process", output_bytes=100, **SMALL)  # type: ignore[arg-type]
        session = WorkspaceSession(lambda given: _leased(remote, given), asked, tier)
        await session.write("before", b"x")
        found = await session.run("pass")
        return found, [entry.path for entry in await session.list()]

    return asyncio.run(whole())


async def _leased(remote: Remote, asked: Profile) -> Any:
    from rlenv_plugin_sandbox.remote.client import _Session

    link, about = remote._idle[0]
    return _Session(link, about, asked, lambda *_: None)


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
