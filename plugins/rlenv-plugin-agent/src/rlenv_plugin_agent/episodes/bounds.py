"""Validators of numbers in tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from attrs import Attribute
from rlenv import ConfigError


def between(low: float, high: float, kind: type = int) -> Callable[..., None]:
    """Make a validator: a number in [low, high], or None where that is the default.

    Args:
        low: the least number.
        high: the greatest number.
        kind: int, or float to take both.
    """

    def check(_: object, attribute: Attribute[object], value: object) -> None:
        if value is None and attribute.default is None:
            return
        fits = type(value) in ((int,) if kind is int else (int, float))
        if not fits or not low <= cast("float", value) <= high:
            what = "an integer" if kind is int else "a number"
            raise ConfigError(f"{attribute.name} is {what} in [{low:,}, {high:,}], not {value!r}")

    return check
