"""A service that speaks the REST of Fly's Machines API; its machines are processes of this
machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "FlyV1-a-key-that-nobody-may-see"
APP = "sandboxes"


class Fly(ThreadingHTTPServer):
    """One app.

    Args:
        port: that the sandbox server of a machine listens on.
        delay: seconds until a machine that was made has started.
        trouble: [(method, status)] of requests that fail, each once, in this order; "after" in
            front of the status of a POST makes the machine all the same.
    """

    daemon_threads = True

    def __init__(self, port: int, delay: float = 0.2, sandbox: str = "process") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.port = port
        self.delay = delay
        self.sandbox = sandbox
        self.machines: dict[str, dict[str, Any]] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.trouble: list[tuple[str, str]] = []
        self.asked: list[str] = []

    def made(self, body: dict[str, Any]) -> dict[str, Any]:
        number = f"{len(self.machines):014x}"
        machine = {
            "id": number,
            "name": body["name"],
            "state": "created",
            "instance_id": f"{number}-1",
            "private_ip": "127.0.0.1",
            "config": body["config"],
            "events": [],
        }
        self.machines[number] = machine
        threading.Thread(target=self._start, args=(machine,), daemon=True).start()
        return machine

    def happened(self, machine: dict[str, Any], kind: str, state: str) -> None:
        machine["events"].insert(0, {"type": kind, "status": state, "source": "flyd"})
        machine["state"] = state

    def _start(self, machine: dict[str, Any]) -> None:
        time.sleep(self.delay)
        self.happened(machine, "launch", "starting")
        image = machine["config"]["image"]
        if image == "broken":
            self.happened(machine, "pull image: manifest unknown", "failed")
        if image in ("broken", "slow"):
            return
        words = [
            sys.executable,
            "-m",
            "rlenv_plugin_sandbox.remote",
            "--listen",
            f"127.0.0.1:{self.port}",
        ]
        environment = {
            **os.environ,
            **machine["config"]["env"],
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        environment.pop("FLY_API_TOKEN", None)
        started = [*words, "--sandbox", self.sandbox] if image != "silent" else ["sleep", "600"]
        self.processes[machine["id"]] = subprocess.Popen(started, env=environment)
        self.happened(machine, "start", "started")

    def ended(self, number: str) -> None:
        """The end of a machine, by whatever cause."""
        self.happened(self.machines[number], "exit", "destroyed")
        process = self.processes.pop(number, None)
        if process is not None:
            process.terminate()
            process.wait(30)

    @property
    def alive(self) -> list[str]:
        return [n for n, each in self.machines.items() if each["state"] != "destroyed"]


class _Handler(BaseHTTPRequestHandler):
    server: Fly
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, status: int, body: object, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def do(self) -> None:
        fly = self.server
        url = urlsplit(self.path)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
        fly.asked.append(f"{self.command} {url.path}")
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            self.answer(401, {"error": f"unauthorized: {self.headers.get('Authorization')}"})
            return
        base = f"/v1/apps/{APP}/machines"
        if not url.path.startswith(base):
            self.answer(404, {"error": "app not found"})
            return
        if fly.trouble and fly.trouble[0][0] == self.command:
            status = fly.trouble.pop(0)[1]
            if status.startswith("after") and self.command == "POST":
                fly.made(body)
            self.answer(int(status[-3:]), {"error": f"trouble with {KEY}"}, Retry_After="0")
            return
        self.machine(url.path[len(base) :].strip("/").split("/"), parse_qs(url.query), body)

    do_GET = do_POST = do_DELETE = do  # noqa: N815 - the library's words

    def machine(self, path: list[str], query: dict[str, list[str]], body: Any) -> None:
        fly = self.server
        number = path[0]
        if not number:
            if self.command == "POST":
                self.answer(200, fly.made(body))
            else:
                wanted = query.get("metadata.rlenv", [""])[0]
                self.answer(200, [m for m in fly.machines.values() if wanted in ("", m["name"])])
        elif number not in fly.machines:
            self.answer(404, {"error": "machine not found"})
        elif self.command == "DELETE":
            fly.ended(number)
            self.answer(200, {"ok": True})
        elif path[1:] == ["wait"]:
            until = time.monotonic() + min(float(query["timeout"][0]), 1.0)
            while fly.machines[number]["state"] != query["state"][0]:
                if time.monotonic() > until:
                    self.answer(408, {"error": "deadline_exceeded"})
                    return
                time.sleep(0.02)
            self.answer(200, {"ok": True})
        else:
            self.answer(200, fly.machines[number])


@contextmanager
def service(port: int, **options: Any) -> Iterator[Fly]:
    """The service, until the block ends; its machines end with it."""
    fly = Fly(port, **options)
    thread = threading.Thread(target=fly.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield fly
    finally:
        fly.shutdown()
        thread.join()
        fly.server_close()
        for number in list(fly.processes):
            fly.ended(number)
