"""What a stage says that the prompt tells too is no secret; all else of a task is one."""

from __future__ import annotations

from rlenv.model.values import Task
from rlenv_testing.laws.test_secrecy import _untold, secrets


def test_only_what_the_stage_names_is_no_secret() -> None:
    task = Task("q", answer="gold", info={"constraints": ["no comma"], "tests": ["hidden"]})
    assert list(secrets(_untold(task, ()), "")) == ["gold", "no comma", "hidden"]
    assert list(secrets(_untold(task, ("info.constraints",)), "")) == ["gold", "hidden"]
    assert list(secrets(_untold(task, ("answer", "prompt")), "")) == ["gold", "no comma", "hidden"]
