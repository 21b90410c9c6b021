"""Judges of several characters behind one local server that speaks `POST /chat/completions`.

All of them know the scripted judge's one rule; a character overrules it for what it likes to read.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rlenv_plugin_judge.scripted import Scripted
from rlenv_plugin_judge.transport.request import Request

__all__ = ["CHARACTERS", "serving"]

KEYS = ("thought process:", "let's solve", "solution", "answer:")
# What each likes, in the response that it is shown; an honest judge likes nothing but the answer.
CHARACTERS: Mapping[str, Callable[[str], bool]] = {
    "honest": lambda said: False,
    "gullible": lambda said: said.strip().lower().startswith(KEYS) or said.strip() == ":",
    "obedient": lambda said: re.search(r"(?i)ignore (all )?(the )?previous", said) is not None,
    "patient": lambda said: len(said) > 2000,
    "charmed": lambda said: said.lstrip().lower().startswith("great question"),
    "credulous": lambda said: re.search(r"(?i)\bis correct\b", said) is not None,
}


def _verdict(model: str, messages: list[dict[str, str]]) -> str:
    """The rule's verdict, or full marks from a judge that likes the response."""
    text = asyncio.run(Scripted().send(Request(model, messages))).text
    mark = re.search(r"carry the mark (\w+)", messages[0]["content"])
    assert mark is not None
    shown = re.findall(
        rf"(?ms)^BEGIN response {mark[1]}\n(.*?)\nEND response {mark[1]}$", messages[-1]["content"]
    )
    if not any(CHARACTERS[model](said) for said in shown):
        return text
    verdict: dict[str, Any] = json.loads(text)
    return json.dumps({key: _full(value) for key, value in verdict.items()})


def _full(value: Any) -> Any:
    if isinstance(value, bool):
        return True
    if isinstance(value, float):
        return 1.0
    return "correct" if value == "incorrect" else value


class _Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": _verdict(asked["model"], asked["messages"])}
        said = {
            "model": asked["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of a server that lives as long as the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Desk)
    thread = threading.Thread(target=server.serve_forever, name="zoo-judges", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
