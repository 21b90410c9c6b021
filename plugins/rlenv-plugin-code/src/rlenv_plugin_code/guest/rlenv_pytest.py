"""As much of pytest as assertions need: ``raises`` and ``approx``."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["approx", "fail", "raises"]


class raises:  # noqa: N801 - pytest's name
    """``with raises(ValueError, match="...") as info``, or ``raises(ValueError, function,
    *args)``.
    """

    def __new__(cls, expected: Any, *call: Any, match: Any = None, **kwargs: Any) -> Any:
        self = object.__new__(cls)
        self._expected = expected
        self._match = match
        self.value = None
        if not call:
            return self
        with self:
            call[0](*call[1:], **kwargs)
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: object, err: object, trace: object) -> bool:
        if err is None:
            raise AssertionError("nothing was raised")
        if not isinstance(err, self._expected):
            return False
        self.value = err
        self.type = kind
        if self._match is not None and not re.search(self._match, str(err)):
            raise AssertionError("the message does not match")
        return True


def fail(reason: Any = "") -> None:
    raise AssertionError(reason)


class approx:  # noqa: N801 - pytest's name
    """Equal within the larger of a relative (1e-6) and an absolute (1e-12) tolerance."""

    def __init__(self, expected: Any, rel: Any = None, abs: Any = None) -> None:  # noqa: A002 - pytest's word
        self._expected = expected
        self._rel = rel
        self._abs = abs

    def __eq__(self, got: object) -> Any:
        return self._near(got, self._expected)

    __hash__ = None

    def _near(self, got: Any, wanted: Any) -> Any:
        if isinstance(wanted, dict):
            same = isinstance(got, dict) and got.keys() == wanted.keys()
            return same and all(self._near(got[key], wanted[key]) for key in wanted)
        if isinstance(wanted, (list, tuple)):
            same = type(got) is type(wanted) and len(got) == len(wanted)
            return same and all(map(self._near, got, wanted))
        if not isinstance(wanted, (int, float, complex)) or isinstance(wanted, bool):
            return bool(got == wanted)
        if not isinstance(got, (int, float, complex)) or isinstance(got, bool):
            return False
        return got == wanted or abs(got - wanted) <= self._tolerance(wanted)

    def _tolerance(self, wanted: Any) -> Any:
        if wanted in (float("inf"), float("-inf")):
            return -1
        absolute = 1e-12 if self._abs is None else self._abs
        if self._abs is not None and self._rel is None:
            return absolute
        return max(absolute, (1e-6 if self._rel is None else self._rel) * abs(wanted))
