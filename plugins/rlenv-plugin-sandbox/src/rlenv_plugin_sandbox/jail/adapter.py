"""The adapters of the port that run programs on this machine: ``jail`` and ``process``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from rlenv import ConfigError
from rlenv.sandbox import Diagnosis, Tier

from rlenv_plugin_sandbox.pool import Pool
from rlenv_plugin_sandbox.session import Adapter

from .run import Run
from .slot import Slot

__all__ = ["Jail", "Local"]


class Local(Adapter[Slot]):
    """What both have in common: zygotes, isolated or not."""

    isolate: ClassVar[bool] = True
    is_deferred: ClassVar[bool] = True

    def __init__(self, places: int | None = None) -> None:
        make = partial(Slot, isolate=self.isolate)
        super().__init__(Pool(type(self).__name__.lower(), make, places), Run)

    async def _sweep(self) -> None:
        from . import cgroups

        if sys.platform != "linux":
            raise ConfigError(
                f"the sandbox {type(self).__name__.lower()!r} needs Linux; use docker or remote"
                " here"
            )
        cgroups.sweep()


class Jail(Local):
    """Programs in namespaces of their own, behind seccomp and Landlock.  Tier "jail".

    Args:
        places: how many programs may run at one time in this process; RLENV_SANDBOX_SLOTS or 2 when
            None.
    """

    tier: Tier = "jail"
    remedy: ClassVar[str] = 'use sandbox "docker+gvisor", or lower min_isolation'

    def diagnose(self) -> Sequence[Diagnosis]:
        from .probe import diagnose

        return diagnose()
