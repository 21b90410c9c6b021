"""Closed classes of English words: conjunctions, pronouns, stop words.

The names of IFBench's prompts are here too.
"""

from __future__ import annotations

from typing import Final

from .lists import words

__all__ = ["CONJUNCTIONS", "MINOR", "NAMES", "PRONOUNS", "STOP_STEMS", "STOP_WORDS"]

CONJUNCTIONS: Final = words("conjunctions")
PRONOUNS: Final = words("pronouns")
STOP_STEMS: Final = words("function_words") | words("remains")
STOP_WORDS: Final = words("function_words") | words("contracted")
NAMES: Final = words("first_names")
MINOR: Final = words("minor")
