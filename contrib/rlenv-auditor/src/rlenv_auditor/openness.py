"""Tasks with several right answers, where a response that differs from the known answer may be
right, too.
"""

from __future__ import annotations

import re

from rlenv.model.values import Task

__all__ = ["is_open"]

VERBS = "give|find|name|list|state|pick|choose|provide|construct|propose|suggest|invent"
COUNTS = r"an?|one|two|three|four|five|six|some|several|\d+"
FREE = (
    "that (?:is|are|has|have)|such that|whose|which"
    " (?:is|are)|different|distinct|greater|less|larger|smaller|above|below|divisible"
)
OPEN = re.compile(
    r"(?i)\b(?:any|name an?|an? (?:valid|possible|example))\b"
    rf"|\b(?:{VERBS})\s+(?:{COUNTS})\s+(?:[\w-]+,?\s+){{0,4}}?(?:{FREE})\b"
)


def is_open(task: Task) -> bool:
    """Whether the prompt asks for one of several right answers ("name a prime above 10")."""
    return OPEN.search(task.prompt) is not None
