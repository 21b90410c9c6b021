"""Collects what is wrong with a configuration, so that all of it is told at once."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Never, TypeAlias, cast

from attrs import define, field

from rlenv.config.references import refer
from rlenv.model.errors import ConfigError, RlenvError, reject

Table: TypeAlias = Mapping[str, object]
BAD: Final[Never] = cast("Never", object())  # what is made where a problem was noted; of any type
_BELOW = re.compile(r"([a-z_]\w*(?:\[\d+\]|\[\d+\]\.\w+|\.\w+\[\d+\])+(?:\.\w+)*): ")
_FOLDER: ContextVar[str | None] = ContextVar("_FOLDER", default=None)  # of a stranger's env.toml


@contextmanager
def of_a_stranger(folder: str | os.PathLike[str]) -> Iterator[None]:
    """While an env.toml is loaded with ``code=False``: whatever its stages read in turn is the
    stranger's too.

    Args:
        folder: the folder of the env.toml; files that it names have to be inside.
    """
    outer = _FOLDER.get()
    token = _FOLDER.set(os.path.abspath(folder) if outer is None else outer)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def code_allowed() -> bool:
    """Whether what is read now may hold code: False in the thread that loads an env.toml with
    ``code=False``.
    """
    return _FOLDER.get() is None


@define(eq=False)
class Problems:
    """Mistakes with the path where they stand, in the order they were found.

    Args:
        source: what the paths are in: a file's name, or "" for a mapping.
        base: the folder that files are relative to.
        code: whether the tables may name code and reach outside; False for tables of a stranger, as
            all are that are read while an env.toml is loaded with ``code=False``.
    """

    source: str = ""
    base: str | os.PathLike[str] = ""
    code: bool = field(default=True, kw_only=True)
    origins: dict[str, str] = field(factory=dict, init=False)  # path → the setting that is there
    found: list[tuple[str, str]] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.code = self.code and code_allowed()

    @property
    def root(self) -> str | os.PathLike[str]:
        """The folder that files of a stranger have to be in."""
        return _FOLDER.get() or self.base

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

    def origin(self, path: str) -> str:
        """The setting of the caller that ``path`` is in, or ""."""
        for at, origin in self.origins.items():
            if path == at or path.startswith((at + ".", at + "[")):
                return origin
        return ""

    def _line(self, path: str, text: str) -> str:
        if origin := self.origin(path):
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
