"""The finding of a constraint that does not hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlenv_plugin_constraints.constraint import Finding, Span

__all__ = ["unmet"]


def unmet(
    measured: Any = None, wanted: Any = None, spans: Iterable[Span] = (), note: str = ""
) -> Finding:
    """A finding that is not satisfied.

    A note that begins with "undecided" says that a budget ran out.
    """
    undecided = note.startswith("undecided")
    return Finding(False, measured, wanted, spans, note, undecided=undecided)  # noqa: FBT003
