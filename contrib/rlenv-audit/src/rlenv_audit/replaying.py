"""A finding again: the same response to the same task, in a fresh process."""

from __future__ import annotations

from rlenv.errors import ConfigError
from rlenv.near import suggest

from .model import Finding, Reply, Scorecard
from .target.process import Spec, Target

__all__ = ["find", "replayed"]


def replayed(
    target: str,
    task: str,
    response: str,
    *,
    signature: str = "",
    tasks_from: str = "",
    seed: int = 0,
    patience: float = 10.0,
) -> Reply:
    """What a target says of one response now.

    Raises:
        ConfigError: the target cannot be loaded, or has no such task.
    """
    with Target(Spec(target, signature, tasks_from, seed), patience) as held:
        known = {str(one.id): one for one in held.tasks}
        if task not in known:
            raise ConfigError(
                f"{target} has no task {task!r}; {suggest(task, known, what='it has')}"
            )
        return held.ask(known[task], response)


def find(card: Scorecard, number: str) -> Finding:
    """The finding of this id, or of a part of one that only it has.

    Raises:
        ConfigError: none, or several.
    """
    found = [finding for finding in card.findings if number in finding.id]
    exact = [finding for finding in found if finding.id == number]
    if len(found) != 1 and not exact:
        ids = [finding.id for finding in card.findings]
        hint = suggest(number, ids, what="there are") if ids else "it has no findings"
        raise ConfigError(
            f"--replay {number}: {'several have it' if found else 'no such finding'}; {hint}"
        )
    return (exact or found)[0]
