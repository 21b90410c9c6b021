"""``frozen`` for values that are made by the dozen per answer: held so by the type checker alone.

A guard at run time costs half of what making one costs; equality, hash and text are those of attrs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["frozen"]

if TYPE_CHECKING:
    from attrs import frozen
else:
    from attrs import define

    def frozen(kind: Any = None, *, eq: bool = True, repr: bool = True) -> Any:  # noqa: A002 - the names of attrs
        """A slotted class of values that nothing may change."""
        if kind is None:
            return lambda kind: frozen(kind, eq=eq, repr=repr)
        return define(kind, eq=eq, repr=repr, unsafe_hash=True if eq else None)
