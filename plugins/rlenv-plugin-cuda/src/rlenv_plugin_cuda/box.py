"""Where answers are compiled and run: a sandbox by name, and what its programs may take."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from attrs import field, frozen, validators
from rlenv.sandbox import Isolation, Profile, Sandbox, Session, get, rank

__all__ = ["Box"]


def _tier(_: object, __: object, value: str) -> None:
    rank(value)


@frozen
class Box:
    """A sandbox and what its programs have in common.

    Args:
        isolation: a sandbox, as ``rlenv.sandbox.Isolation`` names it.
        options: for the sandbox.
        min_isolation: the weakest tier that is accepted.
        budget: seconds for one program, of CPU; from 0, exclusive.
    """

    isolation: str = field(default="jail", validator=validators.instance_of(str))
    options: Mapping[str, Any] = field(factory=dict)
    min_isolation: str = field(default="jail", validator=_tier)
    budget: float = field(default=10.0, validator=validators.gt(0))

    def sandbox(self) -> Sandbox:
        """The sandbox, one per process.

        Raises:
            PluginError: when no plugin supplies it.
        """
        return get(self.isolation, **self.options)

    @asynccontextmanager
    async def session(self, profile: Profile) -> AsyncIterator[Session]:
        """A place for programs of this profile, given back at the end.

        Raises:
            ConfigError: the profile cannot be had here.
            VerifierFault: the sandbox cannot be reached now.
        """
        chosen = Isolation(self.isolation, self.options, self.min_isolation)
        session = await chosen.open(profile)
        try:
            yield session
        finally:
            await session.close()
