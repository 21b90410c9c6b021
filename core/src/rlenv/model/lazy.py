"""A property that is made on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - used as functools.cached_property is, which has a lock before Python 3.12
    """A property made on first use; of two threads that make it, the first sets it."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.func = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, obj: object, owner: type | None = None) -> T:
        return cast("T", self if obj is None else vars(obj).setdefault(self._name, self.func(obj)))
