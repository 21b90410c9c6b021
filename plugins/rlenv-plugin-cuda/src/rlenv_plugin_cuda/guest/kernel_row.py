"""A part of an array under its first indices: ``row = x[i]``, of which ``row[j]`` is ``x[i, j]``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Row"]


class Row:
    """Holds no element of its own: each access is one of the whole array, and is checked there."""

    __slots__ = ("dtype", "first", "name", "ndim", "of", "shape", "size")

    def __init__(self, of: Any, first: tuple[Any, ...]) -> None:
        self.of, self.first = of, first
        self.name, self.dtype = of.name, of.dtype
        self.shape = of.shape[len(first) :]
        self.ndim = len(self.shape)
        self.size = 1
        for extent in self.shape:
            self.size *= extent

    def whole(self, index: Any) -> tuple[Any, ...]:
        """The index within the array."""
        return (*self.first, *(index if index.__class__ is tuple else (index,)))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, index: Any) -> Any:
        return self.of[self.whole(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.of[self.whole(index)] = value

    def __bool__(self) -> bool:
        return bool(self.of)

    def change(self, index: Any, value: Any, how: Any) -> Any:
        """As an array's own."""
        return self.of.change(self.whole(index), value, how)
