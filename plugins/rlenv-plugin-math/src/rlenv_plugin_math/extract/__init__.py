"""Where the final answer of a visible text stands: linear in its length, for any text.

Nothing here is compared with a gold answer, so what counts as the answer depends on the response
alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from rlenv_plugin_math.languages import read, unhidden

from .beside import rival
from .closing import closing
from .found import AMBIGUOUS, FOUND, Claim, Extraction, found, nothing, rivals
from .hedges import retraction, rivalry
from .picking import calculated
from .readings import readings, stated_value
from .remarks import labeled_in_any_words, taken_back
from .rungs import RUNGS
from .stance import denied_behind, denied_in_any_words, only_mentioned
from .withdrawn import doubted, withdrawn

__all__ = ["AMBIGUOUS", "FOUND", "RUNGS", "Extraction", "extract", "nothing", "readings"]

_AUTO = ("boxed", "answer-tag", "json", "statement", "hash", "result", "bare", "bold", "closing")
_FILTERED = frozenset(
    {"statement", "result", "closing"}
)  # rungs that leave out what is only mentioned
_SENTENCES = frozenset({"statement", "bold", "bare", "result"})
_LONGEST = 200  # characters of a statement that names what was calculated
_EXPLICIT = frozenset({"boxed", "answer-tag", "json", "statement", "hash"})


def extract(text: str, mode: str | Sequence[str] = "auto") -> Extraction:
    """Read the final answer out of the visible text of a response.

    Args:
        text: what ``rlenv.text`` leaves of the response.
        mode: ``"auto"`` tries every rung, best first, and lets a later, different answer spoil the
            first one; the name of one rung, or several in order, look nowhere else.
    """
    plain = unhidden(text)
    changed = read(plain.text if plain else text)
    if plain is None and changed is None:
        return _unless_taken_back(text, _extract(text, mode), english=True)
    steps = [step for step in (changed, plain) if step]
    is_covered = changed is None or changed.is_covered
    extraction = _extract(steps[0].text, mode) if is_covered else _slots(steps[0].text, mode)
    for step in steps:
        if step is plain:
            extraction = _unless_taken_back(plain.text, extraction, english=changed is None)
        span = extraction.span and (step.back(extraction.span[0]), step.back(extraction.span[1]))
        extraction = evolve(extraction, span=span, commas=extraction.commas or step.commas)
    return extraction if plain else _unless_taken_back(text, extraction, english=False)


def _unless_taken_back(text: str, extraction: Extraction, *, english: bool) -> Extraction:
    """The answer, unless the words around it, in whatever language, take it back."""
    if extraction.state != FOUND or not taken_back(text, extraction, english=english):
        return extraction
    return nothing("the answer is taken back", state=AMBIGUOUS, how=extraction.how)


def _extract(text: str, mode: str | Sequence[str]) -> Extraction:
    end = len(text.replace("\0", " ").rstrip())
    modes = (mode,) if isinstance(mode, str) else tuple(mode)
    rungs = _AUTO if mode == "auto" else modes
    return _first(text, 0, end, rungs, beside=mode == "auto") or nothing(
        "no answer is stated" + ("" if mode == "auto" else " in the form asked for")
    )


def _slots(text: str, mode: str | Sequence[str]) -> Extraction:
    """The answer of a text in a language without a pack: its prose states none, an explicit slot
    does.
    """
    end = len(text.replace("\0", " ").rstrip())
    if mode != "auto":
        return _extract(text, mode)
    found = _first(text, 0, end, ("boxed", "answer-tag", "json", "labeled", "hash"), beside=False)
    found = found or labeled_in_any_words(text)
    if found is None:
        return nothing("only an explicit slot states an answer in a language without a pack")
    if found.state == FOUND and denied_in_any_words(text, found, end):
        return nothing("the answer is denied", state=AMBIGUOUS, how=found.how)
    return found


def _first(
    text: str, start: int, end: int, rungs: Sequence[str], *, beside: bool
) -> Extraction | None:
    """What the first of the rungs reads that finds anything, where it is neither taken back nor
    rivaled.
    """
    for rung in rungs:
        extraction = RUNGS[rung](text, start, end)
        if extraction is None:
            continue
        if extraction.how in _SENTENCES:
            extraction = _calculated(text, extraction, start)
        if extraction.span is None or extraction.state != FOUND:
            return extraction
        first, last = extraction.span
        spoken = extraction.how not in ("boxed", "answer-tag", "hash", "json")
        if (first, last) == (start, end) and not spoken:
            return extraction  # the common case, worth a short way
        own = Claim(extraction.answers[-1], first, last, extraction.how)
        if rung not in _FILTERED and only_mentioned(text, own):
            return nothing("the answer is only mentioned", state=AMBIGUOUS, how=extraction.how)
        again = withdrawn(text, first + 1 if spoken else last, end)
        if again is None:
            again = denied_behind(text, extraction, end)
        if again is not None:
            other = _first(text, again, end, [r for r in rungs if r in _EXPLICIT], beside=beside)
            if other is None and beside:  # "No, wait, it is 7."
                other = closing(text, again, min(end, again + 200))
            if other is None or other.answers == extraction.answers:
                return nothing("the answer is taken back", state=AMBIGUOUS, how=extraction.how)
            return other
        if beside and rung in _EXPLICIT:
            extraction = _unless_rivaled(text, extraction, start, end)
        if extraction.state == FOUND and doubted(text, first, last, end, spoken=spoken):
            return nothing("the answer is only a guess", state=AMBIGUOUS, how=extraction.how)
        return extraction
    return None


def _calculated(text: str, extraction: Extraction, start: int) -> Extraction:
    """The answer; of a sentence that names what was calculated among other values, that one."""
    if len(extraction.answers) != 1 or extraction.span is None or "=" not in text:
        return extraction
    answer = extraction.answers[0]
    if " " not in answer or len(answer) > _LONGEST:
        return extraction
    result = calculated(text, start, *extraction.span)
    value, hedged = stated_value(answer, result) if result else (None, False)
    if value is None or hedged or value == stated_value(answer)[0]:
        return extraction
    at = text.find(value, *extraction.span)
    if at < 0:
        return extraction
    return evolve(extraction, answers=(value,), span=(at, at + len(value)))


def _unless_rivaled(text: str, extraction: Extraction, start: int, end: int) -> Extraction:
    other = rival(text, extraction, start, end)
    if other is None:
        return extraction
    if not other.text:
        return nothing("the answer is denied", state=AMBIGUOUS, how=extraction.how)
    assert extraction.span is not None
    between = text[extraction.span[1] : other.start]
    if retraction().search(between) and not rivalry().search(between):
        return found(other)
    own = [Claim(answer, *extraction.span, extraction.how) for answer in extraction.answers]
    return rivals([*own, evolve(other, how=extraction.how)], "another answer is offered beside it")
