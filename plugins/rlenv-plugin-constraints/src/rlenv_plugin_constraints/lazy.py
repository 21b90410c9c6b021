"""Properties that are made once."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar, overload

T = TypeVar("T")


class lazy(cached_property[T]):  # noqa: N801 - used as functools.cached_property is
    """A property made on first use.

    ``functools.cached_property`` takes a lock before Python 3.12, which a child forked meanwhile
    finds closed for good.  This one takes none, and is still no setting to a fingerprint.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> lazy[T] | T:
        """Make the value, unless an object has it; of two threads that do, the first sets it."""
        if instance is None or self.attrname is None:
            return self
        made: T = vars(instance).setdefault(self.attrname, self.func(instance))
        return made
