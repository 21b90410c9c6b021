"""Reads an env.toml as a mapping; what is wrong with the file itself is told here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlenv.errors import ConfigError
from rlenv.near import no_such_file


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of the file.

    Raises:
        ConfigError: when it cannot be read, is not UTF-8, is empty, or is not TOML (with line and column).
    """
    from tomli import TOMLDecodeError, loads

    text = _decode(path, _bytes(path))
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


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{path}: {no_such_file(path)}") from None
    except IsADirectoryError:
        inside = sorted(p.name for p in path.glob("*.toml"))
        hint = f"; did you mean {path / inside[0]}?" if inside else ""
        raise ConfigError(f"{path}: this is a folder, not a file{hint}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{path}: cannot be read: {reason}") from None


def _decode(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        byte = raw[error.start]
        raise ConfigError(
            f"{path}: line {line}: byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
        ) from None
