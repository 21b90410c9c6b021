"""The judge's way to its models: cached, limited, budgeted, retried, and handed on where one is dead."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .endpoint import Endpoint
from .limits import Limits, Rate, Retries
from .request import Reply, Request, Usage


class Client:
    """Safe for many tasks and several event loops at once; it opens nothing before the first call."""

    @classmethod
    def from_endpoints(
        cls,
        endpoints: Sequence[Endpoint],
        *,
        concurrency: int = 64,
        rate: Rate | None = None,
        retries: Retries | None = None,
        timeout: float = 60.0,
        budget: Limits | None = None,
        cache: str | os.PathLike[str] | None = None,
    ) -> Client:
        """Raises ConfigError: no endpoint, a base URL that cannot be used, a key's variable that is not set."""
        raise NotImplementedError

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        raise NotImplementedError

    @property
    def usage(self) -> Usage:
        """What was spent so far, cached replies not counted."""
        raise NotImplementedError

    async def complete(self, request: Request) -> Reply:
        """Raises VerifierFault (unscored), or TooLong where the endpoint's context cannot hold the request."""
        raise NotImplementedError

    async def send(self, request: Request) -> Reply:
        """The same: a client is a Transport."""
        return await self.complete(request)

    def forget(self, request: Request) -> None:
        """Drop the cached reply to ``request``, so that it is asked anew."""
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError
