"""Limits of what a client may use of a server."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from attrs import field, frozen
from attrs.validators import gt
from msgspec import Meta

# Of all that is drawn in an episode.
Seed: TypeAlias = Annotated[int, Meta(ge=-(1 << 62), lt=1 << 62)]
Name: TypeAlias = Annotated[str, Meta(max_length=200)]  # that a client chooses


@frozen
class Limits:
    """Bounds of what one request, or one tenant, may use.

    Args:
        body: bytes of a request.
        depth: levels of nested JSON in a request.
        items: responses in one request of ``/v1/verify``.
        episodes: open episodes of one tenant.
        running: requests of one tenant that run at the same time.
        waiting: requests of one tenant that wait for their turn; further ones get 429.
        at_once: requests of all tenants that run at the same time.
        deadline: wall seconds for one step, or for the responses of one request.
        idle: seconds without a request after which an episode leaves memory; the next one has it
            replayed.
        keep: seconds without a request after which an episode is removed.
    """

    body: int = field(default=1 << 20, validator=gt(0))
    depth: int = field(default=64, validator=gt(0))
    items: int = field(default=1024, validator=gt(0))
    # A step of GRPO plays some 100 prompts with 8 to 32 rollouts each at the same time.
    episodes: int = field(default=4096, validator=gt(0))
    running: int = field(default=32, validator=gt(0))
    waiting: int = field(default=1024, validator=gt(0))
    at_once: int = field(default=128, validator=gt(0))
    deadline: float = field(default=600.0, validator=gt(0))
    idle: float = field(default=900.0, validator=gt(0))
    keep: float = field(default=86_400.0, validator=gt(0))
