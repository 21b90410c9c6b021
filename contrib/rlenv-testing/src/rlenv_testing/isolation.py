"""A registry that knows only the plugins that a test names, whatever else is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rlenv.plugins import registry
from rlenv.plugins.entry_points import PluginInfo
from rlenv.plugins.registry import Registry


@contextmanager
def only(*names: str, **by_hand: object) -> Iterator[Registry]:
    """Let only these plugins, and core, be there.

    Args:
        names: installed plugins that stay.
        by_hand: modules or objects with hooks, by the name to register them with.

    Raises:
        PluginError: when one of them is not installed or cannot be used.
    """
    kept = {"core", *names}
    before = registry.installed, registry._REGISTRY

    def installed() -> dict[str, PluginInfo]:
        return {name: info for name, info in before[0]().items() if name in kept}

    registry.installed = installed
    registry._REGISTRY = Registry()
    try:
        found = registry.registry()
        for name in names:
            found.load(name)
        for name, plugin in by_hand.items():
            found.register(plugin, name)
        yield found
    finally:
        registry.installed, registry._REGISTRY = before
