"""The scripts of letters, and the languages that are written in each."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import lru_cache

__all__ = ["ALONE", "letters", "script_of", "scripts"]

# First code point of each block of letters, in order, and its script; "" for what is none.
_BLOCKS: tuple[tuple[int, str], ...] = (
    (0x41, "latin"), (0x5B, ""), (0x61, "latin"), (0x7B, ""), (0xC0, "latin"), (0x370, "greek"),
    (0x400, "cyrillic"), (0x530, "armenian"), (0x590, "hebrew"), (0x600, "arabic"), (0x700, ""),
    (0x750, "arabic"), (0x780, ""), (0x8A0, "arabic"), (0x900, "devanagari"), (0x980, "bengali"),
    (0xA00, "gurmukhi"), (0xA80, "gujarati"), (0xB00, "oriya"), (0xB80, "tamil"), (0xC00, "telugu"),
    (0xC80, "kannada"), (0xD00, "malayalam"), (0xD80, "sinhala"), (0xE00, "thai"), (0xE80, "lao"),
    (0xF00, "tibetan"), (0x1000, "burmese"), (0x10A0, "georgian"), (0x1100, "hangul"),
    (0x1200, "ethiopic"), (0x1380, ""), (0x1780, "khmer"), (0x1800, ""), (0x1C80, "cyrillic"),
    (0x1C90, "georgian"), (0x1CC0, ""), (0x1E00, "latin"), (0x1F00, "greek"), (0x2000, ""),
    (0x2C60, "latin"), (0x2C80, ""), (0x2DE0, "cyrillic"), (0x2E00, ""), (0x3005, "han"),
    (0x3008, ""), (0x3041, "kana"), (0x3100, ""), (0x3131, "hangul"), (0x318F, ""),
    (0x31F0, "kana"), (0x3200, ""), (0x3400, "han"), (0x4DC0, ""), (0x4E00, "han"), (0xA000, ""),
    (0xA640, "cyrillic"), (0xA6A0, ""), (0xA720, "latin"), (0xA800, ""), (0xA8E0, "devanagari"),
    (0xA900, ""), (0xAC00, "hangul"), (0xD7B0, ""), (0xF900, "han"), (0xFB00, ""),
    (0xFB1D, "hebrew"), (0xFB50, "arabic"), (0xFE00, ""), (0xFE70, "arabic"), (0xFEFF, ""),
    (0xFF21, "latin"), (0xFF3B, ""), (0xFF41, "latin"), (0xFF5B, ""), (0xFF66, "kana"),
    (0xFFA0, ""), (0x20000, "han"), (0x32000, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _BLOCKS]
# Scripts that tell the language, among those that are asked for.
ALONE = {
    "greek": "el", "armenian": "hy", "hebrew": "he", "bengali": "bn", "gurmukhi": "pa",
    "gujarati": "gu", "oriya": "or", "tamil": "ta", "telugu": "te", "kannada": "kn",
    "malayalam": "ml", "sinhala": "si", "thai": "th", "lao": "lo", "tibetan": "bo", "burmese": "my",
    "georgian": "ka", "hangul": "ko", "ethiopic": "am", "khmer": "km",
}  # fmt: skip
_WORD = re.compile(
    r"[^\W\d_]+(?:[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u200c\u200d]+[^\W\d_]*)*"
)


@lru_cache(maxsize=16384)
def script_of(letter: str) -> str:
    """The script of one character, ``""`` where it is no letter."""
    return _BLOCKS[bisect_right(_STARTS, ord(letter)) - 1][1] if letter >= "A" else ""


def scripts(text: str) -> Counter[str]:
    """How many letters of each script there are."""
    counts: Counter[str] = Counter()
    for letter, times in Counter(text).items():
        script = script_of(letter)
        if script:
            counts[script] += times
    return counts


def letters(text: str) -> list[str]:
    """Its words, small, with the marks that belong to their letters."""
    return _WORD.findall(text.lower())
