"""The independent check: whether a response says a task's answer, by rules that know no verifier.

It errs on the side of "solved": what holds the answer anywhere is no proof of a hole when it is
paid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from rlenv.model.values import Task
from rlenv.text import visible

__all__ = ["plainly_in", "text_of"]

EMPTY = {
    "∅",
    r"\emptyset",
    r"\varnothing",
    r"\{\}",
    "{}",
    "[]",
    "()",
    "empty set",
    "no solution",
    "none",
}
CHOICE = re.compile(r"^\(?([A-Za-z])\)?(?:[.:)\s]+(.*))?$", re.DOTALL)
UNORDERED = re.compile(r"\\\{|\bor\b")  # a set, or solutions: in any order, in any dress
# Of a whole solution, its last box is the answer.
BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})+)\}")
READ = 20_000  # characters of each end of a long response
# a letter or digit, but of Thai, Kana, Han and Hangul
WORD = r"[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
DRESS = re.compile(r"\\(?:text|mathrm|mathbf|operatorname|boxed|dfrac|tfrac)\b")
FRACTIONS = (
    re.compile(r"((?:(?<!\d)|(?=[-\u2212]))[-\u2212]?\d+)\s*/\s*(\d+)"),
    re.compile(r"\\d?frac\{?(-?\d+)\}?\{?(\d+)\}?"),
)
NUMBER = re.compile(r"[-\u2212]?\d+(?:,\d+)*\.?\d*(?:[eE][-+]?\d+)?|[-\u2212]?\.\d+")


def text_of(answer: Any) -> str | None:
    """An answer as a policy would write it; None where it is not a string or number."""
    if isinstance(answer, (bool, int, float)):
        return str(answer)
    if isinstance(answer, str) and answer.strip():
        boxed = BOXED.findall(answer)
        return boxed[-1].strip() if boxed else answer.rpartition("#### ")[2].strip()
    if (
        isinstance(answer, (list, tuple))
        and answer
        and all(isinstance(one, (str, int, float)) for one in answer)
    ):
        return text_of(answer[0])
    return None


def plainly_in(task: Task, response: str) -> bool:
    """Whether a response holds the task's answer, or one of them, where it can be seen."""
    response = visible(response)
    several = task.answer if isinstance(task.answer, (list, tuple)) else [task.answer]
    if not response.strip() and any(isinstance(one, str) and not one.strip() for one in several):
        return True
    return any(_holds(wanted, response) for one in several if (wanted := text_of(one)) is not None)


def _holds(wanted: str, response: str) -> bool:
    if len(response) > 2 * READ:  # an answer is at one of the ends
        response = f"{response[:READ]}\n{response[-READ:]}"
    folded = _folded(response)
    if any(form and _stands(form, folded) for form in _forms(wanted)):
        return True
    if {wanted.casefold(), _folded(wanted)} & EMPTY and any(
        sign in response.casefold() for sign in EMPTY
    ):
        return True
    if (
        UNORDERED.search(wanted)
        and len(found := _listed(wanted)) > 1
        and found == _listed(response)
    ):
        return True
    value = _value(wanted)
    return value is not None and any(_near(_value(found), value) for found in _numbers(response))


@lru_cache(1024)
def _forms(wanted: str) -> tuple[str, ...]:
    """The answer itself; of "(B) 8" also the letter and the text."""
    forms = {_folded(wanted)}
    if choice := CHOICE.match(wanted.strip()):
        forms |= {_folded(part) for part in choice.groups() if part}
    return tuple(sorted(forms))


def _folded(text: str) -> str:
    """Letters and signs without what is only dress: blanks are between words still."""
    text = text.replace("\u2212", "-").replace("\\left", "").replace("\\right", "")
    text = DRESS.sub(lambda found: "\\frac" if "frac" in found[0] else "", text)
    return re.sub(r" ?, ?", ",", re.sub(r"[\s$\\{}()\[\]\"]+", " ", text)).strip().casefold()


def _stands(form: str, text: str) -> bool:
    """As a whole word: 8 is not in 18; a script without blanks between words ends one."""
    left = rf"(?<!{WORD})" if form[:1].isalnum() else ""
    right = rf"(?!{WORD})" if form[-1:].isalnum() else ""
    return re.search(left + re.escape(form) + right, text) is not None


def _listed(text: str) -> list[str]:
    """The numbers of a set, from the smallest text to the largest; a comma parts them."""
    return sorted(re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-")))


def _numbers(text: str) -> Iterator[str]:
    for found in NUMBER.finditer(text):
        yield found[0]
        if text[found.end() :].lstrip("\\ ").startswith("%"):
            yield f"{found[0]}e-2"
    for form in FRACTIONS:
        yield from (f"{top}/{bottom}" for top, bottom in form.findall(text))


@lru_cache(4096)
def _value(text: str) -> float | None:
    """The number that a text begins with, of "1/2", "1,234", "18 km/h", "50%"; None where it is
    none.
    """
    text = text.replace("\u2212", "-").replace("$", "").strip()
    fraction = re.fullmatch(r"\\d?frac\{?(-?\d+)\}?\{?(\d+)\}?|(-?\d+)\s*/\s*(\d+)", text)
    match = NUMBER.match(text)
    try:
        if fraction:
            top, bottom = [part for part in fraction.groups() if part]
            return int(top) / int(bottom)
        if match is None or re.match(r"\s*[-+*/^(,:]", text[match.end() :]):
            return None
        return float(match[0].replace(",", ""))
    except (
        ValueError,
        ArithmeticError,
    ):  # more digits than Python reads, or more than a float holds
        return None


def _near(one: float | None, two: float) -> bool:
    return one is not None and abs(one - two) <= 1e-6 * max(1.0, abs(two))
