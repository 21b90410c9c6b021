"""rlenv: verifiers as plugins.

>>> from rlenv import Environment, Slot, Task
>>> env = Environment.from_dict({"name": "sums", "stage": [{"use": "core/equal"}]})
>>> env.verify(Task("What is 1 + 1?", answer="2"), "2")
1.0
"""

from __future__ import annotations

from importlib import import_module
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
    from .compose.equal import Equal
    from .hooks import Attack, Examples, Rewrite, hookimpl

__version__ = "0.1.0"

__all__ = [
    "AllOf", "AnyOf", "Attack", "Attempt", "Composite", "ConfigError", "Environment", "Equal",
    "Examples", "Fault", "First", "GroupStage", "InputError", "Outcome", "Pipeline", "PluginError",
    "Product", "Quorum", "Rewrite", "RlenvError", "RowExecutor", "ScoreError", "Slot", "Stage",
    "StageResult", "Task", "TaskError", "Tokens", "Trajectory", "UnknownTask", "Verdict",
    "VerifierFault", "WorkExceeded", "hookimpl", "stage",
]  # fmt: skip


# Imported on first use: hooks load pluggy, which plugins need, and not every user of a reward.
_HOMES = {
    "Attack": "rlenv.hooks",
    "Equal": "rlenv.compose.equal",
    "Examples": "rlenv.hooks",
    "Rewrite": "rlenv.hooks",
    "hookimpl": "rlenv.hooks",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
