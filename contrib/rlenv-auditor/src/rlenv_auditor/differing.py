"""Two scorecards side by side: what is new, what is closed, what moved."""

from __future__ import annotations

import re

from attrs import frozen

from .model import Finding, Scorecard

__all__ = ["Difference", "difference"]


@frozen
class Difference:
    """From one audit to the next."""

    new: tuple[Finding, ...]
    closed: tuple[Finding, ...]
    moved: tuple[str, ...]

    @property
    def worse(self) -> bool:
        return bool(self.new)


def difference(before: Scorecard, after: Scorecard) -> Difference:
    """What changed; a probe that was not run in both tells nothing of what is closed.

    The same variant of a probe on another task is the same hole: a sample of other tasks makes
    nothing new.
    """
    ran = {r.probe for r in before.results if r.rate} & {r.probe for r in after.results if r.rate}
    old, new = ({_hole(one) for one in card.findings} for card in (before, after))
    rates = {r.probe: r.rate for r in before.results}
    moved = []
    for result in after.results:
        earlier = rates.get(result.probe)
        if result.rate and earlier and result.rate != earlier:
            moved.append(f"{result.probe}: {earlier} → {result.rate}")
    return Difference(
        tuple(one for one in after.findings if _hole(one) not in old),
        tuple(one for one in before.findings if one.probe in ran and _hole(one) not in new),
        tuple(moved),
    )


def _hole(one: Finding) -> tuple[str, str]:
    """The probe and what it varied, without how often and at which price; of a search, what it
    found.
    """
    found = one.response if one.family == "optimizer" else ""
    title = re.sub(
        r",? on \d+ of \d+ tasks.*| \(and \d+ more\)| \(\d+ responses\)|; alone in .*|, in \d+"
        r" tries",
        "",
        one.title,
    )
    return (
        one.probe,
        re.sub(r": (paid|reward|hang|crash|error|unscored|type)\b.*", "", title) + found,
    )
