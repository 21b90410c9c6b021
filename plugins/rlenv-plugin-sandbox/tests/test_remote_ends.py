"""How sessions, connections and servers end."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rlenv_plugin_sandbox.process import Process
from rlenv_plugin_sandbox.remote import payload
from rlenv_plugin_sandbox.remote.server import Server as ServerHere
from rlenv_plugin_sandbox.remote.session import Limits
from rlenv_plugin_sandbox.stream import Link, LinkLost
from sandbox_server import PATH, SOON, TOKEN, Friend, Server

pytestmark = pytest.mark.usefixtures("hang_up")


def endless(mark: Path) -> str:
    """A program that shows that it runs."""
    return f"import time\nwhile True:\n    open({str(mark)!r}, 'a').write('x'); time.sleep(0.01)"


@pytest.mark.parametrize("waits", [False, True])
def test_a_program_of_a_client_that_hung_up_is_ended(
    server: Server, tmp_path: Path, waits: bool
) -> None:
    mark = tmp_path / "alive"
    friend = server.friend()
    friend.open(wall_s=60.0)
    friend.start(endless(mark))
    until(mark.exists)
    if waits:
        body = payload.wrap({"number": 1, "max_bytes": 10, "timeout": 50})
        path = f"{PATH}/sessions/{friend.session}/recv"
        friend.talk.request("POST", path, body, friend.headers)
    assert friend.opened is not None
    friend.opened.close()
    friend.stream.close()
    until(lambda: stands_still(mark))


def test_a_program_of_a_client_that_was_killed_is_ended(server: Server, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    program = f"""
import asyncio, os, signal
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.remote import Remote

async def whole():
    session = await Remote({server.url!r}, {TOKEN!r}).open(Profile(min_isolation="process"))
    await session.start({endless(mark)!r})
    while not os.path.exists({str(mark)!r}):
        await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(whole())
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    until(lambda: stands_still(mark))


def until(holds: Any) -> None:
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def stands_still(path: Path) -> bool:
    before = path.stat().st_size
    time.sleep(0.3)
    return path.stat().st_size == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_programs_end_with_their_server(number: signal.Signals, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    server = Server(environ={"TMPDIR": str(tmp_path)})  # what is killed leaves its folder
    friend = server.friend()
    friend.open(wall_s=60.0)
    friend.start(endless(mark))
    until(mark.exists)
    server.process.send_signal(number)
    server.process.communicate(timeout=SOON)
    until(lambda: stands_still(mark))
    assert friend.has_ended()


def test_no_program_sees_the_environment_of_its_server() -> None:
    server = Server(environ={"RLENV_SECRET": "canary-secret", "AWS_TOKEN": "canary-aws"})
    friend = server.friend()
    friend.open()
    friend.start("import os; os.write(2, repr(os.environ).encode())")
    said = friend.post("finish", payload.wrap({"wait": None}))
    server.end()

    assert b"PATH" in said
    for word in (b"canary", TOKEN.encode()):
        assert word not in said


def test_a_client_that_does_not_read_its_answer_is_hung_up_on() -> None:
    near, far = socket.socketpair()
    link = Link(near)

    async def send() -> None:
        await link.send(5, b"x" * (1 << 24), until=time.monotonic() + 0.1)

    with far, pytest.raises(LinkLost, match="does not take"):
        asyncio.run(send())
    assert link.lost
    link.close()


def served(meet: Callable[[int], None], limits: Limits | None = None) -> None:
    """Serve in this process, and have a thread meet the server at its port."""

    async def whole() -> None:
        box = Process()
        made = ServerHere(box, "process", token=TOKEN, limits=limits)
        sock = await made.listen("127.0.0.1", 0)
        serving = asyncio.create_task(made.serve(sock))
        try:
            await asyncio.to_thread(meet, sock.getsockname()[1])
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            await box.aclose()

    asyncio.run(whole())


@pytest.mark.parametrize("head", [b"", b"POST /sandbox/v1/sessions HTTP/1.1\r\nHost: a\r\n"])
def test_a_head_that_comes_drop_by_drop_ends_in_time(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.server._GREETING_S", 0.3)
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.server._LOOK_S", 0.1)

    def drip(sock: socket.socket) -> None:
        sock.sendall(head)
        for drop in b"A: " + b"b" * 3000:
            sock.sendall(bytes([drop]))
            time.sleep(0.02)

    def meet(port: int) -> None:
        with (
            socket.create_connection(("127.0.0.1", port), SOON) as sock,
            pytest.raises(OSError, match=r"reset|pipe"),
        ):
            drip(sock)

    served(meet)


def test_a_session_that_nobody_uses_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """And half a request is no use of it."""
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.app._LOOK_S", 0.1)

    def meet(port: int) -> None:
        for last in (b"", b"5\r\nhalf"):
            friend = Friend(port)
            assert friend.open()["isolation"] == "process"
            sock = socket.create_connection(("127.0.0.1", port), SOON)
            with sock:
                if last:
                    path = f"{PATH}/sessions/{friend.session}/start"
                    key = friend.headers["Authorization"]
                    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: {key}\r\n"
                    sock.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + last)
                assert friend.has_ended()

    served(meet, Limits(idle_s=0.3))


def test_a_connection_that_nobody_uses_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.server._LOOK_S", 0.1)

    def meet(port: int) -> None:
        friend = Friend(port)
        friend.talk.request("GET", PATH, b"", friend.headers)
        assert friend.talk.getresponse().read()
        sock = friend.talk.sock
        with suppress(ConnectionResetError):
            assert sock.recv(1) == b""

    served(meet, Limits(idle_s=0.3))


def test_an_interpreter_that_ends_waits_for_no_server() -> None:
    """It joins the threads of ``concurrent.futures`` before anything can close a connection."""
    program = """
import asyncio, socket, threading
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.remote import Remote

sock = socket.create_server(("127.0.0.1", 0))
url = f"http://127.0.0.1:{sock.getsockname()[1]}"
opening = Remote(url, "a-token").open(Profile())
threading.Thread(target=asyncio.run, args=(opening,), daemon=True).start()
client = sock.accept()[0]
client.recv(1)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=SOON, check=False)
    assert done.returncode == 0
