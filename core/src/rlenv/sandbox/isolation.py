"""The choice of a sandbox, as stages have it among their options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from rlenv.model.errors import ConfigError, PluginError

from .port import Profile, Session, get
from .tiers import TIERS, Tier, rank

__all__ = ["Isolation"]

_PORT = "sandbox"
_PLACES = 2


@frozen
class Isolation:
    """A sandbox by name, and the weakest tier that is accepted.

    Any part ``sandbox`` of any plugin can be named.  Its tier is what its class says, an attribute
    ``tier``::

        class FlyMachine:
            tier: Tier = "microvm"

            async def open(self, profile): ...

    A class without one has a tier that is known only once a session is open, as of a sandbox at a
    server.

    Args:
        name: "jail" is the part ``jail`` of the plugin ``sandbox``; others are ``plugin/part``.
        options: for the adapter.
        minimum: the weakest tier that is accepted.
    """

    name: str = "jail"
    options: Mapping[str, object] = field(factory=dict)
    minimum: str = "jail"

    def adapter(self) -> object:
        """The class of the adapter.

        Raises:
            ConfigError: no installed plugin supplies it; the message names the nearest.
        """
        from rlenv.plugins.registry import registry

        try:
            return registry().parts(_PORT, self.name)
        except PluginError as err:
            raise ConfigError(f"isolation = {self.name!r}: {err}") from None

    @property
    def tier(self) -> Tier | None:
        """The tier that the adapter's class declares; None where only a session can tell.

        Raises:
            ConfigError: no plugin supplies the adapter, or what it declares is no tier.
        """
        adapter: Any = self.adapter()
        tier: Any = getattr(adapter, "tier", None)
        if tier is None or isinstance(tier, property):
            return None
        if tier not in TIERS:
            known = ", ".join(TIERS)
            raise ConfigError(
                f"isolation = {self.name!r}: its class {adapter.__qualname__} declares "
                f"tier = {tier!r:.60}; a tier is one of {known} (report it to its plugin)"
            )
        made: Tier = tier
        return made

    @property
    def is_deferred(self) -> bool:
        """True where the adapter looks for what it needs when a task loads or a program starts.

        Its class says so by an attribute ``is_deferred``.  Any other adapter is made when a stage
        is, so that what it lacks is an error of the configuration.

        Raises:
            ConfigError: no plugin supplies the adapter.
        """
        return bool(getattr(self.adapter(), "is_deferred", False))

    async def open(self, profile: Profile) -> Session:
        """Lease a place in the sandbox, of which there is one per process and options.

        Args:
            profile: the limits and files of the programs.

        Raises:
            ConfigError: the profile cannot be had here, or the session's tier is too weak.
            PluginError: no plugin supplies the adapter.
            VerifierFault: the sandbox cannot be reached now.
        """
        session = await get(self.name, **self.options).open(profile)
        try:
            self.accept(session.isolation)
        except ConfigError:
            await session.close()
            raise
        return session

    @property
    def at_least(self) -> Tier:
        """The tier to report where nothing ran: the declared one, else the weakest."""
        return self.tier or TIERS[0]

    def check(self, what: str = "programs") -> None:
        """Refuse an adapter that is not there, and one of a weaker tier than is accepted.

        Args:
            what: the things that run there, for the message.

        Raises:
            ConfigError: saying what to do.
        """
        tier = self.tier
        if tier is not None and rank(tier) < rank(self.minimum):
            raise ConfigError(
                f"isolation {self.name!r} is of tier {tier!r}, less than min_isolation "
                f"{self.minimum!r}: choose another isolation, or lower min_isolation "
                f"if the {what} are to be trusted"
            )

    def accept(self, tier: str) -> None:
        """Refuse a session whose tier is weaker than is accepted, whatever its adapter declares.

        Raises:
            ConfigError: naming both tiers.
        """
        if rank(tier) < rank(self.minimum):
            raise ConfigError(
                f"isolation {self.name!r} gave a session of tier {tier!r}, less than min_isolation "
                f"{self.minimum!r}: choose another isolation (and report it to its plugin)"
            )

    def lacks(self, wanted: str | None) -> str:
        """Why it is too weak for a task that asks for the tier ``wanted``; "" where it is not."""
        tier = self.tier
        if wanted is None or tier is None or rank(tier) >= rank(wanted):
            return ""
        return (
            f"min_isolation = {wanted!r}, and isolation {self.name!r} is of tier {tier!r}; "
            "choose another isolation for this environment"
        )

    @property
    def places(self) -> int:
        """How many programs run there at one time in this process."""
        given = os.environ.get("RLENV_SANDBOX_SLOTS", "")
        chosen: Any = self.options.get("places")
        return int(chosen or (given.isdecimal() and int(given)) or _PLACES)
