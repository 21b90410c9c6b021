"""A server that speaks the wires of vLLM and SGLang, with a scripted model behind them.

vLLM at 002032ee: ``vllm/entrypoints/openai/chat_completion/protocol.py`` and
``completion/protocol.py`` (requests and
replies), ``chat_completion/serving.py`` (``token_ids`` are those of the engine, the end token
included; usage counts them; ``token_id:N`` names), ``vllm/renderers/params.py`` (what a prompt that
is too long is told), and ``vllm/tool_parsers/hermes_tool_parser.py``.  SGLang at 001067ff:
``python/sglang/srt/managers/io_struct.py`` (``GenerateReqInput``) and ``tokenizer_manager.py``
(``meta_info``, and what a prompt that is too long is told).
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable
from typing import cast

from aiohttp import web
from token_model import JSON, TOKENIZER, encode, end_of, render

CALL = re.compile(r"<tool_call>(.*?)</tool_call>|<tool_call>(.*)", re.DOTALL)


class WireServer:
    """``url``; ``requests``: (path, body) of each; ``sample``: what the model samples behind ids;
    ``faults``: replies (status, headers, body) that come first; ``change``: edits a reply."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.url = ""
        self.forget()

    def forget(self) -> None:
        self.requests: list[tuple[str, JSON, JSON]] = []
        self.faults: list[tuple[int, dict[str, str], str]] = []
        self.sample: Callable[[list[int]], list[int]] = lambda ids: []
        self.change: Callable[[JSON], JSON] = lambda reply: reply
        self.template = "chatml"
        self.context = 100_000

    def start(self) -> None:
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self.loop).result(30)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self.runner.cleanup(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)
        self.loop.close()

    async def _open(self) -> None:
        app = web.Application(client_max_size=1 << 28)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_post("/v1/completions", self.completions)
        app.router.add_post("/generate", self.generate)
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}"

    async def _asked(self, request: web.Request) -> JSON:
        body = cast("JSON", await request.json())
        self.requests.append((request.path, body, dict(request.headers)))
        if self.faults:
            status, headers, text = self.faults.pop(0)
            if not status:
                cast("asyncio.Transport", request.transport).close()
            raise _Fault(web.Response(status=status or 500, headers=headers, text=text))
        return body

    def _sampled(self, ids: list[int]) -> tuple[list[int], list[float], str]:
        sampled = self.sample(ids)
        reason = "stop" if sampled and sampled[-1] in encode(end_of(self.template)) else "length"
        return sampled, [-0.5 - i for i in range(len(sampled))], reason

    async def chat(self, request: web.Request) -> web.Response:
        try:
            body = await self._asked(request)
        except _Fault as fault:
            return fault.response
        ids = encode(render(self.template, body["messages"], body.get("tools", [])))
        if len(ids) > self.context:
            return self._too_long_for_vllm(len(ids))
        sampled, logprobs, reason = self._sampled(ids)
        written = TOKENIZER.decode(sampled, skip_special_tokens=True)
        message: JSON = {
            "role": "assistant",
            "content": written,
            "refusal": None,
            "reasoning": None,
        }
        if body.get("tools") and "<tool_call>" in written:
            found = [json.loads(a or b) for a, b in CALL.findall(written)]
            message["content"] = written[: written.find("<tool_call>")].rstrip("\n")
            message["tool_calls"] = [
                {
                    "id": f"call_{i}",
                    "type": "function",
                    "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])},
                }
                for i, c in enumerate(found)
            ]
            reason = "tool_calls"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        reply = {"choices": [choice], "usage": _usage(ids, sampled), "model": body["model"]}
        if body.get("return_token_ids"):
            choice["token_ids"] = sampled
            reply["prompt_token_ids"] = ids
        if body.get("logprobs"):
            names = (
                [f"token_id:{at}" for at in sampled]
                if body.get("return_tokens_as_token_ids")
                else [TOKENIZER.decode([at]) for at in sampled]
            )
            choice["logprobs"] = {
                "content": [
                    {"token": n, "logprob": p, "bytes": None, "top_logprobs": []}
                    for n, p in zip(names, logprobs, strict=True)
                ]
            }
        return web.json_response(self.change(reply))

    async def completions(self, request: web.Request) -> web.Response:
        try:
            body = await self._asked(request)
        except _Fault as fault:
            return fault.response
        ids = body["prompt"]
        if len(ids) > self.context:
            return self._too_long_for_vllm(len(ids))
        sampled, logprobs, reason = self._sampled(ids)
        choice = {
            "index": 0,
            "text": TOKENIZER.decode(sampled),
            "finish_reason": reason,
            "prompt_token_ids": ids,
            "token_ids": sampled,
        }
        choice["logprobs"] = {
            "tokens": [f"token_id:{at}" for at in sampled],
            "token_logprobs": logprobs,
            "text_offset": [],
            "top_logprobs": [],
        }
        return web.json_response(self.change({"choices": [choice], "usage": _usage(ids, sampled)}))

    async def generate(self, request: web.Request) -> web.Response:
        try:
            body = await self._asked(request)
        except _Fault as fault:
            return fault.response
        ids = body["input_ids"]
        if len(ids) >= self.context:
            text = (
                f"The input ({len(ids)} tokens) is longer than the model's context length"
                f" ({self.context} tokens)."
            )
            return web.json_response({"error": {"message": text}}, status=400)
        sampled, logprobs, reason = self._sampled(ids)
        meta = {
            "id": "x",
            "finish_reason": {"type": reason},
            "prompt_tokens": len(ids),
            "completion_tokens": len(sampled),
        }
        meta["output_token_logprobs"] = [
            [p, at, None] for p, at in zip(logprobs, sampled, strict=True)
        ]
        reply = {"text": TOKENIZER.decode(sampled), "output_ids": sampled, "meta_info": meta}
        return web.json_response(self.change(reply))

    def _too_long_for_vllm(self, many: int) -> web.Response:
        text = (
            f"You passed {many} input tokens and requested 0 output tokens. However, the model's"
            f" context length is only {self.context} tokens, resulting in a maximum input length of"
            f" {self.context} tokens. Please reduce the length of the input prompt."
        )
        error = {"message": text, "type": "BadRequestError", "param": "input_tokens", "code": 400}
        return web.json_response({"error": error}, status=400)


class _Fault(Exception):
    def __init__(self, response: web.Response) -> None:
        super().__init__()
        self.response = response


def _usage(ids: list[int], sampled: list[int]) -> dict[str, int]:
    return {
        "prompt_tokens": len(ids),
        "completion_tokens": len(sampled),
        "total_tokens": len(ids) + len(sampled),
    }
