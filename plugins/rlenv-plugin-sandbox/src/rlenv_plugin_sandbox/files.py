"""The files that a program is given: names that stay inside its working directory."""

from __future__ import annotations

from collections.abc import Mapping

from rlenv import ConfigError

__all__ = ["checked"]


def checked(files: Mapping[str, bytes | tuple[bytes, int]]) -> list[tuple[str, bytes, int]]:
    """(relative path, content, mode) of every file, in order.

    Raises:
        ConfigError: for a path that is absolute, empty, or leads out of the working directory.
    """
    found = []
    for name, given in files.items():
        parts = name.split("/")
        if not name or name.startswith("/") or "\0" in name or {"", ".", ".."} & set(parts):
            raise ConfigError(
                "a file of a run or a profile is named by a relative path without '..', not"
                f" {name!r}"
            )
        content, mode = given if isinstance(given, tuple) else (given, 0o644)
        found.append((name, bytes(content), mode & 0o777))
    return found
