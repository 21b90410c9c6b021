"""Environments that distributions install, by entry-point group ``rlenv.environments``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rlenv.errors import ConfigError, PluginError
from rlenv.metadata import PluginInfo, entries
from rlenv.near import suggest
from rlenv.plugins import resolve

if TYPE_CHECKING:
    from rlenv.environment import Environment

GROUP = "rlenv.environments"


def load(name: str | os.PathLike[str], **settings: Any) -> Environment:
    from rlenv.environment import Environment

    from . import load_dict, load_file

    entry = _entry(os.fspath(name))
    if entry is None:
        return load_file(name, **settings)
    who = f"environment '{name}' ({entry.distribution} {entry.version})"
    try:
        found = resolve(entry.target)
        if callable(found) and not isinstance(found, Environment):
            found = found()
    except (Exception, SystemExit) as error:
        cause = f"{type(error).__name__}: {error}"
        raise PluginError(f"{who}: {entry.target} failed to load: {cause}") from error
    folder = os.path.dirname(sys.modules[entry.target.partition(":")[0]].__file__ or "")
    if isinstance(found, (str, os.PathLike)):
        return load_file(os.path.join(folder, found), **settings)
    if isinstance(found, Mapping):
        return load_dict(found, base_dir=folder, **settings)
    if not isinstance(found, Environment):
        wanted = "expected a path, a mapping or an Environment"
        raise PluginError(f"{who}: {entry.target} is {type(found).__name__}; {wanted}")
    if any(settings.values()):
        raise ConfigError(f"{who} is built by its own code, so {', '.join(settings)} cannot be set")
    return found


def _entry(name: str) -> PluginInfo | None:
    """The one entry point of this name; None when ``name`` is a file or looks like one."""
    known = entries(GROUP)
    claims = [e for e in known if e.name == name]
    if len(claims) > 1:
        who = " and ".join(f"{e.distribution} {e.version}" for e in claims)
        raise PluginError(
            f"two distributions claim the environment '{name}': {who}; neither is used"
        )
    if claims or os.path.exists(name) or os.sep in name or name.endswith(".toml"):
        return claims[0] if claims else None
    hint = suggest(name, [e.name for e in known], what="installed are") or "none is installed"
    raise ConfigError(f"there is no environment '{name}', neither installed nor as a file; {hint}")
