"""The verdicts of the published checkers of IFEval and IFBench, faults included, in our own
words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from rlenv_plugin_constraints.ids import parameters

__all__ = ["verdict"]

_Check = Callable[[str, Mapping[str, Any]], bool]


@lru_cache(maxsize=1)
def _checks() -> Mapping[str, _Check]:
    from . import ifeval, letters, places, shapes, tables

    return {**ifeval.CHECKS, **letters.CHECKS, **places.CHECKS, **shapes.CHECKS, **tables.CHECKS}


def verdict(instruction_id: str, kwargs: Mapping[str, Any], response: str) -> bool:
    """Whether the published checker says that the response follows an instruction.

    Where the published code draws at random, fails or needs a model, this does what ``docs`` say:
    no parameter is drawn, an exception is False, a language that cannot be told is followed.

    Args:
        instruction_id: of IFEval or IFBench.
        kwargs: its parameters; those that are null do not count.
        response: not blank; the published evaluation fails blank ones before it asks.

    Raises:
        ConfigError: for an unknown id, and for parameters that are missing or wrong.
    """
    given = parameters(instruction_id, kwargs)
    return _checks()[instruction_id](response, given)
