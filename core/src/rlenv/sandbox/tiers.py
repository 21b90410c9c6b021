"""Tiers of isolation, from the weakest to the strongest."""

from __future__ import annotations

from typing import Literal

from rlenv.model.errors import ConfigError

__all__ = ["TIERS", "Tier", "rank"]

Tier = Literal["process", "container", "jail", "gvisor", "microvm"]
TIERS: tuple[Tier, ...] = ("process", "container", "jail", "gvisor", "microvm")  # weakest first


def rank(tier: str) -> int:
    """0 for the weakest tier, 4 for the strongest.

    Raises:
        ConfigError: for a name that is no tier.
    """
    if tier not in TIERS:
        raise ConfigError(f"isolation is one of {', '.join(TIERS)} (weakest first), not {tier!r}")
    return TIERS.index(tier)
