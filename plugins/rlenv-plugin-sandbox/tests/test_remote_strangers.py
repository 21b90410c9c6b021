"""The server as an outsider meets it: raw sockets without the token; and how it ends."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.process import Process
from rlenv_plugin_sandbox.remote import Remote, greeting, payload
from rlenv_plugin_sandbox.remote.command import main
from rlenv_plugin_sandbox.remote.server import Server as ServerHere
from sandbox_server import CONNECTIONS, SOON, TOKEN, Friend, Server, profile, proven, start

pytestmark = pytest.mark.usefixtures("hang_up")


# -- who is let in
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"nonce": "x", "proof": ""},
        {"nonce": "x", "proof": None},
        {"nonce": "x", "proof": "é"},
        {"nonce": "x", "proof": "\ud800"},
        {"nonce": "x", "proof": ["a"]},
        {"nonce": {"a": 1}, "proof": "0" * 64},
        {"token": TOKEN},
    ],
)
def test_whatever_is_no_proof_is_told_so_and_no_more(server: Server, said: dict[str, Any]) -> None:
    with server.raw() as sock:
        stranger = Friend.__new__(Friend)
        stranger.sock = sock
        stranger.inbox = bytearray()
        _, hello = stranger.hear()
        assert set(hello) == {"rlenv", "nonce", "token"}
        stranger.say(greeting.PROOF, said)
        assert stranger.hear() == (
            greeting.WELCOME, {"refused": "a token is needed, and this is not it"}
        )  # fmt: skip
        assert stranger.hung_up()


def test_a_proof_counts_once(server: Server) -> None:
    """What was heard of one greeting is of no use in the next: each has a nonce of its own."""
    with server.raw() as one, server.raw() as two:
        heard = []
        for sock in (one, two):
            stranger = Friend.__new__(Friend)
            stranger.sock = sock
            stranger.inbox = bytearray()
            heard.append((stranger, stranger.hear()[1]["nonce"]))
        (_, first), (stranger, second) = heard
        assert first != second
        proof = proven(TOKEN, f"{first}:mine")
        stranger.say(greeting.PROOF, {"nonce": "mine", "proof": proof})
        assert "refused" in stranger.hear()[1]


def test_nothing_is_answered_before_the_proof(server: Server) -> None:
    with server.raw() as sock:
        sock.sendall(
            wire.frame(greeting.ASK, payload.wrap({"do": "open", "profile": profile(), "id": 1}))
        )
        data = bytearray()
        while piece := sock.recv(1 << 16):
            data += piece
        assert wire.first(data, 1 << 20) is not None  # its hello
        assert not data


HTTP = b"POST /%s HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n%s\r\n\r\n%s"


@pytest.mark.parametrize(
    "noise",
    [
        HTTP % (b"", b"Content-Length: 40\r\nContent-Type: text/plain", b"\2\x10\0\0\0" * 8),
        HTTP
        % (b"x", b"Transfer-Encoding: chunked\r\nExpect: 100-continue", b"5\r\nhello\r\n0\r\n\r\n"),
        b"GET / HTTP/1.0\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + b"\0" * 300,  # the hello of TLS
        struct.pack("<BI", greeting.PROOF, 4097),
        struct.pack("<BI", greeting.PROOF, 0xFFFFFFFF),
        wire.frame(greeting.PROOF, b"\xff\xff\xff\x7f"),
        wire.frame(greeting.PROOF, struct.pack("<I", 3000) + b"[" * 3000),
        wire.frame(greeting.PROOF, struct.pack("<I", 4) + b"null"),
        wire.frame(99, b""),
    ],
)
def test_what_is_no_greeting_ends_at_once(server: Server, noise: bytes) -> None:
    with server.raw() as sock:
        sock.sendall(noise)
        try:
            while sock.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
    server.runs()


def test_strangers_who_say_nothing_keep_nobody_out(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(5 * CONNECTIONS):
            stack.enter_context(server.raw())
        server.runs()


def test_no_more_clients_are_served_than_was_said(server: Server) -> None:
    friends = [server.friend() for _ in range(CONNECTIONS)]
    try:
        for friend in friends:
            assert friend.asked({"do": "close"}) == {"id": 1}
        with pytest.raises((EOFError, ConnectionResetError)):
            server.friend().asked({"do": "close"})
    finally:
        for friend in friends:
            friend.sock.close()
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        try:
            server.runs()
            return
        except (EOFError, OSError):  # until it has seen that they hung up
            time.sleep(0.05)
    raise AssertionError("no place became free")


def test_a_server_with_no_descriptor_left_goes_on_when_there_are_some() -> None:
    words = (
        f"ulimit -n 100; exec {shlex.quote(sys.executable)} -m rlenv_plugin_sandbox.remote"
        " --connections 500 --listen 127.0.0.1:0 --sandbox process"
    )
    process = subprocess.Popen(
        ["bash", "-c", words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "RLENV_SANDBOX_TOKEN": TOKEN},
    )
    assert process.stdout is not None
    with process:
        try:
            made = Server.__new__(Server)
            made.port = int(process.stdout.readline().rpartition(":")[2])
            many = [made.raw() for _ in range(150)]
            time.sleep(0.3)
            assert process.poll() is None
            for sock in many:
                sock.close()
            made.runs()
        finally:
            process.terminate()


def test_tls_that_never_speaks_keeps_nobody_out(tmp_path: Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    cert = tmp_path / "cert.pem"
    key = tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*make, "-keyout", key, "-out", cert], check=True, capture_output=True)
    server = Server("--tls-cert", str(cert), "--tls-key", str(key))

    async def whole() -> bytes:
        box = Remote(server.url, TOKEN, ca=str(cert))
        session = await box.open(Profile(min_isolation="process"))
        await session.start("print('in')")
        end = await session.finish()
        await session.close()
        await box.aclose()
        return end.stdout

    try:
        with ExitStack() as stack:
            for number in range(50):  # more than there are threads
                sock = stack.enter_context(server.raw())
                if number % 2:
                    sock.sendall(b"\x16\x03\x01\x02")
            assert asyncio.run(asyncio.wait_for(whole(), 2 * SOON)) == b"in\n"
    finally:
        server.end()


# -- where it may listen
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "words", "said"),
    [
        ("", ["--listen", "0.0.0.0:0"], "RLENV_SANDBOX_TOKEN"),
        ("", ["--listen", "[::]:0"], "RLENV_SANDBOX_TOKEN"),
        ("short", ["--listen", "0.0.0.0:0"], "fewer than 16 characters"),
        ("", ["--listen", "127.0.0.1:0"], "isolates nothing"),
        ("", ["--listen", "localhost:0"], "localhost"),
        ("", ["--listen", ":0"], "an address and a port"),
        (TOKEN, ["--listen", "127.0.0.1:99999"], "99999"),
    ],
)
def test_no_server_is_open_to_those_who_should_not_reach_it(
    token: str,
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RLENV_SANDBOX_TOKEN", token)
    with pytest.raises(SystemExit) as left:
        main([*words, "--sandbox", "process"])
    told = capsys.readouterr().err

    assert left.value.code == 2, told
    assert said in told
    assert "Traceback" not in told


# -- how it ends ------------------------------------------------------------


def test_a_program_of_a_client_that_hung_up_is_ended(server: Server, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    friend = server.friend()
    friend.asked({"do": "open", "profile": profile(wall_s=60.0)})
    friend.asked(
        start(
            f"import time\nwhile True:\n    open({str(mark)!r}, 'a').write('x'); time.sleep(0.01)"
        ),
        b"",
    )
    until(mark.exists)
    friend.sock.close()
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
    friend.asked({"do": "open", "profile": profile(wall_s=60.0)})
    friend.asked(
        start(
            f"import time\nwhile True:\n    open({str(mark)!r}, 'a').write('x'); time.sleep(0.01)"
        ),
        b"",
    )
    until(mark.exists)
    server.process.send_signal(number)
    server.process.communicate(timeout=SOON)
    until(lambda: stands_still(mark))
    assert friend.hung_up()


def test_no_program_sees_the_environment_of_its_server() -> None:
    server = Server(environ={"RLENV_SECRET": "canary-secret", "AWS_TOKEN": "canary-aws"})
    friend = server.friend()
    friend.asked({"do": "open", "profile": profile()})
    friend.asked(start("import os; os.write(2, repr(os.environ).encode())"), b"")
    friend.number += 1
    friend.say(greeting.ASK, {"do": "finish", "wait": None, "id": friend.number})
    while (frame := wire.first(friend.inbox, 1 << 30)) is None:
        friend.inbox += friend.sock.recv(1 << 16)
    friend.sock.close()
    server.end()

    assert b"PATH" in frame[1]
    for word in (b"canary", TOKEN.encode()):
        assert word not in frame[1]


def test_a_client_that_does_not_read_its_answer_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rlenv_plugin_sandbox.stream import Link, LinkLost

    near, far = socket.socketpair()
    link = Link(near)

    async def send() -> None:
        await link.send(greeting.ANSWER, b"x" * (1 << 24), until=time.monotonic() + 0.1)

    with far, pytest.raises(LinkLost, match="does not take"):
        asyncio.run(send())
    assert link.lost
    link.close()


def served(meet: Callable[[int], None]) -> None:
    """Serve in this process, and have a thread meet the server at its port."""

    async def whole() -> None:
        box = Process()
        made = ServerHere(box, "process", token=TOKEN)
        sock = await made.listen("127.0.0.1", 0)
        serving = asyncio.create_task(made.serve(sock))
        try:
            await asyncio.to_thread(meet, sock.getsockname()[1])
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            await box.aclose()

    asyncio.run(whole())


def test_a_greeting_that_comes_drop_by_drop_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.server._GREETING_S", 0.3)

    def drip(sock: socket.socket) -> None:
        for drop in [b"\2", *[b"\0"] * 1000]:
            sock.sendall(drop)
            time.sleep(0.02)

    def meet(port: int) -> None:
        with (
            socket.create_connection(("127.0.0.1", port), SOON) as sock,
            pytest.raises(OSError, match=r"reset|pipe"),
        ):
            drip(sock)

    served(meet)


def test_a_session_that_nobody_uses_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """And half a question is no use of it."""
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.conversation._IDLE_S", 0.3)

    def meet(port: int) -> None:
        for last in (b"", b"\4\xff\0\0\0half"):
            with socket.create_connection(("127.0.0.1", port), SOON) as sock:
                friend = Friend(sock)
                friend.asked({"do": "open", "profile": profile()})
                sock.sendall(last)
                assert friend.hung_up()

    served(meet)
