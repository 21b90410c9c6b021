"""Tests plugins: the laws of rewards, strategies for Hypothesis, isolation from other plugins.

``rlenv check NAME`` runs the laws on an installed plugin; ``failing_laws`` runs them on a stage at
hand.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bombs import costly_responses
    from .installed import subjects
    from .isolation import only
    from .rows import read_responses, read_tasks
    from .run import BrokenLaws, broken_laws, failing_laws
    from .strategies import nasty_text, responses, rewrites, tasks, verdicts
    from .subject import Subject

_HOMES = {
    "BrokenLaws": "run",
    "Subject": "subject",
    "broken_laws": "run",
    "costly_responses": "bombs",
    "failing_laws": "run",
    "nasty_text": "strategies",
    "only": "isolation",
    "read_responses": "rows",
    "read_tasks": "rows",
    "responses": "strategies",
    "rewrites": "strategies",
    "subjects": "installed",
    "tasks": "strategies",
    "verdicts": "strategies",
}

__all__ = [
    "BrokenLaws",
    "Subject",
    "broken_laws",
    "costly_responses",
    "failing_laws",
    "nasty_text",
    "only",
    "read_responses",
    "read_tasks",
    "responses",
    "rewrites",
    "subjects",
    "tasks",
    "verdicts",
]


def __getattr__(name: str) -> object:
    """Import on first use: a probe in a fresh process needs neither Hypothesis nor pytest."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
