"""Two scorecards side by side: what is new, what is closed, what moved."""

from __future__ import annotations

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
    """What changed; a probe that was not run in both tells nothing."""
    ran = {r.probe for r in before.results if r.rate} & {r.probe for r in after.results if r.rate}
    old = {f.id: f for f in before.findings if f.probe in ran}
    new = {f.id: f for f in after.findings}
    rates = {r.probe: r.rate for r in before.results}
    moved = []
    for result in after.results:
        earlier = rates.get(result.probe)
        if (
            result.rate
            and earlier
            and (result.rate.hits, result.rate.trials) != (earlier.hits, earlier.trials)
        ):
            moved.append(f"{result.probe}: {earlier} → {result.rate}")
    return Difference(
        tuple(f for f in after.findings if f.id not in {g.id for g in before.findings}),
        tuple(f for number, f in old.items() if number not in new),
        tuple(moved),
    )
