r"""``math/boxed``: does a response end in exactly one ``\boxed{…}``?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from attrs import frozen
from rlenv import Outcome

from .extract.boxes import boxes, is_placeholder

if TYPE_CHECKING:
    from rlenv import Attempt


@frozen
class Boxed:
    """A format gate: 1 when exactly one box with something in it is outside the thinking, else
    0.
    """

    phase: ClassVar[str] = "parse"
    where: ClassVar[str] = "inline"
    deterministic: ClassVar[bool] = True

    def check(self, attempt: Attempt) -> Outcome:
        """1 or 0; the detail says what is missing."""
        text = attempt.visible
        every, is_open = boxes(text, 0, len(text))
        full = [box for box in every if not is_placeholder(box.text)]
        if len(every) == len(full) == 1 and not is_open:
            return attempt.with_hidden(Outcome.passed("one box", boxes=1))
        problem = _problem(len(every), is_open=is_open)
        if not text.strip() and attempt.reading.hidden:
            problem = "the response is thinking alone"
        return attempt.with_hidden(Outcome.failed(problem, boxes=len(every)))


def _problem(every: int, *, is_open: bool) -> str:
    if is_open:
        return "a box is never closed"
    if every > 1:
        return f"there are {every} boxes, not one"
    return "the box is empty" if every else "there is no box"
