"""Collects what is wrong with a configuration, so that all of it is told at once."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Final, Never, TypeAlias, cast

from attrs import define, field

from rlenv.errors import ConfigError, RlenvError, reject
from rlenv.references import refer

Table: TypeAlias = Mapping[str, object]
BAD: Final[Never] = cast("Never", object())  # what is made where a problem was noted; of any type
_BELOW = re.compile(r"([a-z_]\w*(?:\[\d+\]|\[\d+\]\.\w+|\.\w+\[\d+\])+(?:\.\w+)*): ")


@define(eq=False)
class Problems:
    """Mistakes with the path where they stand, in the order they were found.

    Args:
        source: what the paths are in: a file's name, or "" for a mapping.
        base: the folder that files are relative to.
        code: whether code may be named, by module or file.
    """

    source: str = ""
    base: str | os.PathLike[str] = ""
    code: bool = field(default=True, kw_only=True)
    origins: dict[str, str] = field(factory=dict, init=False)  # path → the setting that is there
    found: list[tuple[str, str]] = field(factory=list, init=False)

    def add(self, path: str, text: str) -> None:
        """Note one mistake; the same one twice counts once."""
        if (path, text) not in self.found:
            self.found.append((path, text))

    def error(self, path: str, error: RlenvError) -> None:
        """Note every mistake that an error lists; a line may begin with a path below ``path``."""
        for line in str(error).splitlines():
            below = _BELOW.match(line)
            where = f"{path}.{below[1]}".strip(".") if below else path
            self.add(where, line[below.end() :] if below else line)

    def refer(self, use: str) -> object:
        """The function, class or stage that ``use`` names.

        Raises:
            ConfigError: it is not there, or no code may be named.
        """
        if not self.code:
            raise ConfigError("it names code, and this is loaded with code=False; use plugin/stage")
        return refer(use, self.base)

    def lines(self) -> list[str]:
        return [self._line(path, text) for path, text in self.found]

    def check(self) -> None:
        """Raise what was found.

        Raises:
            ConfigError: with one line per mistake, when there are any.
        """
        reject(self.lines())

    def _line(self, path: str, text: str) -> str:
        for at, origin in self.origins.items():
            if path == at or path.startswith((at + ".", at + "[")):
                return f"{origin}: {text}"
        return ": ".join(part for part in (self.source, path, text) if part)


def at(path: str, key: str) -> str:
    """The path of a key inside a table; a key that is no plain word is quoted, as in TOML."""
    key = key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)
    return f"{path}.{key}" if path else key


def show(value: object) -> str:
    """A value as a person would have written it, cut short."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 60 else text[:57] + "..."
