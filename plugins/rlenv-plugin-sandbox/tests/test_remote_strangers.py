"""The server as an outsider meets it: raw sockets without the token; and how it ends."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.remote import Remote
from rlenv_plugin_sandbox.remote.command import main
from sandbox_server import PATH, SESSIONS, SOON, TOKEN, Server

pytestmark = pytest.mark.usefixtures("hang_up")


# -- who is let in
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"X-API-Key": TOKEN},
        {"Cookie": f"token={TOKEN}"},
        {"Authorization": "Bearer " + "x" * 50_000},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", PATH),
        ("POST", f"{PATH}/sessions"),
        ("POST", f"{PATH}/sessions/{'a' * 22}/start"),
        ("DELETE", f"{PATH}/sessions/{'a' * 22}"),
        ("GET", "/anything"),
    ],
)
def test_without_the_key_nothing_is_told(
    server: Server, headers: dict[str, str], method: str, path: str
) -> None:
    friend = server.friend()
    friend.talk.request(method, path, b"x" * 100, headers)
    answer = friend.talk.getresponse()

    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["Connection"] == "close"
    said = answer.read()
    assert b"a token is needed, and this is not it" in said
    assert b"process" not in said


def test_no_body_is_read_before_the_key(server: Server) -> None:
    with server.raw() as sock:
        sock.sendall(b"POST %s/sessions HTTP/1.1\r\nHost: a\r\n" % PATH.encode())
        sock.sendall(b"Content-Length: 200000000\r\nExpect: 100-continue\r\n\r\n")
        first = sock.recv(1 << 16)
    assert b" 401 " in first
    assert b" 100 " not in first


def test_no_web_page_reaches_the_server(server: Server) -> None:
    """A browser says ``Origin`` with each POST: https://fetch.spec.whatwg.org/#origin-header."""
    friend = server.friend()
    headers = {**friend.headers, "Origin": "http://evil.example"}
    friend.talk.request("POST", f"{PATH}/sessions", b"", headers)

    assert friend.talk.getresponse().status == 403


@pytest.mark.parametrize(
    "noise",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET /\r\n\r\n",
        b"POST /%s HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + b"\0" * 300,  # the hello of TLS
        b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"b" * 100_000,
        b"GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\xff" * 1000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_request_ends_its_connection(server: Server, noise: bytes) -> None:
    with server.raw() as sock:
        with suppress(OSError):
            sock.sendall(noise)
        try:
            while sock.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
    server.runs()


def test_strangers_who_say_nothing_keep_nobody_out(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(server.raw())
        server.runs()


def test_a_thousand_idle_connections_keep_nobody_out(server: Server) -> None:
    """Those that have brought a request may stay; others give way to one another."""
    with ExitStack() as stack:
        for number in range(1000):
            sock = stack.enter_context(server.raw())
            if number % 100 == 0:
                server.runs()
            if number % 3:
                with suppress(OSError):
                    sock.sendall(b"POST /sandbox/v1/sess")
        server.runs()


def test_no_more_sessions_are_open_than_was_said(server: Server) -> None:
    friends = [server.friend() for _ in range(SESSIONS)]
    for friend in friends:
        friend.begin_open(beside=True)
    time.sleep(0.2)  # some are open, and others wait for a place
    last = server.friend()
    assert last.open()["transient"] is True
    assert last.status == 429
    for friend in friends:
        friend.close()
    deadline = time.monotonic() + SOON
    while server.friend().open().get("isolation") != "process":  # it has seen that they hung up
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_server_with_no_descriptor_left_goes_on_when_there_are_some() -> None:
    words = (
        f"ulimit -n 100; exec {shlex.quote(sys.executable)} -m rlenv_plugin_sandbox.remote"
        " --listen 127.0.0.1:0 --sandbox process"
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
        (TOKEN, ["--listen", "0.0.0.0:0"], "--tls-cert"),
        (TOKEN, ["--listen", "[::]:0"], "--plain-http"),
        ("", ["--listen", "0.0.0.0:0", "--plain-http"], "RLENV_SANDBOX_TOKEN"),
        ("a token", ["--listen", "127.0.0.1:0"], "openssl rand"),
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
