"""Context managers: what a policy is shown of a long history.

Each is a function ``(messages, budget, count, given=None) -> messages`` without a state: the same
history gives the same view.  It keeps the task, never parts a call from its result, and raises
``ContextOverflow`` where what it promises to keep has no room.
"""

from __future__ import annotations

from .counting import Count, CountMemo, counter, estimate, guard_count
from .history import ContextOverflow
from .managers import CONTEXTS, Context, fold, markov, recency, summary, summary_by
from .references import Record, unfold
from .views import Views

__all__ = [
    "CONTEXTS",
    "Context",
    "ContextOverflow",
    "Count",
    "CountMemo",
    "Record",
    "Views",
    "counter",
    "estimate",
    "fold",
    "guard_count",
    "markov",
    "recency",
    "summary",
    "summary_by",
    "unfold",
]
