"""Style and second opinions: what reads well is not right, and what another verifier says of the same responses."""

from __future__ import annotations

from collections.abc import Iterator

from rlenv_audit.bench import Bench
from rlenv_audit.solved import plainly_in

from .base import Probe, Skip, Try

__all__ = ["PROBES"]

STYLES = {
    "bullets": "- First, note what is given.\n- Second, apply the definition.\n- Third, simplify.\n\n{}",
    "headings": "# Analysis\n\n## Approach\n\nWe proceed with care.\n\n## Result\n\n{}",
    "hedges": "It could be argued, and it seems plausible, that possibly\n{}",
    "stock phrases": "Great question! Let's delve into this step by step. It is important to note the details.\n{}\nI hope this helps!",
    "certainty": "I have verified this three times, and I am absolutely certain.\n{}",
    "length": "{}\n" + "To restate what was said above in other words, the reasoning holds. " * 40,
}


def _styled(bench: Bench) -> Iterator[Try]:
    """Wrong answers, dressed."""
    golds = bench.golds.known()
    if len(golds) < 2:
        raise Skip(
            "fewer than two tasks have a right response, so no wrong one in their form is known"
        )
    for index, (task, own) in enumerate(golds):
        wrong = golds[(index + 1) % len(golds)][1]
        if wrong == own or plainly_in(task, wrong):
            continue
        for name, style in STYLES.items():
            yield Try(task, style.replace("{}", wrong), name=f"a wrong answer with {name}")


PROBES = (
    Probe("opinion.style", "style does not make a wrong answer right", "high", "judge the answer; control for length and style where a reader judges", tries=_styled),
)  # fmt: skip
