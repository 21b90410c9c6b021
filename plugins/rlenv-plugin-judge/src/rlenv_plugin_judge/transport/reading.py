"""The body of a chat completion, read strictly where a verdict depends on it and leniently
elsewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from .endpoint import Endpoint
from .errors import Failure
from .request import CHAT, Reply, Token, Usage

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


def read_reply(body: bytes, endpoint: Endpoint, route: str) -> Reply:
    """Raises Failure for HTML, truncated or other JSON, an error object, and an answer without a
    choice or row.
    """
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        raise Failure("the answer is no JSON (a proxy's page, or cut off)", spent=True) from None
    if route != CHAT:
        return _row(whole, endpoint)
    if not isinstance(whole, dict):
        raise Failure("the answer is no JSON object", spent=True)
    if whole.get("error"):
        raise _failed(whole["error"])
    choices = whole.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if first is None or not isinstance(message, dict):
        raise Failure("the answer has no choice with a message", spent=True)
    text, refused = _content(message)
    finish = "refusal" if refused else first.get("finish_reason")
    model = whole.get("model")
    return Reply(
        text=text,
        model=model[:200] if isinstance(model, str) else endpoint.model,
        usage=_usage(whole.get("usage")),
        finish=finish if isinstance(finish, str) else "",
        logprobs=_tokens(first, whole),
        endpoint=endpoint.base_url,
    )


def _row(whole: Any, endpoint: Endpoint) -> Reply:
    """The only row of an answer: of ``data``, of lists within lists, or the answer itself.

    Several rows are the labels of one text, the likeliest first: they become one whose score is by
    label.
    """
    usage = _usage(whole.get("usage")) if isinstance(whole, dict) else Usage(estimated=True)
    row = whole.get("data", whole) if isinstance(whole, dict) else whole
    while isinstance(row, list) and len(row) == 1:
        row = row[0]
    if isinstance(row, list) and all(
        isinstance(r, dict) and {"label", "score"} <= {*r} for r in row
    ):
        row = {"score": {str(r["label"]): r["score"] for r in row}} if row else None
    if not isinstance(row, dict) or row.get("error"):
        raise Failure("the answer has no row of scores", spent=True)
    return Reply(json.dumps(row), endpoint.model, usage, endpoint=endpoint.base_url)


def _failed(error: Any) -> Failure:
    """Routers answer 200 with an error object."""
    code = error.get("code") if isinstance(error, dict) else None
    code = code if isinstance(code, int) and 100 <= code < 600 else 500
    return Failure(f"an error (code {code}) in an answer of HTTP 200", retry=code in _TRANSIENT)


def _content(message: Mapping[str, Any]) -> tuple[str, bool]:
    content = message.get("content")
    refusal = message.get("refusal")
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        content = "".join(p for p in parts if isinstance(p, str))
    text = content if isinstance(content, str) else ""
    return text, isinstance(refusal, str) and bool(refusal)


def _usage(usage: Any) -> Usage:
    """What the endpoint counted; ``estimated`` when it did not (the client fills it in)."""
    if isinstance(usage, dict):
        counts = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
        numbers = [n for n in counts if type(n) is int and 0 <= n < 1 << 40]
        if len(numbers) == 2:
            return Usage(numbers[0], numbers[1])
    return Usage(estimated=True)


def _tokens(choice: Mapping[str, Any], whole: Mapping[str, Any]) -> tuple[Token, ...]:
    """Log-probabilities in whichever form there is; () when any part of them is odd."""
    found = choice.get("logprobs")
    try:
        if isinstance(found, dict) and isinstance(found.get("content"), list):
            return tuple(_token(t) for t in found["content"])
        if isinstance(found, dict) and isinstance(found.get("tokens"), list):
            return _parallel(found)
        listed = whole.get("completion_probabilities") or choice.get("completion_probabilities")
        if isinstance(listed, list):
            return tuple(_llama(t) for t in listed)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        return ()
    return ()


def _token(entry: Mapping[str, Any]) -> Token:
    top = tuple((_text(t["token"]), _log(t["logprob"])) for t in entry.get("top_logprobs") or ())
    return Token(_text(entry["token"]), _log(entry["logprob"]), top)


def _parallel(found: Mapping[str, Any]) -> tuple[Token, ...]:
    tokens = found["tokens"]
    logs = found["token_logprobs"]
    tops = found.get("top_logprobs") or [{}] * len(tokens)
    return tuple(
        Token(_text(token), _log(log), _alternatives(top or {}))
        for token, log, top in zip(tokens, logs, tops, strict=True)
    )


def _alternatives(top: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    return tuple((_text(token), _log(log)) for token, log in top.items())


def _llama(entry: Mapping[str, Any]) -> Token:
    if "logprob" in entry:
        return _token(entry)
    rows = entry.get("top_probs") or entry.get("probs") or ()
    top = tuple((_text(r.get("token", r.get("tok_str"))), _of_share(r["prob"])) for r in rows)
    text = _text(entry.get("token", entry.get("content")))
    own = _of_share(entry["prob"]) if "prob" in entry else dict(top)[text]
    return Token(text, own, top)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a token is text")
    return value


def _log(value: Any) -> float:
    number = float(value)
    if isinstance(value, (str, bool)) or math.isnan(number) or number > 1e-6:
        raise ValueError("a log-probability is at most 0")
    return min(0.0, number)


def _of_share(value: Any) -> float:
    return _log(math.log(value)) if value > 0 else -math.inf
