"""Patterns that are compiled when they are first asked for, since few responses need many of
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

# "It is wrong that the answer is", at the end of what is before an answer
DENIED_THAT = r"(?:(?:might|may|could|would)\s+(?:\w+\s+)?(?:think|believe|expect|suspect|imagine)\b(?:\s+that\b)?|(?:wrong|false|incorrect|untrue|mistaken|mistake|error|not\s+(?:true|correct|right|the\s+case))\s+(?:that|to)\b),?[\w\s]{0,40}\Z"


def pattern(text: str, flags: int = re.IGNORECASE) -> Callable[[], re.Pattern[str]]:
    """What gives the compiled pattern; ``<<wrong>>`` is any word of that list of English words.

    Letter case says nothing unless ``flags`` are given.
    """
    return cache(partial(_compiled, text, flags))


def _compiled(text: str, flags: int) -> re.Pattern[str]:
    return re.compile(re.sub(r"<<(\w+)>>", lambda mark: _words(mark[1]), text), flags)


def _words(name: str) -> str:
    from rlenv_plugin_math.languages.packs import english

    return english(name)
