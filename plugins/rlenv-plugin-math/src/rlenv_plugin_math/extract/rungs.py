"""The rungs of extraction: each looks for one way of stating a final answer and settles its own
rivals.
"""

from __future__ import annotations

from collections.abc import Callable

from .boxes import boxes, is_placeholder
from .closing import bare, bold, closing, concluded, formula, last_number
from .fields import fields
from .found import EMPTY, FOUND, Claim, Extraction, found, nothing
from .patterns import pattern
from .readings import refuses
from .settle import settle
from .stance import only_mentioned
from .statements import statements, supposed
from .tagged import hashes, tags
from .values import is_plain, values


def boxed(text: str, start: int, end: int) -> Extraction | None:
    """The last box, or the boxes of one sentence as a list."""
    every, is_open = boxes(text, start, end)
    if is_open and all(is_placeholder(c.text) for c in every):
        return nothing("the box is never closed", how="boxed")
    return _settled(text, every, "the box is empty")


def answer_tag(text: str, start: int, end: int) -> Extraction | None:
    """The content of ``<answer>…</answer>``."""
    return _settled(text, tags(text, start, end), "the answer tag is empty")


def json_field(text: str, start: int, end: int) -> Extraction | None:
    """The answer field of a JSON object."""
    return _settled(text, fields(text, start, end), "the answer field is empty")


def hashed(text: str, start: int, end: int) -> Extraction | None:
    """What follows ``####``."""
    return _settled(text, hashes(text, start, end), "nothing follows ####")


def _settled(text: str, every: list[Claim], empty: str) -> Extraction | None:
    """One answer of the claims of one kind, without those that only hold the place of one."""
    claims = [c for c in every if not is_placeholder(c.text)]
    if len(claims) > 1:
        claims = [c for c in claims[:-1] if not only_mentioned(text, c)] + claims[-1:]
    if claims:
        return settle(text, claims)
    return nothing(empty, state=EMPTY, how=every[0].how) if every else None


def statement(text: str, start: int, end: int) -> Extraction | None:
    """The sentence that announces the answer; other announcements that are as plain are its
    rivals.
    """
    every = statements(text, start, end)
    if every and not any(c.text for c in every):
        return nothing("nothing follows an announcement", state=EMPTY, how="statement")
    claims = [c for c in every if c.text and not refuses(c.text) and not only_mentioned(text, c)]
    firm = [c for c in claims[1:] and claims if not supposed(text, c)]
    return _announced(text, firm or claims) if claims else None


def labeled(text: str, start: int, end: int) -> Extraction | None:
    """``Answer: 42``: an announcement with a colon."""
    claims = [
        c
        for c in statements(text, start, end)
        if c.text and _label().search(text, max(start, c.start - 24), c.start)
    ]
    return _announced(text, claims) if claims else None


_label = pattern(r"\banswer\W{0,3}[:：]\W{0,6}\Z")


def result(text: str, start: int, end: int) -> Extraction | None:
    """The last sentence that announces a result, a solution or a total."""
    claims = [
        c
        for c in statements(text, start, end, weak=True)
        if values(c.text) and not only_mentioned(text, c)
    ]
    if not claims:
        return None
    own = claims[-1]
    if _unfinished().search(own.text):
        after = closing(text, own.end + 1, end)
        if after is not None and after.state == FOUND:
            return after
    return concluded(text, own.end + 1, end) or found(own)


# Behind a value: something is still to be added or taken off.
_unfinished = pattern(r"\d[^.]*\b(?:before|without|excluding|prior\s+to|not\s+counting)\s+[^\W\d_]")


def _announced(text: str, claims: list[Claim]) -> Extraction:
    plain = [c for c in claims if is_plain(c.text)]
    if not plain:
        stated = [c for c in claims if values(c.text)]
        return found((stated or claims)[-1])
    return settle(text, plain)


Rung = Callable[[str, int, int], "Extraction | None"]
RUNGS: dict[str, Rung] = {
    "boxed": boxed,
    "answer-tag": answer_tag,
    "json": json_field,
    "statement": statement,
    "labeled": labeled,
    "hash": hashed,
    "result": result,
    "bare": bare,
    "bold": bold,
    "closing": closing,
    "formula": formula,
    "last-number": last_number,
}
