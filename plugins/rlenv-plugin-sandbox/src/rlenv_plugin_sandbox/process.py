"""No sandbox: a plain process with limits, for programs that are trusted.  Tier "process"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rlenv.sandbox import Diagnosis, Tier

from .jail.adapter import Local

__all__ = ["Process"]


class Process(Local):
    """Runs programs with this user's rights, network and files.  Refuses every demand for more."""

    tier: Tier = "process"
    isolate: ClassVar[bool] = False
    remedy: ClassVar[str] = (
        'use the sandbox "jail", or min_isolation = "process" for trusted programs'
    )

    def diagnose(self) -> Sequence[Diagnosis]:
        said = "no isolation: for trusted programs only; never chosen automatically"
        return [Diagnosis("process", said)]
