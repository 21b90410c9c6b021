"""All probes: those of this package, and those that plugins bring as parts of port ``probe``."""

from __future__ import annotations

from typing import Any

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
        for made in known._call(info.name, "rlenv_parts").get("probe", {}).values():
            part = made if not isinstance(made, str) else _resolved(made)
            found += part if isinstance(part, (list, tuple)) else [part]
    return tuple(found)


def _resolved(target: str) -> Any:
    from rlenv.plugins import resolve

    return resolve(target)
