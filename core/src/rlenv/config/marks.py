"""Marks of options: what a stranger's env.toml may set.  ``safety`` says what holds without one."""

from __future__ import annotations

from typing import Annotated, TypeVar, get_origin

from attrs import frozen

T = TypeVar("T")
KEY = "safe"  # of the metadata of a field


@frozen
class Mark:
    """Says whether an option may be set where an env.toml is loaded with ``code=False``.

    Args:
        safe: True where no value of it reaches outside; False where one does; a tuple of the values
            that do not.
    """

    safe: bool | tuple[object, ...]


Safe = Annotated[T, Mark(safe=True)]
"""``label: Safe[str] = ""`` declares an option of which no value reaches outside.

It names no host, file, environment variable, module or program, selects no weaker isolation, and is
not put into a place that takes one of these.  The metadata ``{"safe": True}`` of a field says the
same.
"""

Unsafe = Annotated[T, Mark(safe=False)]
"""``trust: Unsafe[bool] = False`` declares an option that reaches outside.

Its type cannot tell.  The metadata ``{"safe": False}`` of a field says the same, and
``{"safe": ("jail",)}`` allows certain values.
"""


def split_mark(kind: object) -> tuple[object, Mark | None]:
    """A type without ``Annotated`` around it, and the mark that is there."""
    mark = None
    while get_origin(kind) is Annotated:
        found = [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Mark)]
        mark = found[-1] if found else mark
        kind = getattr(kind, "__origin__", None)
    return kind, mark
