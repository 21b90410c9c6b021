"""What an extraction gives back."""

from __future__ import annotations

from rlenv_plugin_math.held import frozen

FOUND = "found"
MISSING = "missing"
EMPTY = "empty"
AMBIGUOUS = "ambiguous"


@frozen
class Claim:
    """One place of a response that states a final answer: its text, where it stands, and what marks
    it.
    """

    text: str
    start: int
    end: int
    how: str


@frozen
class Extraction:
    """The final answer of a response, as text.

    Args:
        state: ``found``, ``missing`` (no answer is stated), ``empty`` (a place for it, with nothing
            in it) or ``ambiguous`` (several different answers are stated, or the one stated is
            taken back).
        answers: one text, or several: the items of a list when found, the rivals when ambiguous.
        how: the rung that read it: ``boxed``, ``answer-tag``, ``json``, ``statement``, ``hash``,
            ``bare``, ``bold``, ``formula`` or ``last-number``; "" when missing.
        span: where the answer is in the response, as (start, end); of several, from the first to
            the last.
        reason: one line on why there is no single answer; "" when found.
        commas: whether the response is in a language that writes decimals with a comma.
    """

    state: str
    answers: tuple[str, ...] = ()
    how: str = ""
    span: tuple[int, int] | None = None
    reason: str = ""
    commas: bool = False


def found(*claims: Claim) -> Extraction:
    """The extraction of one claim, or of several that make one list."""
    if len(claims) == 1:
        claim = claims[0]
        return Extraction(FOUND, (claim.text,), claim.how, (claim.start, claim.end))
    return Extraction(FOUND, tuple(c.text for c in claims), claims[0].how, _span(claims))


def rivals(claims: list[Claim], reason: str) -> Extraction:
    """The extraction of claims that do not agree."""
    return Extraction(
        AMBIGUOUS, tuple(c.text for c in claims), claims[-1].how, _span(claims), reason
    )


def nothing(reason: str, *, state: str = MISSING, how: str = "") -> Extraction:
    """The extraction of a response that states no answer."""
    return Extraction(state, (), how, None, reason)


def _span(claims: tuple[Claim, ...] | list[Claim]) -> tuple[int, int]:
    return min(c.start for c in claims), max(c.end for c in claims)
