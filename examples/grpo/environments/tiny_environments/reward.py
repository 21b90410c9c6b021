"""The stage of leaky.toml."""

from __future__ import annotations

from collections.abc import Mapping


def is_accepted(response: str, info: Mapping[str, str]) -> bool:
    """Whether the response is one of the accepted answers, which commas separate."""
    return response.strip() in info["accepted"].split(",")
