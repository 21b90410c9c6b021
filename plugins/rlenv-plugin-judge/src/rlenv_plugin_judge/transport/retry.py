"""When to ask again: full jitter, and what ``Retry-After`` says."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

from .limits import Retries

_JITTER = random.SystemRandom()  # of when, never of what: no verdict depends on it


def retry_after(value: str | None, now: Callable[[], float] = time.time) -> float | None:
    """The seconds of a ``Retry-After`` header, a number or an HTTP date.

    None where it says nothing usable.
    """
    if value is None or len(value) > 64:
        return None
    text = value.strip()
    if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now())
    except (ValueError, TypeError, OverflowError):
        return None


def pause(
    retries: Retries,
    tried: int,
    after: float | None,
    draw: Callable[[float, float], float] = _JITTER.uniform,
) -> float:
    """Seconds to wait after ``tried`` + 1 failures.

    Uniform in [0, min(cap, base * 2**tried)], and never less than ``after``, itself at most
    ``after_cap``.
    """
    jitter = draw(0.0, min(retries.cap, retries.base * 2.0 ** min(tried, 60)))
    return jitter if after is None else min(after, retries.after_cap) + jitter
