"""Options that are files: as written, and where that leads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from rlenv.model.errors import ConfigError, hide

# Characters; a shorter value is hidden in paths that it is part of, not wherever it is found.
SHORT = 8


class File(str):
    """A path as somebody wrote it.

    A stage that declares an option so finds the file from any working directory.

    Messages show it as it was written too: the value of a ``${VAR}`` may be a secret.

    The text is what was written, and so is what a fingerprint sees.  ``File(option)`` is the option
    itself, or a path relative to the working directory where the stage was built by hand with a
    plain text.

    Attributes:
        path: where it leads: relative to the folder of the env.toml, ``${VAR}`` filled in.

    Raises:
        ConfigError: a variable is not set.
    """

    __slots__ = ("path",)
    path: Path

    def __new__(cls, text: str = "", base: str | os.PathLike[str] = "") -> File:  # noqa: PYI034 - it may be one already
        if isinstance(text, File):
            return text
        return _located(text, Path(os.path.abspath(base), re.sub(r"\$\{[^}]*\}", _value, text)))

    def __rlenv_state__(self) -> str:
        return str(self)  # a fingerprint is the same wherever the folder is

    def __reduce__(self) -> tuple[Callable[..., File], tuple[str, Path]]:
        return _located, (str(self), self.path)  # the variable may not be set where it is read


def _located(text: str, path: Path) -> File:
    made = str.__new__(File, text)
    made.path = path
    while "${" in text:  # messages show the path, and the folders above it, as written
        hide(str(path), text)
        text = os.path.dirname(text)
        path = path.parent
    return made


def _value(found: re.Match[str]) -> str:
    name = found[0][2:-1]
    if name not in os.environ:
        raise ConfigError(f"the environment variable {name} is not set; {found.string!r} needs it")
    if len(value := os.environ[name]) >= SHORT:
        hide(value, found[0])
    return value
