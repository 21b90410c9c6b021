"""Environments from files, mappings and what distributions installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack

from rlenv.config.rows import decoded
from rlenv.model.errors import ConfigError, PluginError
from rlenv.model.messages import suggest, unreadable
from rlenv.plugins.contract import blamed
from rlenv.plugins.registry import by_name, load_entry

from .build import build_environment
from .problems import Problems, of_a_stranger

E = TypeVar("E")  # the class Environment


class Options(TypedDict, total=False):
    """What may be given with an env.toml; ``load_dict`` says what each means."""

    set_options: Mapping[str, object] | None
    code: bool
    isolate: bool
    memory_mb: int | None


class TableOptions(Options, total=False):
    """What may be given with the tables themselves."""

    base_dir: str | os.PathLike[str]
    source: str


def load_dict(
    kind: type[E],
    mapping: Mapping[str, object],
    *,
    base_dir: str | os.PathLike[str] = ".",
    set_options: Mapping[str, object] | None = None,
    code: bool = True,
    source: str = "",
    **settings: object,
) -> E:
    """The environment that a mapping of the shape of an env.toml describes.

    Args:
        kind: the class Environment.
        mapping: the tables.
        base_dir: the folder that task files and options that are files are relative to.
        set_options: options put over the tables', by ``STAGE.OPTION``; STAGE is a slot's name, its
            path (``tests/run``) or what it uses (``math/equal``).  ``tasks.path`` is that of
            ``[tasks]``.
        code: False for tables of a stranger.  It rejects what runs code (``use = "module:name"``,
            ``use = "./file.py:name"``, weaker isolation) and what reaches outside: hosts,
            environment variables, observers, files outside of ``base_dir``, and every option that
            is not marked as safe. ``set_options`` is yours and not judged.
        source: where the tables are from, for messages.
        settings: further arguments of Environment: ``isolate``, ``memory_mb``.

    Raises:
        ConfigError: with every mistake, one line each.
        TypeError: when it is not a mapping.
    """
    if not isinstance(mapping, Mapping):
        raise TypeError(f"an environment is a mapping of tables, not {type(mapping).__name__}")
    problems = Problems(source, base_dir, code=code)
    try:
        with nullcontext() if problems.code else of_a_stranger(base_dir):
            return build_environment(kind, mapping, problems, set_options or {}, settings)
    except ConfigError as error:
        problems.error("", error)
    except RecursionError:
        problems.add("", "the tables are nested too deep to be read")
    raise ConfigError(*problems.lines())


def load_file(kind: type[E], path: str | os.PathLike[str], **options: Unpack[Options]) -> E:
    """The environment that an env.toml describes.

    Args:
        kind: the class Environment.
        path: the file; task files and options that are files are relative to its folder.
        options: further arguments of ``load_dict``: ``set_options``, ``code``, ``isolate``,
            ``memory_mb``.

    Raises:
        ConfigError: with every mistake of the file, one line each.
    """
    path = Path(path)
    return load_dict(kind, _read_toml(path), base_dir=path.parent, source=str(path), **options)


def load_named(kind: type[E], name: str | os.PathLike[str], **options: Unpack[Options]) -> E:
    """Load a file, or an environment that a distribution installed (entry-point group
    ``rlenv.environments``).

    A name with a dot or a slash, and the name of a file that exists, is a file, whatever is
    installed: so no distribution can take the place of ``env.toml``.

    The entry point's target is a path or a mapping (files in it are relative to its module's
    folder), an Environment, or a function of no arguments that returns one of them.

    Args:
        kind: the class Environment.
        name: the name of the entry point, or a path.
        options: further arguments of ``load_file``.

    Raises:
        ConfigError: when there is neither, or the environment has mistakes.
        PluginError: when two distributions claim the name or its module fails to load.
    """
    name = os.fspath(name)
    if _is_path(name):
        return load_file(kind, name, **options)
    known = by_name("rlenv.environments")
    if name not in known:
        if os.path.exists(name):
            return load_file(kind, name, **options)  # raises: a folder
        hint = suggest(name, known, what="installed are") or "none is installed"
        raise ConfigError(f"there is no environment '{name}', installed or as a file; {hint}")
    entry = known[name]
    who = f"environment '{name}' ({entry.distribution} {entry.version})"
    if options.get("code") is False:
        raise ConfigError(f"{who} is code, which code=False rejects; name its env.toml instead")
    found = load_entry(entry, f"environment '{name}'")
    made = callable(found) and not isinstance(found, kind)
    if made:
        with blamed(f"{who}: {entry.target}() failed"):
            found = found()
    module = sys.modules[entry.target.partition(":")[0]]
    folder = os.path.dirname(getattr(module, "__file__", None) or "")
    if isinstance(found, (str, os.PathLike)):
        return load_file(kind, os.path.join(folder, found), **options)
    if isinstance(found, Mapping):
        return load_dict(kind, found, base_dir=folder, **options)
    if not isinstance(found, kind):
        wanted = "expected a path, a mapping or an Environment"
        raise PluginError(f"{who}: {entry.target} is {type(found).__name__}; {wanted}")
    if any(options.values()):
        if made:
            found.close()  # type: ignore[attr-defined]  # an Environment
        raise ConfigError(f"{who} is built by its own code, so {', '.join(options)} cannot be set")
    return found


def _is_path(name: str) -> bool:
    """Whether this is a path, also where an installed environment has the same name."""
    separators = (".", "/", os.sep, os.altsep or os.sep)
    return any(each in name for each in separators) or os.path.isfile(name)


def _read_toml(path: Path) -> dict[str, object]:
    """The tables of the file.

    Raises:
        ConfigError: when it cannot be read, is not UTF-8, is empty, or is not TOML (with line and
            column).
    """
    from tomli import TOMLDecodeError, loads

    text = ""
    try:
        text = decoded(path.read_bytes())
        if tables := loads(text):
            return tables
        why = "the file is empty; an environment has a name and one [[stage]] at least"
    except TOMLDecodeError as error:
        lines = [*text.splitlines(), ""]
        shown = lines[min(error.lineno, len(lines)) - 1].strip()[:80]
        where = f"line {error.lineno}, column {error.colno}"
        why = f"{where}: not valid TOML: {error.msg}: {shown}".rstrip(": ")
    except RecursionError:
        why = "the values are nested too deep to be read"
    except (OSError, ValueError) as error:
        why = unreadable(path, error, ".toml")
    raise ConfigError(f"{path}: {why}")
