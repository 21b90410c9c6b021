"""A batch in which equal rows are verified once, and rows with a known verdict are not verified at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from attrs import define, field
from rlenv import Verdict

from rlenv_train.mixing.group import Row

from .metrics import Origin

Judge: TypeAlias = Callable[[Iterator[Row]], Iterator[tuple[int, Verdict]]]
Given: TypeAlias = tuple[int, Verdict, Origin]

HELD = 8192  # verdicts that wait until the stages give one, and keys that are remembered


@define(eq=False)
class Stream:
    """One batch on its way.

    Args:
        judge: (place, verdict) pairs of rows, as they come.
        key: of a row; None where its verdict is good for no other row.
        find: the verdict under a key that is known from before.
        keep: told each new verdict with its key.
    """

    judge: Judge
    key: Callable[[Row], bytes | None]
    find: Callable[[bytes], Verdict | None]
    keep: Callable[[bytes, Verdict], None]
    _ready: list[Given] = field(factory=list, init=False)
    _again: list[tuple[int, Row]] = field(factory=list, init=False)
    _flying: dict[int, tuple[int, bytes | None]] = field(factory=dict, init=False)
    _equal: dict[bytes, list[tuple[int, Row]]] = field(factory=dict, init=False)
    _judged: dict[bytes, Verdict] = field(factory=dict, init=False)
    _ended: bool = field(default=False, init=False)

    def verdicts(self, rows: Iterable[Row]) -> Iterator[Given]:
        """(index of the row, verdict, where it comes from), each as soon as it is known."""
        numbered = enumerate(rows)
        more = True
        while more:
            fresh = self._fresh(numbered)
            for place, verdict in self.judge(fresh):
                yield from self._done(*self._flying.pop(place), verdict)
                yield from self._handed_out()
            yield from self._handed_out()
            more = bool(self._again) or not self._ended

    def _fresh(self, numbered: Iterator[tuple[int, Row]]) -> Iterator[Row]:
        """Rows that must be verified; the others are noted on the way."""
        place = 0
        while len(self._ready) < HELD:
            if self._again:
                (index, row), key = self._again.pop(), None
            elif (found := next(numbered, None)) is None:
                self._ended = True
                return
            else:
                index, row = found
                key = self.key(row)
                if key is not None and self._is_known(index, row, key):
                    continue
            self._flying[place] = index, key
            place += 1
            yield row

    def _is_known(self, index: int, row: Row, key: bytes) -> bool:
        """Whether the verdict is there, or will be that of an equal row."""
        if key in self._equal:
            self._equal[key].append((index, row))
        elif (verdict := self._judged.get(key)) is not None:
            self._ready.append((index, verdict, "repeated"))
        elif (verdict := self.find(key)) is not None:
            self._ready.append((index, verdict, "cached"))
        else:
            self._equal[key] = []
            return False
        return True

    def _done(self, index: int, key: bytes | None, verdict: Verdict) -> Iterator[Given]:
        yield index, verdict, "verified"
        if key is None:
            return
        equal = self._equal.pop(key)
        if (
            verdict.value is None
        ):  # it may be no fault of the response: each of the others gets its own chance
            self._again += equal
            return
        self.keep(key, verdict)
        if len(self._judged) >= HELD:
            self._judged.clear()
        self._judged[key] = verdict
        yield from ((other, verdict, "repeated") for other, _ in equal)

    def _handed_out(self) -> Iterator[Given]:
        while self._ready:
            yield self._ready.pop()
