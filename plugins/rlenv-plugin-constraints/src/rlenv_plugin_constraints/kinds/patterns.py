"""A regular expression, with a limit of the time that a response can make it take."""

from __future__ import annotations

from itertools import islice
from typing import Any, ClassVar, Literal

import regex  # type: ignore[import-untyped]
from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, in_order
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["Regex"]

_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL, "x": regex.VERBOSE}
MATCHES = 100_000  # more are not counted


def _flags(_: Any, __: Any, value: str) -> None:
    if odd := sorted(set(value) - set(_FLAGS)):
        raise ConfigError(f"flags are letters of {''.join(_FLAGS)!r}, and {odd[0]!r} is none")


def _seconds(_: Any, __: Any, value: float) -> None:
    if not 0 < value <= 5:
        raise ConfigError("seconds lie above 0 and up to 5")


@frozen(slots=False)
class Regex:
    r"""The response, or a part of it, matches ``pattern`` (syntax of the ``regex`` module).

    A response that makes the pattern take more than ``seconds`` of CPU does not satisfy it:
    undecided.

    Args:
        pattern: matched against the response as it is written; no normalization.
        match: "search" wants it anywhere, "full" is for all of the response but space at its ends,
            "count" counts the matches that do not overlap and are not empty.
        min, max: of "count"; without both, one at least.
        flags: letters of "imsx", as in ``(?imsx)``.
        seconds: CPU seconds.
    """

    kind: ClassVar[str] = "regex"
    pattern: Safe[str]
    match: Literal["search", "full", "count"] = "search"
    min: int | None = None
    max: int | None = None
    flags: Safe[str] = field(default="", validator=_flags)
    seconds: float = field(default=0.5, validator=_seconds)

    def __attrs_post_init__(self) -> None:
        try:
            _ = self._compiled
        except (regex.error, ValueError, OverflowError, RecursionError) as err:
            raise ConfigError(f"pattern {self.pattern!r:.200} does not compile: {err}") from None
        if not self.pattern:
            raise ConfigError("the pattern is empty, and matches every response")
        if self.match != "count" and (self.min is not None or self.max is not None):
            raise ConfigError('min and max need match = "count"')
        if self.min is not None or self.max is not None:
            in_order("min", "max", self.min, self.max)

    @lazy
    def _compiled(self) -> Any:
        flags = 0
        for letter in self.flags:
            flags |= _FLAGS[letter]
        return regex.compile(self.pattern, flags | regex.VERSION0)

    def check(self, text: Text) -> Finding:
        try:
            return self._counted(text) if self.match == "count" else self._once(text)
        except (TimeoutError, MemoryError, RecursionError):
            note = f"undecided: the pattern took longer than {self.seconds} s"
            return unmet(None, {"pattern": self.pattern}, note=note)

    def _once(self, text: Text) -> Finding:
        raw = text.raw
        if self.match == "full":
            begin = len(raw) - len(raw.lstrip())
            end = len(raw.rstrip())
            found = self._compiled.fullmatch(raw, begin, max(begin, end), timeout=self.seconds)
        else:
            found = self._compiled.search(raw, timeout=self.seconds)
        spans = [] if found is None else [found.span()]
        return Finding(found is not None, len(spans), {"pattern": self.pattern}, spans)

    def _counted(self, text: Text) -> Finding:
        found = self._compiled.finditer(text.raw, timeout=self.seconds)
        spans = [m.span() for m in islice(found, MATCHES) if m.end() > m.start()]
        least = self.min
        if least is None:
            least = 1 if self.max is None else 0
        fits = len(spans) >= least and (self.max is None or len(spans) <= self.max)
        wanted = {"pattern": self.pattern, "min": least, "max": self.max}
        return Finding(fits, len(spans), wanted, spans[:50])
