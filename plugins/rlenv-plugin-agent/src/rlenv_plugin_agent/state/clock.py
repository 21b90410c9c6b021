"""The clock and the chance of SQL: they follow from the environment and the seed, so that equal
calls give equal rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from random import Random

from .access import Cell

NOW = "2025-01-01 00:00:00"  # what the clock says, unless ``[state] now`` says something else
# Each function that reads the clock, and that of SQLite which computes what it gives.
NAMES = ("date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff")
CLOCKS = {name: name for name in NAMES[: 7 if sqlite3.sqlite_version_info >= (3, 43) else 6]}
WORDS = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}
ZONES = ("localtime", "utc")  # of this machine; here it is always UTC
MOST = 1_000_000  # bytes of a random blob


def pin(link: sqlite3.Connection, now: str, seed: int, content: bytes) -> None:
    """Let the clock of a connection stand still, and let chance follow from the seed and the
    content.

    Args:
        link: where functions take the place of SQLite's own, also in triggers and defaults.
        now: a time that SQLite reads.
        seed: of the episode.
        content: of the database before the statement.
    """
    plain = _Plain()
    for name, own in (CLOCKS | WORDS).items():
        link.create_function(name, -1, partial(_present, plain, own, now), deterministic=True)
    chance = cache(lambda: Random(sha256(content).hexdigest() + str(seed)))  # noqa: S311 - no secret
    link.create_function("random", 0, lambda: chance().getrandbits(64) - (1 << 63))
    link.create_function("randomblob", 1, lambda size: chance().randbytes(min(max(size, 1), MOST)))


class _Plain:
    """Opens a connection with SQLite's own functions when it is first needed, and closes it with
    its last user.
    """

    def __init__(self) -> None:
        self._link: sqlite3.Connection | None = None

    def __call__(self) -> sqlite3.Connection:
        if self._link is None:
            # the last user may be let go in any thread
            self._link = sqlite3.connect(":memory:", check_same_thread=False)
        return self._link

    def __del__(self) -> None:
        if self._link is not None:
            self._link.close()


def _present(plain: Callable[[], sqlite3.Connection], name: str, now: str, *given: Cell) -> Cell:
    """Return what SQLite computes for this time in place of the present."""
    lower = [each.lower() if isinstance(each, str) else each for each in given]
    kept = [
        now if low == "now" else one
        for one, low in zip(given, lower, strict=True)
        if low not in ZONES
    ]
    at = int(name == "strftime")  # where the time is; without one it is the present
    if len(kept) == at or lower[at : at + 1] in (["subsec"], ["subsecond"]):
        kept.insert(at, now)
    found: Cell = plain().execute(f"SELECT {name}({','.join('?' * len(kept))})", kept).fetchone()[0]
    return found
