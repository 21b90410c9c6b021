"""The files that a function or stage declares that it reads: ``@stage(reads=("table.csv",))``."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlenv.compose.stages import attribute
from rlenv.model.errors import ConfigError
from rlenv.model.messages import no_such_file

from .content import hash_of_file


def hashes_of_reads(stage: object) -> dict[str, str]:
    """The hash of each file that a stage declares in ``reads``, by the path as it is written.

    Raises:
        ConfigError: a file is missing, or is not in the folder of the file that defines the stage.
    """
    names = tuple(attribute(stage, "reads"))
    return hashes_in(_folder(stage), names) if names else {}


def hashes_in(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """The hash of each of these files, by its path relative to a folder.

    Raises:
        ConfigError: a file is missing, or is not in the folder.
    """
    problems = [problem for name in names if (problem := _problem(folder, name))]
    if problems:
        raise ConfigError(*problems)
    return {name: hash_of_file(str(folder / name)).hex() for name in sorted(names)}


def _problem(folder: Path, name: str) -> str:
    """What is wrong with one path, "" when nothing."""
    path = folder / name
    lines = Path(name)
    if lines.is_absolute() or ".." in lines.parts or not name:
        return (
            f'reads: "{name}": write a path in the folder of the file that reads it, as "table.csv"'
        )
    if not os.path.isfile(path):
        why = "it is not a file" if os.path.exists(path) else no_such_file(path)
        return f'reads: "{name}": {why}'
    if not path.resolve().is_relative_to(folder.resolve()):
        return (
            f'reads: "{name}" leads out of the folder of the file that reads it, which is not'
            " allowed"
        )
    return ""


def _folder(stage: Any) -> Path:
    """The folder of the file that defines a stage or its function."""
    for file in _files(stage):
        if os.path.isfile(file):
            return Path(file).resolve().parent
    raise ConfigError(
        "reads: no file defines this stage, so no path is relative to it; put it into a module"
    )


def _files(stage: Any) -> Iterator[str]:
    function = inspect.unwrap(getattr(stage, "function", stage))
    while hasattr(function, "func"):  # of a partial
        function = inspect.unwrap(function.func)
    if isinstance(path := getattr(function, "path", None), Path):  # of a function in a file
        yield str(path)
    if code := getattr(function, "__code__", None):
        yield code.co_filename
    for kind in (type(function), type(stage)):
        yield getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
