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
    asked = json.loads(body)
    if path in CLASSIFIERS:
        server.requests.append(asked)
        return _trouble(1, set(asked["model"].split("+"))) or classified(path, asked, server.key)
    if path != "/v1/chat/completions":
        return Answered(error("no such path", "invalid_request_error"), 404)
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
    if "stubborn" in traits:
        return Answered(error("no", "invalid_request_error", param="temperature"), 400)
    if "short-context" in traits:
        text = "This model's maximum context length is 10 tokens."
        return Answered(error(text, "invalid_request_error", "context_length_exceeded"), 400)
    if (
        "no-forms" in traits and "response_format" in asked
    ):  # in words of its own, and no name of a parameter
        return Answered(error("json schema is not enabled", "invalid_request_error"), 400)
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


CLASSIFIERS = ("/classify", "/pooling", "/score", "/predict", "/v1/classify")


def classified(path: str, asked: dict[str, Any], key: dict[str, Any]) -> Answered:
    """What vLLM (classify, pooling, score), SGLang (v1/classify) and text-embeddings-inference
    (predict) answer.
    """
    texts = [str(asked.get(name, "")) for name in ("input", "inputs", "text_2")]
    texts += [m["content"] for m in asked.get("messages", ())]
    seen = [value for known, value in key.items() if any(known in text for text in texts)]
    number = max(seen, default=0.0)
    if "short-context" in asked["model"]:
        text = "This model's maximum context length is 10 tokens."
        return Answered(error(text, "BadRequestError"), 400)
    if "labels" in asked["model"]:  # sorted, as text-embeddings-inference does it
        both = ({"score": 1 - number, "label": "bad"}, {"score": number, "label": "good"})
        return Answered(json.dumps(sorted(both, key=lambda row: -row["score"])).encode())
    rows: Any = {
        "/score": {"index": 0, "object": "score", "score": number},
        "/pooling": {"index": 0, "object": "reward", "data": [number]},
        "/predict": [[{"score": number, "label": "LABEL_0"}]],
    }.get(path, {"index": 0, "label": "good", "probs": [1 - number, number], "num_classes": 2})
    if path != "/predict":
        rows = {
            "object": "list",
            "data": [rows, rows] if "two-rows" in asked["model"] else [rows],
            "usage": {"prompt_tokens": 9, "completion_tokens": 0},
        }
    return Answered(json.dumps(rows).encode())


def formed(form: dict[str, Any] | None, verdict: dict[str, Any]) -> str:
    """A small model: it loses the nonce, unless the server enforces a form."""
    if form is None:
        return json.dumps({**verdict, "nonce": "nonce"})
    kinds = form["json_schema"]["schema"]["properties"]
    forced = {
        name: kind["enum"][0] for name, kind in kinds.items() if len(kind.get("enum", ())) == 1
    }
    return json.dumps({name: forced.get(name, verdict[name]) for name in kinds})


def _judged(server: JudgeServer, asked: dict[str, Any], traits: set[str]) -> Answered:
    question = read_question(asked["messages"])
    text: str | None = verdict_text(traits, server.key, question) if question else "Hello."
    if "forgetful" in traits and question:
        text = formed(asked.get("response_format"), json.loads(text or ""))
    finish = "stop"
    if "echo-key" in traits:
        text = f"{server.authorizations[-1]} {text}"
    limit = asked.get("max_tokens") or asked.get("max_completion_tokens") or 1 << 20
    if "rambling" in traits or len(text or "") > 4 * limit:
        text = (text or "")[: 4 * limit]
        finish = "length"
    if "filtered" in traits:
        text = ""
        finish = "content_filter"
    if "null-content" in traits:
        text = None
    if "wrong-then-fine" in traits and server.counts[asked["model"]] <= 1:
        text = "I would say it is quite good."
    body = json.dumps(completion(asked["model"], text, finish, asked, traits)).encode()
    return Answered(body, cut="truncated" in traits)
