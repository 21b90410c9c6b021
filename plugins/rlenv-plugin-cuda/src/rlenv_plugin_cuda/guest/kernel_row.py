"""A part of an array under its first indices: ``row = x[i]``, of which ``row[j]`` is ``x[i,
j]``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Index: TypeAlias = Any  # whatever a program gives: each access looks
    Number: TypeAlias = Any  # likewise

__all__ = ["Row"]


class Row:
    """Holds no element of its own: each access is one of the whole array, and is checked there."""

    __slots__ = ("dtype", "first", "name", "ndim", "of", "shape", "size")

    def __init__(self, of: Any, first: tuple[Index, ...]) -> None:
        self.of = of
        self.first = first
        self.name = of.name
        self.dtype = of.dtype
        self.shape = of.shape[len(first) :]
        self.ndim = len(self.shape)
        self.size = 1
        for extent in self.shape:
            self.size *= extent

    def whole(self, index: Index) -> tuple[Index, ...]:
        """The index within the array."""
        return (*self.first, *(index if index.__class__ is tuple else (index,)))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, index: Index) -> Number:
        return self.of[self.whole(index)]

    def __setitem__(self, index: Index, value: Number) -> None:
        self.of[self.whole(index)] = value

    def __bool__(self) -> bool:
        return bool(self.of)

    def change(
        self, index: Index, value: Number, how: Callable[[Number, Number], Number]
    ) -> Number:
        """As an array's own."""
        return self.of.change(self.whole(index), value, how)
