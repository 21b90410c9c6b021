"""What the server answers, by the traits in the model's name."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from attrs import field, frozen
from judge_dialects import completion, error
from judge_prompt import read_question
from judge_traits import verdict_text

if TYPE_CHECKING:
    from judge_http import JudgeServer

KEY = "sk-right-key-1234567890"  # what a judge with the trait "keyed" wants
HTML = b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"
SLOW = 0.5  # seconds


@frozen
class Answered:
    """An answer; ``cut``: half of it is sent; ``drop``: none of it."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(factory=dict)
    cut: bool = False
    drop: bool = False


async def answer(server: JudgeServer, path: str, headers: dict[str, str], body: bytes) -> Answered:
    server.authorizations.append(headers.get("authorization", ""))
    if path == "/v1/models":
        listed = [{"id": "honest", "object": "model", "created": 1, "owned_by": "tests"}]
        return Answered(json.dumps({"object": "list", "data": listed}).encode())
    if path != "/v1/chat/completions":
        return Answered(error("no such path", "invalid_request_error"), 404)
    asked = json.loads(body)
    server.requests.append(asked)
    model = asked["model"]
    server.counts[model] = server.counts.get(model, 0) + 1
    traits = set(model.split("+"))
    if "slow" in traits:
        await asyncio.sleep(SLOW)
    return (
        _trouble(server.counts[model], traits)
        or _refused(asked, traits, headers)
        or _odd(traits, headers)
        or _judged(server, asked, traits)
    )


def _trouble(count: int, traits: set[str]) -> Answered | None:
    """Trouble that passes, or does not."""
    if "busy-then-fine" in traits and count <= 2:
        return Answered(error("slow down", "rate_limit"), 429, {"Retry-After": "0.01"})
    if "error-then-fine" in traits and count <= 2:
        return Answered(HTML, 500)
    if "drops-then-fine" in traits and count <= 2:
        return Answered(drop=True)
    if "dead" in traits:
        return Answered(HTML, 503)
    if "busy" in traits:
        return Answered(error("slow down", "rate_limit"), 429)
    if "drops" in traits:
        return Answered(drop=True)
    return None


def _refused(asked: dict[str, Any], traits: set[str], headers: dict[str, str]) -> Answered | None:
    """Requests that a server does not take."""
    given = headers.get("authorization", "")
    if "keyed" in traits and given != f"Bearer {KEY}":
        text = f"Incorrect API key provided: {given.removeprefix('Bearer ')}."
        return Answered(error(text, "invalid_request_error", "invalid_api_key"), 401)
    if "missing" in traits:
        return Answered(error("no such model", "invalid_request_error", "model_not_found"), 404)
    if "refuses-request" in traits:
        return Answered(error("bad", "invalid_request_error"), 400)
    if "short-context" in traits:
        text = "This model's maximum context length is 10 tokens."
        return Answered(error(text, "invalid_request_error", "context_length_exceeded"), 400)
    if "new-openai" in traits:
        for name in ("max_tokens", "temperature"):
            if name in asked:
                text = f"Unsupported parameter: '{name}' is not supported with this model."
                kind = "invalid_request_error"
                return Answered(error(text, kind, "unsupported_parameter", name), 400)
    return None


def _odd(traits: set[str], headers: dict[str, str]) -> Answered | None:
    """Answers of 200 that are none."""
    if "html" in traits:
        return Answered(HTML)
    if "not-object" in traits:
        return Answered(b"[1, 2]")
    if "deep" in traits:
        return Answered(b"[" * 200_000)
    if "empty-choices" in traits:
        return Answered(json.dumps({"choices": []}).encode())
    if "error-in-200" in traits:
        return Answered(json.dumps({"error": {"code": 503, "message": "upstream"}}).encode())
    if "huge" in traits:
        return Answered(b'{"choices": "' + b"x" * (5 << 20) + b'"}')
    if "zipped" in traits:
        return Answered(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
    if "redirect" in traits:
        return Answered(b"", 302, {"Location": "/v1/models"})
    return None


def _judged(server: JudgeServer, asked: dict[str, Any], traits: set[str]) -> Answered:
    question = read_question(asked["messages"])
    text: str | None = verdict_text(traits, server.key, question) if question else "Hello."
    finish = "stop"
    if "echo-key" in traits:
        text = f"{server.authorizations[-1]} {text}"
    limit = asked.get("max_tokens") or asked.get("max_completion_tokens") or 1 << 20
    if "rambling" in traits or len(text or "") > 4 * limit:
        text, finish = (text or "")[: 4 * limit], "length"
    if "filtered" in traits:
        text, finish = "", "content_filter"
    if "null-content" in traits:
        text = None
    if "wrong-then-fine" in traits and server.counts[asked["model"]] <= 1:
        text = "I would say it is quite good."
    body = json.dumps(completion(asked["model"], text, finish, asked, traits)).encode()
    return Answered(body, cut="truncated" in traits)
