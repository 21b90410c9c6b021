"""All probes: those of this package, and those that plugins bring as parts of port ``probe``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

from rlenv.model.errors import PluginError, RlenvError

from .probes import (
    answers,
    baselines,
    cost,
    determinism,
    episodes,
    executed,
    exploits,
    files,
    gold,
    judges,
    meaning,
    mutation,
    opinion,
    robustness,
    secrecy,
    seeds,
)
from .probes.base import Probe
from .search import optimizer

__all__ = ["probes"]

# The cheap and telling ones first: a budget that ends early has asked them.  Those of determinism
# start a dozen processes, and
# a stranger's package may take seconds to import.
OWN = (
    *gold.PROBES,
    *answers.PROBES,
    *baselines.PROBES,
    *mutation.PROBES,
    *secrecy.PROBES,
    *seeds.PROBES,
    *meaning.PROBES,
    *opinion.PROBES,
    *judges.PROBES,
    *episodes.PROBES,
    *executed.PROBES,
    *exploits.PROBES,
    *robustness.PROBES,
    *optimizer.PROBES,
    *baselines.LATE,
    *opinion.LATE,
    *cost.PROBES,
    *determinism.PROBES,
    *files.PROBES,
)


def probes(only: Sequence[str] = ()) -> tuple[Probe, ...]:
    """Every probe that is installed: of distributions that require rlenv-auditor, and of plugins
    that ``only`` names.

    No other plugin is loaded.

    Raises:
        PluginError: a plugin's probe cannot be loaded.
    """
    from rlenv.plugins.registry import registry

    found = list(OWN)
    known = registry()
    asked = {name.partition(".")[0] for name in only}
    for info in known.infos():
        if info.name not in asked and not _requires_audit(info.distribution):
            continue
        try:
            supplied = known.supplied(info.name, "rlenv_parts")
        except RlenvError:
            if info.name in asked:
                raise
            continue
        for short in supplied.get("probe", {}):
            part = known.parts("probe", f"{info.name}/{short}")
            found += _probes(part, f"{info.name}/{short}")
    return tuple(found)


def _requires_audit(distribution: str) -> bool:
    try:
        needs = requires(distribution) or ()
    except PackageNotFoundError:  # two claim the name, or core itself is not installed
        return False
    return any(re.match(r"rlenv[-_.]+auditor(?![\w.-])", need, re.I) for need in needs)


def _probes(part: Any, name: str) -> list[Probe]:
    """What a plugin calls a probe: one, several, or a function of this package that makes them."""
    if not isinstance(part, Probe) and callable(part):
        part = part(import_module("rlenv_auditor"))
    several = list(part) if isinstance(part, (list, tuple)) else [part]
    for one in several:
        if not isinstance(one, Probe):
            raise PluginError(
                f"the probe {name} is a {type(one).__name__}, and no rlenv_auditor.Probe"
            )
    return several
