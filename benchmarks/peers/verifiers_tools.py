"""Measures CPU seconds per tool turn of whole rollouts in verifiers 0.1 (its ToolEnv).

A Python that has verifiers runs it. Prints its version, and then for each line that it reads one
measurement of so many rollouts of so many turns.
"""

import asyncio
import gc
import sys
import time

import verifiers as vf
from datasets import Dataset
from verifiers.clients.client import Client
from verifiers.types import Response, ResponseMessage, ToolCall


class Scripted(Client):
    """A policy that calls the tool so often, and then answers."""

    def __init__(self, turns: int) -> None:
        super().__init__(None)
        self.turns = turns

    def setup_client(self, config: object) -> None: ...
    async def to_native_tool(self, tool: object) -> object: ...
    async def to_native_prompt(self, messages: object) -> object: ...
    async def get_native_response(self, *_: object, **__: object) -> object: ...
    async def raise_from_native_response(self, response: object) -> None: ...
    async def from_native_response(self, response: object) -> object: ...
    async def close(self) -> None: ...

    async def get_response(self, prompt: list[object], **_: object) -> Response:
        made = len(prompt) // 2
        calls = [ToolCall(id=f"call_{made}", name="add", arguments='{"a": 2, "b": 3}')]
        message = ResponseMessage(
            role="assistant",
            content="" if made < self.turns else "5",
            tool_calls=calls if made < self.turns else None,
            finish_reason="tool_calls" if made < self.turns else "stop",
            is_truncated=False,
        )
        return Response(id="r", created=0, model="scripted", message=message)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def right(completion: object) -> float:
    return 1.0 if completion else 0.0


async def measure(turns: int, n: int) -> None:
    data = Dataset.from_list([{"question": "2 + 3?", "answer": "5"}])
    env = vf.ToolEnv(
        tools=[add], max_turns=turns + 2, dataset=data, rubric=vf.Rubric(funcs=[right])
    )
    row = env.get_dataset()[0]
    client = Scripted(turns)
    print(vf.__version__, flush=True)
    for _ in sys.stdin:
        gc.collect()
        start = time.process_time()
        for _ in range(n):
            state = await env.rollout(row, client, "scripted", {})
            await env.rubric.score_rollout(state)
        print((time.process_time() - start) / n / turns, flush=True)
        assert state["reward"] == 1.0
        assert len(state["trajectory"]) == turns + 1, len(state["trajectory"])


asyncio.run(measure(*map(int, sys.argv[1:3])))
