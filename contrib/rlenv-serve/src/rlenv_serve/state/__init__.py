"""Stores of a server: a port for each tier, and its implementations."""

from __future__ import annotations

from rlenv import ConfigError

from .journal import Journal
from .memory import MemoryJournal

URLS = "memory:, sqlite:PATH or redis://HOST/0"


def open_journal(url: str) -> Journal:
    """The journal that a URL names; the server connects it when it starts.

    Args:
        url: ``memory:``, ``sqlite:PATH`` or ``redis://HOST/0``.

    Raises:
        ConfigError: for another one, and for a store that cannot be used.
    """
    kind, _, rest = url.partition(":")
    if url == "memory:":
        return MemoryJournal()
    if kind == "sqlite" and rest:
        from . import sqlite, sqlite_file

        sqlite_file.prepare(rest)
        return sqlite.SqliteJournal(rest)
    if kind in ("redis", "rediss", "unix"):
        from . import redis

        redis.prepare(url)
        return redis.RedisJournal(url)
    raise ConfigError(f"--state names no store with {kind!r:.40}: write {URLS}")
