"""The budget of one decision, counted in operations so that load never changes a verdict."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rlenv_plugin_math.compare.options import Key, Options
from rlenv_plugin_math.tree import Node

UNITS = 12_000  # one unit is about a microsecond of plain Python
_DEEPEST = 100  # comparisons within comparisons; trees of the parser nest 64 deep at most
_RUNGS = ("text", "structure", "exact", "normal form", "numeric", "symbolic")
_RANK = {name: rank for rank, name in enumerate(_RUNGS)}


class Exhausted(Exception):
    """The budget is spent; nothing is said about equality."""


class Undefined(Exception):
    """An expression has no value at this point, or none that this rung can compute."""


class Case:
    """One decision under way: the key, the options, the budget, and what was learned on the way."""

    __slots__ = ("_key", "_same", "depth", "doubt", "left", "memo", "options", "rung")

    def __init__(
        self, key: Key, options: Options, same: Callable[[Node, Node, Case], bool]
    ) -> None:
        self._same = same
        self._key = key
        self.options = options
        self.left = UNITS
        self.depth = 0
        self.memo: dict[int, tuple[Node, Fraction | None]] = {}  # exact values by node
        self.doubt = False
        self.rung = "text"

    @property
    def key(self) -> bytes:
        """What draws the points; made by the first that asks."""
        if not isinstance(self._key, bytes):
            self._key = self._key()
        return self._key

    def same(self, gold: Node, given: Node) -> bool:
        """Compare two parts under this case: how one shape asks about the shapes within it."""
        self.spend(2)
        if self.depth >= _DEEPEST:
            raise Exhausted
        self.depth += 1
        try:
            return self._same(gold, given, self)
        finally:
            self.depth -= 1

    def spend(self, units: int) -> None:
        """Take ``units`` from the budget; raises Exhausted when it is gone."""
        self.left -= units
        if self.left < 0:
            raise Exhausted

    def reached(self, rung: str) -> None:
        """Note that ``rung`` took part; the highest one names the decision."""
        if _RANK[rung] > _RANK[self.rung]:
            self.rung = rung
