"""Which language a text is written in, told offline from its script and its groups of three
letters.
"""

from __future__ import annotations

from .identify import LANGUAGES, identify, language_of, may_be, of_script

__all__ = ["LANGUAGES", "identify", "language_of", "may_be", "of_script"]
