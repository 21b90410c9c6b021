"""Observers: plugins that watch verdicts in the caller's process and can change none."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .engine import place_of
from .values import StageResult, Task, Verdict

if TYPE_CHECKING:
    from .environment import Environment

log = logging.getLogger("rlenv")
log.addHandler(logging.NullHandler())


class Observers:
    """Each observer behind a plugin manager of its own, so that one that raises silences no other."""

    def __init__(self, plugins: Sequence[object]) -> None:
        from pluggy import PluginManager

        from . import hooks

        self._managers: list[Any] = []
        for plugin in plugins:
            manager = PluginManager("rlenv")
            manager.add_hookspecs(hooks)
            manager.register(plugin)
            self._managers.append(manager)

    def tell(self, env: Environment, task: Task, response: str, verdict: Verdict) -> None:
        """Report every stage's result, then the verdict."""
        for manager in self._managers:
            try:
                _tell_stages(manager.hook, env, task, verdict.results)
                manager.hook.rlenv_verdict(env=env, task=task, response=response, verdict=verdict)
            except Exception as err:  # noqa: BLE001 - its text may hold an answer, so it is not logged
                said = f"{type(err).__name__}{place_of(err)}"
                log.error("an observer of %s raised %s; the verdict stands", env.name, said)


def _tell_stages(hook: Any, env: Environment, task: Task, results: Sequence[StageResult]) -> None:
    for result in results:
        _tell_stages(hook, env, task, result.children)
        hook.rlenv_stage_finished(env=env, task=task, result=result)
