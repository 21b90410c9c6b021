"""A server of sandboxes in a process of its own, and clients that speak to it request by
request.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from typing import Any

from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.remote import payload

TOKEN = "a-token-of-the-tests"
OPENED: list[Any] = []  # what the end of a test closes
SESSIONS = 4
SOON = 60.0  # seconds in which a busy machine does what takes no time
PATH = payload.PATH
# Who says nothing is hung up on so much later that no test takes the one for the other.
SERVE = (
    "from rlenv_plugin_sandbox.remote import command, server\n"
    "server._GREETING_S = 5 * 60.0\n"
    "command.main()"
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
        return Friend(self.port, token)

    def runs(self) -> None:
        """It still does its work."""
        friend = self.friend()
        assert friend.open()["isolation"] == "process"
        friend.start("print('well')")
        assert friend.ask("finish", {"wait": None})["exit"]["status"] == 0
        friend.close()

    def end(self) -> str:
        """Ends it; what it wrote to standard error."""
        self.process.terminate()
        said = self.process.communicate(timeout=SOON)[1]
        assert self.process.returncode == 0
        return said


class Friend:
    """A client that has the token, request by request.

    Attributes:
        status: of the last answer.
    """

    def __init__(self, port: int, token: str = TOKEN) -> None:
        self.port = port
        self.headers = {"Authorization": f"Bearer {token}"}
        self.stream = self.connection()
        self.talk = self.connection()
        self.opened: http.client.HTTPResponse | None = None
        self.session = ""
        self.status = 0

    def connection(self) -> http.client.HTTPConnection:
        made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SOON)
        OPENED.append(made)
        return made

    def begin_open(self, *pieces: bytes, **options: Any) -> None:
        """Ask for a session, and read no answer."""
        body = payload.wrap({"profile": profile(**options)}, *pieces)
        self.stream.request("POST", f"{PATH}/sessions", body, self.headers)

    def end_open(self) -> dict[str, Any]:
        """The answer to ``begin_open``."""
        self.opened = self.stream.getresponse()
        self.status = self.opened.status
        text = self.opened.readline() if self.status == 200 else self.opened.read()
        said: dict[str, Any] = json.loads(text)
        self.session = said.get("session", "")
        return said

    def open(self, *pieces: bytes, **options: Any) -> dict[str, Any]:
        self.begin_open(*pieces, **options)
        return self.end_open()

    def post(self, what: str, body: bytes) -> bytes:
        """Send this body, whatever it is; the body of the answer."""
        self.talk.request("POST", f"{PATH}/sessions/{self.session}/{what}", body, self.headers)
        response = self.talk.getresponse()
        self.status = response.status
        return response.read()

    def ask(self, what: str, header: dict[str, Any], *pieces: bytes) -> dict[str, Any]:
        data = self.post(what, payload.wrap(header, *pieces))
        return payload.unwrap(data)[0] if self.status == 200 else payload.json_object(data)

    def start(self, program: str, *pieces: bytes, **options: Any) -> dict[str, Any]:
        return self.ask("start", start(**options), b"", program.encode(), *pieces)

    def has_ended(self) -> bool:
        """Whether the server ends this session."""
        assert self.opened is not None
        try:
            return self.opened.read() == b""
        except (ConnectionResetError, http.client.IncompleteRead):
            return True
        except TimeoutError:
            return False

    def close(self) -> None:
        """Hang up."""
        if self.opened is not None:
            self.opened.close()
        self.stream.close()
        self.talk.close()


def profile(**options: Any) -> dict[str, Any]:
    said = payload.said_of(Profile(min_isolation="process"))
    return {**said, **options}


def start(**options: Any) -> dict[str, Any]:
    """The header of a request to start a program."""
    return {"words": None, "files": [], "cpu_s": None, "wall_s": None, **options}
