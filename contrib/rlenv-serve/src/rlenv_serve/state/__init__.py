"""What a server keeps: a port for each tier, and what implements it."""

from __future__ import annotations

from rlenv import ConfigError

from .journal import Journal
from .memory import MemoryJournal


def open_journal(url: str) -> Journal:
    """The journal that a URL names; the server connects it when it starts.

    Args:
        url: ``memory:``.

    Raises:
        ConfigError: for another one.
    """
    if url == "memory:":
        return MemoryJournal()
    raise ConfigError(f"--state {url!r:.200} is no store: write memory:")
