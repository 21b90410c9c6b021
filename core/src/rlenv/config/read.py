"""Reads an env.toml as a mapping; what is wrong with the file itself is told here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlenv.errors import ConfigError
from rlenv.near import unreadable
from rlenv.rows import decoded


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of the file.

    Raises:
        ConfigError: when it cannot be read, is not UTF-8, is empty, or is not TOML (with line and column).
    """
    from tomli import TOMLDecodeError, loads

    try:
        text = decoded(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {unreadable(path, error, '.toml')}") from None
    if not text.strip():
        raise ConfigError(
            f"{path}: the file is empty; an environment has a name and one [[stage]] at least"
        )
    try:
        return loads(text)
    except TOMLDecodeError as error:
        lines = [*text.splitlines(), ""]
        shown = lines[min(error.lineno, len(lines)) - 1].strip()[:80]
        where = f"{path}: line {error.lineno}, column {error.colno}"
        raise ConfigError(f"{where}: not valid TOML: {error.msg}: {shown}".rstrip(": ")) from None
    except RecursionError:
        raise ConfigError(f"{path}: the values are nested too deep to be read") from None
    except ValueError as error:
        raise ConfigError(f"{path}: a value cannot be read: {error}") from None
