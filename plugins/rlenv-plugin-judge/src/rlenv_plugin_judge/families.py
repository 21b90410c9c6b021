"""Who made a model, from what people write for it: ``Qwen/Qwen2.5-7B-Instruct`` and ``qwen`` are
one family.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

__all__ = ["count", "families"]

_TABLE = tomllib.loads((Path(__file__).parent / "makers.toml").read_text("utf-8"))
_WORD = re.compile(r"[a-z]+|[0-9]+|/")


def families(given: str, model: str = "") -> frozenset[str]:
    """The makers of a model; empty where they are unknown.

    Args:
        given: what somebody calls the family; a name in no list is a family of its own, without its
            version.
        model: the model's name, which tells it where nothing is given.
    """
    words = _WORD.findall((given.strip() or model).casefold())
    name = f"/ {' '.join(words)} "
    known = frozenset(m for m, of in _TABLE.items() if any(w in name for w in (f" {m} ", *of)))
    return known or frozenset(["".join(filter(str.isalpha, words))] if given.strip() else [])


def count(found: Iterable[frozenset[str]]) -> int:
    """How many of these models, or groups of them, have no maker in common.

    Unknown ones do not count.
    """
    groups: list[frozenset[str]] = []
    for each in filter(None, found):
        joined = [group for group in groups if group & each]
        groups = [group for group in groups if not group & each] + [each.union(*joined)]
    return len(groups)
