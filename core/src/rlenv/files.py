"""Options that are files: as written, and where that leads."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .errors import ConfigError


class File(str):
    """A path as somebody wrote it; a stage that declares an option so finds the file from any working directory.

    The text is what was written, and so is what a fingerprint sees.  ``File(option)`` is the option itself, or a
    path relative to the working directory where the stage was built by hand with a plain text.

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
        made = super().__new__(cls, text)
        made.path = Path(os.path.abspath(base), re.sub(r"\$\{[^}]*\}", _value, text))
        return made


def _value(found: re.Match[str]) -> str:
    name = found[0][2:-1]
    if name not in os.environ:
        raise ConfigError(f"the environment variable {name} is not set; {found.string!r} needs it")
    return os.environ[name]
