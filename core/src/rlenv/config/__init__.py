"""Configuration: an env.toml, or a mapping of the same shape, becomes an Environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .build import build_stage
from .options import REQUIRED, Option, options_of

if TYPE_CHECKING:
    from rlenv.environment import Environment

__all__ = [
    "REQUIRED", "Option", "build_stage", "load_dict", "load_file", "load_named", "options_of",
]  # fmt: skip


def load_file(
    path: str | os.PathLike[str],
    *,
    set_options: Mapping[str, Any] | None = None,
    code: bool = True,
    **settings: Any,
) -> Environment:
    """The environment that an env.toml describes.

    Args:
        path: the file; task files and options that are files are relative to its folder.
        set_options: options put over the file's, by ``STAGE.OPTION``; STAGE is a slot's name, its path
            (``tests/run``) or what it uses (``math/equal``); a text is read as a TOML value if it is one.
        code: False rejects ``use = "module:name"`` and ``use = "./file.py:name"``: for an env.toml from a
            stranger, since both run code.
        settings: further arguments of Environment: ``isolate``, ``memory_mb``.

    Raises:
        ConfigError: with every mistake of the file, one line each.
    """
    from pathlib import Path

    from .read import read_toml

    path, options = Path(path), set_options
    source, tables = str(path), read_toml(path)
    return load_dict(
        tables, base_dir=path.parent, source=source, set_options=options, code=code, **settings
    )


def load_dict(
    mapping: Mapping[str, Any],
    *,
    base_dir: str | os.PathLike[str] | None = None,
    set_options: Mapping[str, Any] | None = None,
    code: bool = True,
    source: str = "",
    **settings: Any,
) -> Environment:
    """The environment that a mapping of the same shape describes; files are relative to ``base_dir``.

    Raises:
        ConfigError: with every mistake, one line each.
        TypeError: when it is no mapping.
    """
    from .build import build_environment
    from .problems import Problems

    if not isinstance(mapping, Mapping):
        kind = type(mapping).__name__
        raise TypeError(f"an environment is a mapping, as env.toml has it, not {kind}")
    problems = Problems(source, base_dir or ".", code=code)
    return build_environment(mapping, problems, set_options or {}, settings)


def load_named(name: str | os.PathLike[str], **settings: Any) -> Environment:
    """An environment that a distribution installed (entry-point group ``rlenv.environments``), else a file.

    The entry point's target is a path or a mapping (files in it are relative to its module's folder), an
    Environment, or a function of no arguments that returns one of them.

    Raises:
        ConfigError: when there is neither, or the environment has mistakes.
        PluginError: when two distributions claim the name or its module fails to load.
    """
    from .named import load

    return load(name, **settings)
