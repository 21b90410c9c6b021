"""Where a judge model is reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen
class Endpoint:
    """One OpenAI-compatible server and the model to ask there.

    Args:
        base_url: what ``/chat/completions`` is appended to, as ``https://api.example.org/v1``.
        model: the model's name there.
        key_env: the environment variable that holds the key; None for a server that wants none.
        family: who made the model (``"llama"``), so that no policy is judged by its own kind.
        revision: tells two models of one name apart; in the fingerprint and the cache's key.
        price_in, price_out: money per million tokens of prompts and of completions.
        params: sampling parameters for every request, overridden by a request's own.
    """

    base_url: str
    model: str
    key_env: str | None = "OPENAI_API_KEY"
    family: str = ""
    revision: str = ""
    price_in: float = 0.0
    price_out: float = 0.0
    params: Mapping[str, Any] = field(factory=dict)
