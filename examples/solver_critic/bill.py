"""The stage: the last line of the response is the total, and nothing else is read."""

from __future__ import annotations

import re

from rlenv import stage


@stage(where="inline")
def total(visible: str, answer: str) -> bool:
    """Whether the last line is ``Total: N`` with the right number, and no other line says another
    total.
    """
    lines = [line.strip() for line in visible.splitlines() if line.strip()]
    said = [line for line in lines if "total" in line.lower()]
    found = re.fullmatch(r"Total: (\d{1,9})", lines[-1]) if lines else None
    return found is not None and found[1] == answer and said == lines[-1:]
