"""The contract that a plugin keeps: its version, its hooks, and the blame for what it raises."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from rlenv.model.errors import PluginError
from rlenv.model.messages import suggest

from .entry_points import PluginInfo

if TYPE_CHECKING:
    from pluggy import PluginManager


def hook_of(plugin: object, hook: str) -> Callable[..., Any] | None:
    """The plugin's function for a hook, called with what it names of the arguments.

    None where it has none.
    """
    for name in dir(plugin):
        function: Any = getattr(plugin, name, None)
        options = getattr(function, "rlenv_impl", None)
        if isinstance(options, dict) and (options.get("specname") or name) == hook:
            wanted = signature(function).parameters
            return lambda **given: function(**{key: given[key] for key in wanted if key in given})
    return None


def api_problem(info: PluginInfo, api: object) -> str | None:
    from rlenv.hooks import API

    if api is None:
        return f"it does not say which rlenv it is for: add RLENV_API = {API} to {info.target}"
    if type(api) is not int or api < 1:
        return f"RLENV_API is {api!r}, not an integer from 1; write RLENV_API = {API}"
    older = f"upgrade rlenv or install an older {info.distribution}"
    newer = f"it is built for hook version {api}, this rlenv has hook version {API}: {older}"
    return newer if api > API else None


def hook_problems(plugin: object, manager: PluginManager) -> Iterator[str]:
    """What pluggy would ignore: a misspelt hook, and one without its marker."""
    known = [name for name in vars(manager.hook) if name.startswith("rlenv_")]
    for name in dir(plugin):
        value = getattr(plugin, name) if name.startswith("rlenv_") else None
        options = getattr(value, "rlenv_impl", None)
        hook = (options or {}).get("specname") or name
        if options is None and name in known and callable(value):
            yield f"{name} is not a hook yet: write @rlenv.hookimpl above it"
        elif options and hook not in known and not options["optionalhook"]:
            yield f"there is no hook {hook}; {suggest(hook, known, what='the hooks are')}"


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Raise whatever a plugin's code raises as a PluginError that begins with ``what``."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise PluginError(f"{what}: {_cause(error)}") from error


def _cause(error: BaseException) -> str:
    """The error in one line, with the place in the plugin's own code where it was raised."""
    frames = [f for f in extract_tb(error.__traceback__) if "importlib" not in f.filename]
    ours = os.path.dirname(__file__)
    own = [f"{f.filename}:{f.lineno}" for f in frames if os.path.dirname(f.filename) != ours]
    if isinstance(error, SyntaxError):  # raised where it is read, not where it is
        own.append(f"{error.filename}:{error.lineno}")
    where = f" ({own[-1]})" if own else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"
