"""What is asked of a judge model and what comes back: plain values, whatever carries them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from attrs import field, frozen

CHAT = "/chat/completions"
IN_ORDER = json.JSONEncoder(sort_keys=True).encode  # ASCII


def _tupled(messages: Iterable[Mapping[str, str]]) -> tuple[Mapping[str, str], ...]:
    return tuple(messages)


@frozen
class Request:
    """One chat completion, or what another route of the server is asked.

    Args:
        model: the model's name; "" stands for the endpoint's own.
        messages: ``{"role", "content"}`` in order; may be empty where the route is another one.
        params: sampling parameters in OpenAI's names (``temperature``, ``max_tokens``,
            ``logprobs``, …), or whatever else the route wants in its body.
        route: what the base URL is followed by; of any other than CHAT the reply's text is the
            first row of the answer, an object in JSON.
    """

    model: str
    messages: tuple[Mapping[str, str], ...] = field(converter=_tupled)
    params: Mapping[str, Any] = field(factory=dict)
    route: str = CHAT
    _written: list[str] = field(factory=list, init=False, eq=False, repr=False)

    def written(self) -> str:
        """The messages in JSON, ASCII, keys in order.

        Written once, since cache and server both want them.
        """
        if not self._written:
            messages = [dict(m) for m in self.messages]
            self._written.append(IN_ORDER(messages))
        return self._written[0]


@frozen
class Usage:
    """Tokens of one or several calls; ``estimated`` where an endpoint did not count them itself."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )


@frozen
class Token:
    """One token of a reply: its text, its natural log-probability (<= 0), and the likeliest in its
    place.
    """

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@frozen
class Reply:
    """A model's whole answer.

    Args:
        text: the content, "" where there was none.
        finish: ``stop``, ``length``, ``content_filter``, ``refusal``, … as the endpoint says it; ""
            when it does not.
        cached: it came from the disk and cost nothing.
        endpoint: the base URL that answered.
    """

    text: str
    model: str = ""
    usage: Usage = Usage()
    finish: str = "stop"
    logprobs: tuple[Token, ...] = ()
    cached: bool = False
    endpoint: str = ""


class Transport(Protocol):
    """What carries a request: the port ``transport`` of ``rlenv_parts``, so that an SDK can be a
    plugin.

    It raises ``VerifierFault`` where no reply can be had, and may have ``async def close()``.
    """

    async def send(self, request: Request) -> Reply: ...
