"""``core/equal``: exact match, with the normalizations that its options declare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from math import isfinite
from typing import ClassVar
from unicodedata import category, normalize

from attrs import field, frozen

from rlenv.model.errors import TaskError
from rlenv.model.values import Outcome, Task

from .stages import Attempt

_MATCH = Outcome(1.0, "equal")
_EMPTY = Outcome(0.0, "the response is empty")
_OTHER = Outcome(0.0, "not equal")
_SHRINKS = 4  # normalizing shortens a text to a quarter at most, and can take quadratic time
_UNSEEN = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))  # spaces, controls, zero-width


def _no_blanks(_: object, __: object, aliases: Mapping[str, list[str]]) -> None:
    for answer, others in aliases.items():
        if any(map(_blank, (answer, *others))):
            raise ValueError(f"a text for {answer!r} is blank, so an empty response would match it")


@frozen
class Equal:
    """1 when the response is the answer, else 0; an empty response never is.

    The task's answer is a text, a number, or a list of such, of which any one is right.  Without
    options the comparison is exact but for white space around the texts.

    Args:
        strip: ignore white space around the response and the answer.
        case: ignore the difference of upper and lower case.
        space: ignore how much white space, and of what sort, is between words.
        nfkc: compare in Unicode's compatibility form, so that full-width digits are digits.
        aliases: answer → other accepted texts.
    """

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"
    uses: ClassVar[tuple[str, ...]] = ("answer",)

    strip: bool = True
    case: bool = False
    space: bool = False
    nfkc: bool = False
    aliases: Mapping[str, list[str]] = field(
        factory=dict, validator=_no_blanks, metadata={"safe": True}
    )

    @cached_property
    def _others(self) -> Mapping[str, list[str]]:
        others: dict[str, list[str]] = {}
        for answer, texts in self.aliases.items():
            others.setdefault(self._normal(answer), []).extend(map(self._normal, texts))
        return others

    def check(self, attempt: Attempt) -> Outcome:
        return attempt.with_hidden(self._compared(attempt.visible, attempt.task))

    def _compared(self, response: str, task: Task) -> Outcome:
        accepted = [self._normal(text) for text in _texts(task, task.answer)]
        accepted += [other for text in accepted for other in self._others.get(text, ())]
        response = self._outer(response)
        if _blank(response):
            return _EMPTY
        if len(response) <= _SHRINKS * max(map(len, accepted)):
            response = self._normal(response)
        return _MATCH if response in accepted else _OTHER

    def validate(self, task: Task) -> None:
        """Refuse an answer that no response could match, or that an empty one would."""
        _texts(task, task.answer)

    def _normal(self, text: str) -> str:
        text = self._outer(text)
        text = normalize("NFKC", text) if self.nfkc else text
        text = text.casefold() if self.case else text
        text = normalize("NFKC", text) if self.nfkc else text  # folding may undo it
        return self._outer(text)

    def _outer(self, text: str) -> str:
        """The cheap part of normalizing: white space."""
        text = re.sub(r"\s+", " ", text) if self.space else text
        return text.strip() if self.strip else text


def _blank(text: str) -> bool:
    """Whether nothing of the text can be seen."""
    return all(category(char) in _UNSEEN for char in text)


def _texts(task: Task, answer: object) -> list[str]:
    """The accepted texts of an answer of this task; a whole float is written both ways, 42 and
    42.0.

    Raises:
        TaskError: when it is neither text, a finite number nor a list of them, or a text is blank.
    """
    if isinstance(answer, str):
        if _blank(answer):
            raise TaskError("an answer is blank, so an empty response would match it", task.id)
        return [answer]
    if isinstance(answer, (list, tuple)) and answer:
        return [text for item in answer for text in _texts(task, item)]
    if isinstance(answer, float) and isfinite(answer):
        return [repr(answer), str(int(answer))] if answer.is_integer() else [repr(answer)]
    if isinstance(answer, int) and not isinstance(answer, bool) and answer.bit_length() < 10_000:
        return [str(answer)]
    what = "an empty list" if answer in ([], ()) else type(answer).__name__
    message = f"the answer is {what}; expected a string, a finite number or a list of them"
    raise TaskError(message, task.id)
