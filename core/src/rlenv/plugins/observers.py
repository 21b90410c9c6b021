"""Observers: plugins that watch verdicts in the caller's process and can change none."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from rlenv.engine.checks import place_of
from rlenv.hooks import EnvironmentView
from rlenv.model.values import StageResult, Task, Verdict

from .contract import hook_of
from .registry import OBSERVERS

log = logging.getLogger("rlenv")
log.addHandler(logging.NullHandler())


class Observers:
    """The observing hooks of these plugins; one that raises silences no other."""

    def __init__(self, plugins: Sequence[object]) -> None:
        self._hooks = [[hook_of(p, n) or (lambda **_: None) for n in OBSERVERS] for p in plugins]

    def tell(self, env: EnvironmentView, task: Task, response: str, verdict: Verdict) -> None:
        """Report every stage's result, then the verdict."""
        for stage_finished, finished in self._hooks:
            try:
                for result in _all(verdict.results):
                    stage_finished(env=env, task=task, result=result)
                finished(env=env, task=task, response=response, verdict=verdict)
            except Exception as err:  # noqa: BLE001 - its text may hold an answer, so it is not logged
                said = f"{type(err).__name__}{place_of(err)}"
                log.error("an observer of %s raised %s; the verdict stands", env.name, said)


def _all(results: Sequence[StageResult]) -> Iterator[StageResult]:
    """Every result, children before their parent."""
    for result in results:
        yield from _all(result.children)
        yield result
