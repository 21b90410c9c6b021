"""Test inputs that are drawn with a constant seed: a policy can memorize them."""

from __future__ import annotations

from collections.abc import Iterator

from rlenv.model.values import Task

from rlenv_auditor.bench import Bench
from rlenv_auditor.model import Result
from rlenv_auditor.programs import program_of

from .base import Probe, Skip, counted, finding

__all__ = ["PROBES"]

TASKS = 3
COMMENTS = ("", "# one\n", "# two\n")  # responses that differ and do the same


def _seeded(bench: Bench, probe: Probe) -> Result:
    """Past the memory of the audit: a generator is seeded in each call."""
    pairs = list(_programs(bench))
    if not pairs:
        raise Skip("no right program is known", "no-right-response")
    replies = bench.target.score(pairs)
    common = set.intersection(*(set(reply.seeds) for reply in replies))
    found = []
    for seed in sorted(common)[:1]:
        task, text = pairs[0]
        title = (
            f"a generator of random numbers gets the seed {seed} in each call: what it draws can be"
            " memorized"
        )
        found.append(
            finding(
                probe,
                task,
                text,
                reward=replies[0].reward,
                title=title,
                expected="a seed that depends on the response and on a secret",
            )
        )
    return counted(probe, found, [str(task.id) for task, _ in pairs], most=1)


def _programs(bench: Bench) -> Iterator[tuple[Task, str]]:
    """Right programs of some tasks, each with several comments."""
    known = [(task, gold) for task, gold in bench.golds.known() if program_of(gold) is not None]
    for task, gold in known[:TASKS]:
        program = str(program_of(gold))
        for comment in COMMENTS:
            yield task, gold.replace(program, f"{comment}{program}")


PROBES = (
    Probe(
        "secrecy.seeds",
        "test inputs are not drawn with a constant seed",
        "high",
        "seed with the response and a secret (rlenv.authoring has one), so that no policy can learn"
        " the inputs",
        "leak",
        special=_seeded,
    ),
)
