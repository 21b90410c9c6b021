"""A function as an HTTP service of JSON on a port of this machine, which is the first line that it
prints.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def serve(answer: Callable[[str, object], object]) -> None:
    """Answer POST requests until the process ends; ``answer`` is given the path and the body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = json.dumps(answer(self.path, json.loads(body))).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


def ask(port: int, path: str, body: object) -> object:
    """What a service answers.

    Raises:
        OSError: it is not there any more.
    """
    data = json.dumps(body).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data, timeout=60) as reply:
        return json.load(reply)
