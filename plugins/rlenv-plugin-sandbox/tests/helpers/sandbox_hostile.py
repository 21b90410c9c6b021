"""A server that means harm, for tests of the client."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from rlenv.sandbox import ChannelError, Exit, Profile
from rlenv_plugin_sandbox.remote import Remote, payload

TOKEN = "a-token-of-the-tests"
NAME = "n" * 22  # of every session
END: dict[str, Any] = {
    "status": 0, "reason": "exit", "cpu": 0.1, "wall": 0.2, "peak_memory": 5, "truncated": False,
    "isolation": "process", "started": True, "fault": None,
}  # fmt: skip
# From what is asked for: the bytes that the server sends; None: it never answers.
Answer = Callable[[str], bytes | None]


class Hostile:
    """A server that answers as a test says."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.sock.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.heard: list[str] = []
        self.clients: list[socket.socket] = []

    def serve(self) -> None:
        while True:
            try:
                client = self.sock.accept()[0]
            except OSError:
                return
            self.clients.append(client)
            threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client: socket.socket) -> None:
        with client, suppress(OSError), client.makefile("rb") as file:
            client.settimeout(60)
            while True:
                first = file.readline().decode("latin-1").split()
                if not first:
                    return
                length = 0
                while (line := file.readline().strip()) != b"":
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                file.read(length)
                method, path, _ = first
                what = "close" if method == "DELETE" else path.rpartition("/")[2]
                self.heard.append(what)
                if what == "sessions":
                    self.stream = client
                made = self.answer(what)
                if made is not None:
                    client.sendall(made)
                if what == "close":
                    self.stream.sendall(b"0\r\n\r\n")

    def end(self) -> None:
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        self.thread.join(30)
        for client in self.clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


def response(body: bytes, status: int = 200, **headers: str) -> bytes:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status} Something", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(header: Mapping[str, Any], *pieces: bytes) -> bytes:
    return response(payload.wrap(header, *pieces))


def failed(said: object, status: int = 503) -> bytes:
    return response(json.dumps(said).encode(), status)


def opened(**said: Any) -> bytes:
    """The answer to a request for a session: one line, and an end that comes later."""
    line = json.dumps({"session": NAME, "isolation": "process", **said}).encode() + b"\n"
    return chunked(line)


def chunked(data: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"%x\r\n%s\r\n" % (len(data), data)


def honest(what: str) -> bytes:
    """What an honest server answers, whatever is asked; the harness ends its sessions."""
    plain: dict[str, bytes] = {
        "v1": response(json.dumps({"rlenv": 3, "tier": "process", "sandbox": "x"}).encode()),
        "sessions": opened(),
        "recv": answer({"clock": 0.0}, b"frame"),
        "finish": answer({"exit": END}, b"out", b"err"),
    }
    return plain.get(what, answer({}))


def instead(of: str, made: bytes | None) -> Answer:
    """Honest but for one request."""
    return lambda what: made if what == of else honest(what)


@contextmanager
def hostile(answers: Answer) -> Iterator[Hostile]:
    server = Hostile(answers)
    server.thread.start()
    try:
        yield server
    finally:
        server.end()


def run(url: str, **options: Any) -> Exit:
    """All that a stage does in one session."""

    async def whole() -> Exit:
        box = Remote(url, TOKEN)
        asked = {"min_isolation": "process", "output_bytes": 100, **options}
        try:
            session = await box.open(Profile(**asked))
            try:
                await session.start("pass")
                await session.send(b"x")
                with suppress(ChannelError):
                    assert len(await session.recv(10, 5)) <= 10
                return await session.finish()
            finally:
                await session.close()
        finally:
            await box.aclose()

    return asyncio.run(whole())
