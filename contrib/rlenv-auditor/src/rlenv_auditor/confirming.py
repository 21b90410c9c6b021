"""Every finding is asked once more in a fresh process: what is paid there too replays, what is not
says so.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from attrs import evolve
from rlenv.model.errors import ConfigError

from .bench import Bench, OutOfBudget
from .model import Finding, Result
from .replaying import asked, moved
from .target.process import Target

__all__ = ["confirmed"]

GRACE_S = 10.0  # beyond the budget: a finding that was not asked again is still a finding


def confirmed(bench: Bench, results: Sequence[Result]) -> tuple[Result, ...]:
    """The same results; findings that have a reward know whether they replay to it
    (``more["replays"]``).
    """
    until = bench.target.until = max(bench.deadline, time.monotonic() + GRACE_S)
    steady = not any(r.findings for r in results if r.measure == "nondet")
    paid = [f for r in results for f in r.findings if f.reward is not None and f.task]
    same = _together(bench, [f for f in paid if not f.more.get("under")]) if steady else set()
    known = {one.id: one.id in same or _alone(bench, one, until) for one in paid}
    return tuple(
        evolve(result, findings=tuple(_marked(one, known) for one in result.findings))
        for result in results
    )


def _together(bench: Bench, found: Sequence[Finding]) -> set[str]:
    """In one process, which is enough where a reward does not depend on what was asked before."""
    if not found:
        return set()
    tasks = {str(task.id): task for task in bench.tasks}
    with suppress(ConfigError, OutOfBudget), bench.target.twin() as twin:
        replies = twin.score([(tasks[one.task], one.response) for one in found])
        return {
            one.id for one, reply in zip(found, replies, strict=True) if _same(one, reply.reward)
        }
    return set()


def _alone(bench: Bench, one: Finding, until: float) -> bool | None:
    """In a process of its own; None where there is no time left for it."""
    if time.monotonic() > until:
        return None
    under = one.more.get("under", {})
    with (
        suppress(ConfigError, OutOfBudget),
        moved(bench.target.spec, under) as spec,
        Target(spec, bench.target.patience, bench.target.loading) as held,
    ):
        return _same(one, asked(held, one.task, one.response, under).reward)
    return False


def _same(one: Finding, reward: float | None) -> bool:
    return repr(reward) == repr(one.reward)  # so that NaN is NaN


def _marked(one: Finding, known: Mapping[str, bool | None]) -> Finding:
    replays = known.get(one.id)
    if replays is None:
        return one
    title = (
        one.title if replays else f"{one.title}; alone in a fresh process it gets another reward"
    )
    return evolve(one, title=title, more={**one.more, "replays": replays})
