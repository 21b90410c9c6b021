"""Where the final answer of a visible text stands: linear in its length, for any text.

Nothing here is compared with a gold answer, so what counts as the answer depends on the response alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from .beside import rival
from .found import AMBIGUOUS, EMPTY, FOUND, MISSING, Claim, Extraction, nothing, rivals
from .readings import readings
from .rungs import RUNGS

__all__ = [
    "AMBIGUOUS",
    "AUTO",
    "EMPTY",
    "FOUND",
    "MISSING",
    "RUNGS",
    "Claim",
    "Extraction",
    "extract",
    "nothing",
    "readings",
]

AUTO = ("boxed", "answer-tag", "statement", "hash", "result", "bare", "bold", "closing")
_EXPLICIT = frozenset({"boxed", "answer-tag", "statement", "hash"})


def extract(text: str, mode: str | Sequence[str] = "auto") -> Extraction:
    """Read the final answer out of the visible text of a response.

    Args:
        text: what ``rlenv.text`` leaves of the response.
        mode: ``"auto"`` tries every rung, best first, and lets a later, different answer spoil the first one;
            the name of one rung, or several in order, look nowhere else.
    """
    end = len(text.replace("\0", " ").rstrip())
    if mode == "auto":
        return _auto(text, 0, end)
    for rung in (mode,) if isinstance(mode, str) else mode:
        extraction = RUNGS[rung](text, 0, end)
        if extraction is not None:
            return extraction
    return nothing("no answer is stated in the form asked for")


def _auto(text: str, start: int, end: int) -> Extraction:
    for rung in AUTO:
        extraction = RUNGS[rung](text, start, end)
        if extraction is None:
            continue
        alone = extraction.span == (start, end)  # the common case, worth a short way
        if extraction.state == FOUND and rung in _EXPLICIT and not alone:
            return _unless_rivaled(text, extraction, start, end)
        return extraction
    return nothing("no answer is stated")


def _unless_rivaled(text: str, extraction: Extraction, start: int, end: int) -> Extraction:
    found = rival(text, extraction, start, end)
    if found is None:
        return extraction
    assert extraction.span is not None
    own = [Claim(answer, *extraction.span, extraction.how) for answer in extraction.answers]
    found = Claim(found.text, found.start, found.end, extraction.how)
    if found.text == "":
        return nothing(
            "the answer is denied where it is stated", state=AMBIGUOUS, how=extraction.how
        )
    return rivals([*own, found], "another answer is offered beside it")
