"""Bodies of answers, in the dialects of OpenAI, vLLM, Ollama and llama.cpp."""

from __future__ import annotations

import json
import math
import re
from typing import Any

Json = dict[str, Any]
_WORDS = re.compile(r"\d{1,3}|[^\W\d]+|\s+|[^\w\s]|_")
_DIGITS = re.compile(r"\d|[^\W\d]+|\s+|[^\w\s]|_")


def completion(model: str, text: str | None, finish: str, asked: Json, traits: set[str]) -> Json:
    """A whole chat completion; traits: ``no-usage``, ``logprobs``, ``legacy-logprobs``,
    ``llama-logprobs``, ``refusing``.
    """
    message: Json = {"role": "assistant", "content": text}
    if "refusing" in traits:
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    choice: Json = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    prompt = sum(len(str(m.get("content"))) for m in asked["messages"]) // 4
    used = len(text or "") // 4
    body: Json = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": used,
            "total_tokens": prompt + used,
        },
    }
    if "no-usage" in traits:
        del body["usage"]
    if asked.get("logprobs") and text is not None:
        _add_logprobs(body, choice, text, traits)
    return body


def _add_logprobs(body: Json, choice: Json, text: str, traits: set[str]) -> None:
    rows = tokens(text, _DIGITS if "split-digits" in traits else _WORDS)
    if "logprobs" in traits:
        choice["logprobs"] = {"content": [_row(t, top) for t, top in rows], "refusal": None}
    if "legacy-logprobs" in traits:
        choice["logprobs"] = {
            "tokens": [t for t, _ in rows],
            "token_logprobs": [math.log(top[t]) for t, top in rows],
            "top_logprobs": [{k: math.log(p) for k, p in top.items()} for _, top in rows],
        }
    if "llama-logprobs" in traits:
        body["completion_probabilities"] = [
            {"content": t, "probs": [{"tok_str": k, "prob": p} for k, p in top.items()]}
            for t, top in rows
        ]


def _row(token: str, top: dict[str, float]) -> Json:
    listed = [
        {"token": k, "logprob": math.log(p), "bytes": list(k.encode())} for k, p in top.items()
    ]
    own = {"token": token, "logprob": math.log(top[token]), "bytes": list(token.encode())}
    return {**own, "top_logprobs": listed}


def tokens(text: str, form: re.Pattern[str]) -> list[tuple[str, dict[str, float]]]:
    """Tokens with what might have stood there: a number's neighbors, the other truth value."""
    found: list[tuple[str, dict[str, float]]] = []
    for token in form.findall(text):
        top = {token: 1.0}
        if token.isdigit() and len(token) <= 3:
            below = {str(int(token) - 1): 0.3} if int(token) else {}
            top = {token: 0.6, **below, str(int(token) + 1): 0.1}
        elif token in {"true", "false"}:
            top = {token: 0.8, "false" if token == "true" else "true": 0.2}
        found.append((token, top))
    return found


def error(message: str, kind: str, code: str | None = None, param: str | None = None) -> bytes:
    """An error as OpenAI writes it."""
    what = {"message": message, "type": kind, "param": param, "code": code}
    return json.dumps({"error": what}).encode()
