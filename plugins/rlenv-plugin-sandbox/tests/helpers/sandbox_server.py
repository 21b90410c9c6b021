"""A server of sandboxes in a process of its own, and clients that speak to it byte by byte."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.remote import greeting, keys, payload

TOKEN = "a token of the tests"
OPENED: list[socket.socket] = []
CONNECTIONS = 4
SOON = 60.0  # seconds in which a busy machine does what takes no time
# Who says nothing is hung up on so much later that no test takes the one for the other.
SERVE = (
    "from rlenv_plugin_sandbox.remote import command, server\nserver._GREETING_S = 5 *"
    " 60.0\ncommand.main()"
)


class Server:
    """A server in a process of its own, and ways to reach it."""

    def __init__(self, *options: str, environ: dict[str, str] | None = None) -> None:
        words = [sys.executable, "-c", SERVE, "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            [*words, "--sandbox", "process", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "RLENV_SANDBOX_TOKEN": TOKEN, **(environ or {})},
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def raw(self) -> socket.socket:
        """A connection; closed at the end of the test."""
        sock = socket.create_connection(("127.0.0.1", self.port), SOON)
        OPENED.append(sock)
        return sock

    def friend(self, token: str = TOKEN) -> Friend:
        return Friend(self.raw(), token)

    def runs(self) -> None:
        """It still does its work."""
        friend = self.friend()
        assert friend.asked({"do": "open", "profile": profile()})["isolation"] == "process"
        friend.asked(start("print('well')"), b"")
        assert friend.asked({"do": "finish", "wait": None})["exit"]["status"] == 0
        friend.sock.close()

    def end(self) -> str:
        """Ends it; what it wrote to standard error."""
        self.process.terminate()
        said = self.process.communicate(timeout=SOON)[1]
        assert self.process.returncode == 0
        return said


class Friend:
    """A client that knows the token, byte by byte."""

    def __init__(self, sock: socket.socket, token: str = TOKEN) -> None:
        self.sock = sock
        self.inbox = bytearray()
        kind, hello = self.hear()
        assert kind == greeting.HELLO
        proof = proven(token, f"{hello['nonce']}:mine")
        self.say(greeting.PROOF, {"nonce": "mine", "proof": proof})
        kind, welcome = self.hear()
        assert "refused" not in welcome
        self.number = 0

    def say(self, kind: int, header: dict[str, Any], *pieces: bytes) -> None:
        if "program" in header and pieces:  # it goes after standard input
            pieces = (pieces[0], header["program"].encode(), *pieces[1:])
            header = {key: value for key, value in header.items() if key != "program"}
        self.sock.sendall(wire.frame(kind, payload.wrap(header, *pieces)))

    def hear(self) -> tuple[int, dict[str, Any]]:
        while (frame := wire.first(self.inbox, 1 << 30)) is None:
            data = self.sock.recv(1 << 16)
            if not data:
                raise EOFError
            self.inbox += data
        return frame[0], payload.unwrap(frame[1])[0]

    def asked(self, header: dict[str, Any], *pieces: bytes) -> dict[str, Any]:
        self.number += 1
        self.say(greeting.ASK, {**header, "id": self.number}, *pieces)
        while True:
            _, said = self.hear()
            if said["id"] == self.number:
                return said

    def hung_up(self) -> bool:
        """Whether the server ends this conversation."""
        try:
            self.sock.settimeout(SOON)
            while self.sock.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
        self.sock.close()
        return True


def proven(token: str, nonces: str) -> str:
    """What a client that knows the token says in its greeting."""
    return greeting._hide(keys.Key.of(token), keys.client_key(token), nonces).hex()


def profile(**options: Any) -> dict[str, Any]:
    said = payload.said_of(Profile(min_isolation="process"))
    return {**said, **options}


def start(program: str, **options: Any) -> dict[str, Any]:
    return {
        "do": "start",
        "program": program,
        "words": None,
        "files": [],
        "cpu_s": None,
        "wall_s": None,
        **options,
    }
