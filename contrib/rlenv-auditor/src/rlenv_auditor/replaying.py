"""A finding again: the same response to the same task, in a fresh process, under what made it
differ.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attrs import evolve
from rlenv.model.errors import ConfigError
from rlenv.model.messages import suggest

from .model import Finding, Reply, Scorecard
from .target.process import Spec, Target, placed
from .target.wire import task_from

__all__ = ["asked", "find", "moved", "replayed"]


def replayed(
    target: str,
    task: str,
    response: str,
    *,
    signature: str = "",
    tasks_from: str = "",
    seed: int = 0,
    patience: float | None = None,
    under: Mapping[str, Any] | None = None,
    python: str = "",
) -> Reply:
    """What a target says of one response now.

    Args:
        under: what a finding has as ``more["under"]``: ``environ``, ``elsewhere`` (another working
            directory), ``before`` (pairs of task id and response that are asked first) and ``how``
            ("threads").
        python: the interpreter that runs the target; "": this one.

    Raises:
        ConfigError: the target cannot be loaded, or has no such task.
    """
    spec = Spec(placed(target), signature, placed(tasks_from), seed, python=placed(python))
    with moved(spec, under or {}) as there, Target(there, patience) as held:
        return asked(held, task, response, under or {})


def asked(held: Target, task: str, response: str, under: Mapping[str, Any]) -> Reply:
    """The reply to one response of this target, after those that come before it.

    Raises:
        ConfigError: it has no such task.
    """
    known = {str(one.id): one for one in held.tasks}
    before = [tuple(pair) for pair in under.get("before", ())]
    for name in [task, *(name for name, _ in before)]:
        if name not in known:
            raise ConfigError(
                f"{held.spec.target} has no task {name!r}; {suggest(name, known, what='it has')}"
            )
    own = task_from(under["task"]) if "task" in under else known[task]  # one that a probe planted
    pairs = [*((known[name], text) for name, text in before), (own, response)]
    return held.score(pairs, under.get("how", "alone"))[-1]


@contextmanager
def moved(spec: Spec, under: Mapping[str, Any]) -> Iterator[Spec]:
    """The same target in the environment and the folder that a finding needs."""
    environ = dict(under.get("environ", {}))
    if not under.get("elsewhere"):
        yield evolve(spec, environ={**spec.environ, **environ})
        return
    path = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH", ""))))
    with tempfile.TemporaryDirectory(prefix="rlenv-auditor-") as folder:
        yield evolve(spec, environ={**spec.environ, **environ, "PYTHONPATH": path}, cwd=folder)


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
