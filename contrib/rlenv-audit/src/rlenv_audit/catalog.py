"""All probes: those of this package, and those that plugins bring as parts of port ``probe``."""

from __future__ import annotations

from .probes import (
    baselines,
    cost,
    determinism,
    exploits,
    gold,
    meaning,
    opinion,
    robustness,
    secrecy,
)
from .probes.base import Probe
from .search import optimizer

__all__ = ["probes"]

# The cheap and telling ones first: a budget that ends early has asked them.
OWN = (
    *gold.PROBES, *baselines.PROBES, *robustness.PROBES, *secrecy.PROBES, *meaning.PROBES, *opinion.PROBES, *determinism.PROBES,
    *exploits.PROBES, *optimizer.PROBES, *cost.PROBES,
)  # fmt: skip


def probes() -> tuple[Probe, ...]:
    """Every probe that is installed.

    Raises:
        PluginError: a plugin's probe cannot be loaded.
    """
    from rlenv.plugins import registry

    found = list(OWN)
    known = registry()
    for info in known.infos():
        for short in known.supplied(info.name, "rlenv_parts").get("probe", {}):
            part = known.parts("probe", f"{info.name}/{short}")
            found += part if isinstance(part, (list, tuple)) else [part]
    return tuple(found)
