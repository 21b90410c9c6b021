"""rlenv: verifiers as plugins.

>>> from rlenv import Environment, Slot, Task
>>> env = Environment.from_dict({"name": "sums", "stage": [{"use": "core/equal"}]})
>>> env.verify(Task("What is 1 + 1?", answer="2"), "2")
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compose.composites import AllOf, AnyOf, Composite, First, Pipeline, Product, Quorum, Slot
from .compose.stages import Attempt, GroupStage, Stage, stage
from .environment import Environment, RowExecutor
from .model.errors import (
    ConfigError,
    InputError,
    PluginError,
    RlenvError,
    TaskError,
    UnknownTask,
    VerifierFault,
    WorkExceeded,
)
from .model.values import Fault, Outcome, ScoreError, StageResult, Task, Tokens, Trajectory, Verdict

if TYPE_CHECKING:
    from .hooks import Attack, Examples, Rewrite, hookimpl

__version__ = "0.1.0"

__all__ = [
    "AllOf", "AnyOf", "Attack", "Attempt", "Composite", "ConfigError", "Environment", "Examples",
    "Fault", "First", "GroupStage", "InputError", "Outcome", "Pipeline", "PluginError", "Product",
    "Quorum", "Rewrite", "RlenvError", "RowExecutor", "ScoreError", "Slot", "Stage", "StageResult",
    "Task", "TaskError", "Tokens", "Trajectory", "UnknownTask", "Verdict", "VerifierFault",
    "WorkExceeded", "hookimpl", "stage",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in ("Attack", "Examples", "Rewrite", "hookimpl"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import hooks  # and pluggy, which plugins need, and not every user of a reward

    return getattr(hooks, name)
