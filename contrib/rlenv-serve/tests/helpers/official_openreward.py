"""The official server of ``openreward``, with a tool that echoes and one that submits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def official() -> Iterator[str]:
    """The official server with a tool that echoes and one that submits."""
    import uvicorn
    from openreward.environments import Environment as Theirs
    from openreward.environments import Server as TheirServer
    from openreward.environments import TextBlock as Text
    from openreward.environments import ToolOutput, tool
    from pydantic import BaseModel

    class Said(BaseModel):  # type: ignore[misc] # pydantic is not installed with rlenv
        text: str

    class Sums(Theirs):  # type: ignore[misc] # it has no types
        @classmethod
        def list_splits(cls) -> list[str]:
            return ["train"]

        @classmethod
        def list_tasks(cls, split: str) -> list[dict[str, str]]:
            return [{"question": "1 + 1?", "answer": "2"}]

        def get_prompt(self) -> list[Any]:
            return [Text(text=self.task_spec["question"])]

        @tool  # type: ignore[untyped-decorator] # as above
        def echo(self, params: Said) -> ToolOutput:
            """Say it again."""
            return ToolOutput(blocks=[Text(text=params.text)], reward=float("nan"), finished=False)

        @tool  # type: ignore[untyped-decorator] # as above
        def submit(self, params: Said) -> ToolOutput:
            """Submit."""
            right = params.text == self.task_spec["answer"]
            return ToolOutput(blocks=[Text(text="")], reward=float(right), finished=True)

    Said.model_rebuild(_types_namespace={"Said": Said})
    for each in (Sums.echo, Sums.submit):
        each.__annotations__ = {"params": Said, "return": ToolOutput}
    host = uvicorn.Server(
        uvicorn.Config(TheirServer([Sums]).app, "127.0.0.1", 0, log_level="error")
    )
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=host.run, kwargs={"sockets": [listener]})
    thread.start()
    while not host.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        host.should_exit = True
        thread.join(30)
