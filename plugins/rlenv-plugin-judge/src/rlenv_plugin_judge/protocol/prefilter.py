"""Responses that need no judge: nothing there that a reader could judge."""

from __future__ import annotations

import unicodedata

# Letters and symbols by category that show nothing: fillers, the blank of Braille, stand-ins for
# what is lost.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffc\ufffd\u17b4\u17b5")
_ORNAMENTS = ((0x2500, 0x25FF), (0x2190, 0x21FF), (0x2B00, 0x2BFF))  # boxes, bullets, arrows
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")


def contentless(text: str) -> bool:
    """Whether ``text`` is blank, invisible, punctuation or ornament only: 0 without a call.

    Letters and digits of any script are content, and so are emoji and signs of mathematics beyond
    ASCII: "👍" and "∞" can be answers, which the judge then weighs.  Zero-width characters,
    fillers, lone combining marks, boxes, bullets, arrows and the signs of ASCII are not.
    """
    return not any(map(_is_content, set(text)))


def _is_content(char: str) -> bool:
    if char in _BLANK or char in _ASCII_SYMBOLS:
        return False
    category = unicodedata.category(char)
    if category[0] in "LN":
        return True
    if category not in {"So", "Sm"}:
        return False
    plain = unicodedata.normalize("NFKC", char)
    if plain in _ASCII_SYMBOLS:
        return False
    return not any(low <= ord(char) <= high for low, high in _ORNAMENTS)
