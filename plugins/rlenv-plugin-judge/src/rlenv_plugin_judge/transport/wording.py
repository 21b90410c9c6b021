"""The dialects of OpenAI-compatible servers: what to send, and what to make of what comes back.

Known differences: newer OpenAI models take ``max_completion_tokens`` and refuse ``max_tokens`` and
some sampling parameters (a 400 that names the parameter, learned once per endpoint); vLLM, Ollama
and llama.cpp take ``max_tokens``; ``usage`` may be missing (estimated); contents may be a list of
parts, or null beside a ``refusal``; log-probabilities come as ``logprobs.content`` (OpenAI, vLLM,
newer llama.cpp and Ollama), as parallel lists (older vLLM and routers), as
``completion_probabilities`` (llama.cpp), or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from .endpoint import Endpoint
from .errors import Failure, TooLong
from .http import Answer
from .reading import read_reply
from .request import CHAT, Reply, Request
from .retry import retry_after

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})
_CONTEXT = re.compile(
    rb"context_length_exceeded|maximum context length|exceed_context_size|exceeds? the (available"
    rb" )?context"
    rb"|prompt is too long|maximum (prompt|input) length",
    re.IGNORECASE,
)
_DROPPABLE = frozenset(
    {"temperature", "top_p", "seed", "logprobs", "top_logprobs", "response_format"}
)


class Dialect:
    """What one endpoint was found to want."""

    def __init__(self) -> None:
        self.renames_max_tokens = False
        self.dropped: set[str] = set()

    def body(self, endpoint: Endpoint, request: Request) -> bytes:
        """The JSON to send; ASCII, so that any text survives any server."""
        params = {**endpoint.params, **request.params}
        for name in ("messages", *self.dropped):
            params.pop(name, None)
        if self.renames_max_tokens and "max_tokens" in params:
            params["max_completion_tokens"] = params.pop("max_tokens")
        params["model"] = request.model or endpoint.model
        if request.route == CHAT:
            params["stream"] = False
        if not request.messages:
            return json.dumps(params).encode()
        rest = json.dumps(params)
        return f'{rest[:-1]}, "messages": {request.written()}}}'.encode()

    def learn(self, answer: Answer, sent: bytes) -> bool:
        """Whether a 400 names a parameter of ``sent`` that will be sent in another way from now on,
        or left out.
        """
        name = _named_parameter(answer.body)
        if not name and b'"response_format"' in sent and not _CONTEXT.search(answer.body[:20_000]):
            name = "response_format"  # servers that know none say so in words of their own
        if name == "max_tokens" and b'"max_tokens"' in sent:
            self.renames_max_tokens = True
            return True
        if name in _DROPPABLE and f'"{name}"'.encode() in sent:
            self.dropped.add(name)
            self.dropped.update({"top_logprobs"} if name == "logprobs" else ())
            return True
        return False


def _named_parameter(body: bytes) -> str:
    error = _error_of(body)
    name = error.get("param")
    if isinstance(name, str) and name:
        return name
    message = error.get("message")
    found = re.search(r"[Uu]nsupported (?:parameter|value): '(\w{1,40})'", str(message)[:500])
    return found.group(1) if found else ""


def _error_of(body: bytes) -> Mapping[str, Any]:
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = whole.get("error") if isinstance(whole, dict) else None
    if isinstance(error, dict):
        return error
    return whole if isinstance(whole, dict) else {}


def reply_of(answer: Answer, endpoint: Endpoint, route: str) -> Reply:
    """The reply in a server's answer.

    Raises:
        Failure: what else it is, and whether to ask again.
        TooLong: the request does not fit the model's context.
    """
    status = answer.status
    if status == 200:
        return read_reply(answer.body, endpoint, route)
    after = retry_after(answer.headers.get("retry-after"))
    if status in {400, 413, 422, 500} and _CONTEXT.search(answer.body[:20_000]):
        raise TooLong("the request is longer than the judge model's context")
    if status in _AGAIN:
        rest = "" if status == 429 else "soon"
        raise Failure(f"HTTP {status}", after=after, rest=rest)
    if 300 <= status < 400:
        raise Failure(f"HTTP {status}: a redirect, which is not followed", retry=False, rest="now")
    if status in {401, 403}:
        raise Failure(f"HTTP {status}: {_key_trouble(endpoint)}", retry=False, rest="now")
    if status == 404:
        text = f"HTTP 404: no model {endpoint.model!r} or no {route} there"
        raise Failure(text, retry=False, rest="now")
    raise Failure(f"HTTP {status}: the request is rejected", retry=False, rest="", final=True)


def _key_trouble(endpoint: Endpoint) -> str:
    if endpoint.key_env is None:
        return "it wants a key; name the environment variable that holds one (key_env)"
    return f"it does not take the key in the environment variable {endpoint.key_env}"
