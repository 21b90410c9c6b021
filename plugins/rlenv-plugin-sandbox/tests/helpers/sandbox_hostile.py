"""A server that means harm, for tests of the client."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from rlenv.sandbox import ChannelError, Exit, Profile
from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.remote import Remote, greeting, keys, payload

TOKEN = "a token of the tests"
END: dict[str, Any] = {
    "status": 0, "reason": "exit", "cpu": 0.1, "wall": 0.2, "peak_memory": 5, "truncated": False,
    "isolation": "process", "started": True, "fault": None,
}  # fmt: skip
Answer = Callable[[dict[str, Any], list[bytes]], bytes | None]


class Hostile:
    """A server that knows the token (unless it shall not) and answers as a test says."""

    def __init__(
        self, answer: Answer, hello: Mapping[str, Any] = {}, welcome: Mapping[str, Any] = {}
    ) -> None:
        self.answer = answer
        self.hello = hello
        self.welcome = welcome
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.url = f"tcp://127.0.0.1:{self.sock.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.heard: list[dict[str, Any]] = []

    def serve(self) -> None:
        while True:
            try:
                client = self.sock.accept()[0]
            except OSError:
                return
            with client:
                try:
                    self.talk(client)
                except (OSError, ValueError):
                    continue

    def talk(self, client: socket.socket) -> None:
        client.settimeout(30)
        inbox = bytearray()

        def hear() -> tuple[dict[str, Any], list[bytes]]:
            while (frame := wire.first(inbox, 1 << 30)) is None:
                data = client.recv(1 << 16)
                if not data:
                    raise OSError
                inbox.extend(data)
            return payload.unwrap(frame[1])

        client.sendall(
            wire.frame(
                greeting.HELLO, said({"rlenv": 2, "nonce": "n", "token": True, **self.hello})
            )
        )
        nonce = hear()[0]["nonce"]
        nonces = f"{self.hello.get('nonce', 'n')}:{nonce}"
        proof = keys.sign(bytes.fromhex(keys.Key.of(TOKEN).server), nonces).hex()
        welcome = {"tier": "process", "sandbox": "process", "proof": proof, **self.welcome}
        client.sendall(wire.frame(greeting.WELCOME, said(welcome)))
        while True:
            header, pieces = hear()
            self.heard.append(header)
            made = self.answer(header, pieces)
            if made is not None:
                client.sendall(made)


def said(header: Mapping[str, Any], *pieces: bytes) -> bytes:
    return payload.wrap(header, *pieces)


def answer(header: Mapping[str, Any], *pieces: bytes) -> bytes:
    return wire.frame(greeting.ANSWER, said(header, *pieces))


def honest(question: dict[str, Any], _: list[bytes]) -> bytes:
    """What an honest server answers, whatever is asked."""
    plain: dict[str, tuple[Any, ...]] = {
        "open": ({"isolation": "process"},),
        "recv": ({"is": "frame"}, b"frame"),
        "finish": ({"exit": END}, b"out", b"err"),
    }
    header, *pieces = plain.get(question["do"], ({},))
    return answer({"id": question["id"], **header}, *pieces)


def instead(of: str, make: Callable[[int], bytes]) -> Answer:
    """Honest but for one question."""

    def answers(question: dict[str, Any], pieces: list[bytes]) -> bytes:
        return make(question["id"]) if question["do"] == of else honest(question, pieces)

    return answers


@contextmanager
def hostile(answers: Answer, **options: Any) -> Iterator[Hostile]:
    server = Hostile(answers, **options)
    server.thread.start()
    try:
        yield server
    finally:
        server.sock.shutdown(socket.SHUT_RDWR)
        server.sock.close()
        server.thread.join(30)


def run(url: str) -> Exit:
    """All that a stage does in one session."""

    async def whole() -> Exit:
        box = Remote(url, TOKEN)
        try:
            session = await box.open(Profile(min_isolation="process", output_bytes=100))
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
