"""Plugins: found by their metadata, loaded when named, kept apart when broken."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from itertools import chain
from operator import attrgetter
from threading import RLock
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from attrs import evolve

from rlenv.compose.signatures import Signature
from rlenv.model.errors import PluginError
from rlenv.model.lazy import lazy
from rlenv.model.messages import suggest

from .contract import api_problem, blamed, hook_of, hook_problems
from .entry_points import PluginInfo

if TYPE_CHECKING:
    from pluggy import PluginManager

DISTRIBUTION = "rlenv-core"  # `rlenv` on the index is another project
GROUP = "rlenv"
OBSERVERS = ("rlenv_stage_finished", "rlenv_verdict")


def version(distribution: str) -> str | None:
    """The installed version of a distribution, None when it is not installed."""
    from importlib import metadata

    with suppress(metadata.PackageNotFoundError):
        return metadata.version(distribution)
    return None


def installed() -> dict[str, PluginInfo]:
    """Every plugin on ``sys.path`` by name; reads metadata, imports nothing, never raises."""
    return by_name(
        GROUP,
        PluginInfo("core", DISTRIBUTION, version(DISTRIBUTION) or "0", "rlenv.plugins.core_plugin"),
    )


def by_name(group: str, *own: PluginInfo) -> dict[str, PluginInfo]:
    """The entry points of a group by name, with ``own``; one that several claim has an error."""
    found: dict[str, PluginInfo] = {}
    for info in (*own, *entries(group)):
        first = found.setdefault(info.name, info)
        if first is not info:
            who = f"{first.distribution} {first.version} and {info.distribution} {info.version}"
            error = (
                f"two distributions claim the name '{info.name}': {who}; neither is used,"
                " uninstall one"
            )
            found[info.name] = evolve(first, error=error)
    return dict(sorted(found.items()))


def entries(group: str) -> list[PluginInfo]:
    """The entry points of a group, of everything on ``sys.path``; imports nothing, never raises."""
    return [info for at, info in _entries(tuple(sys.path)) if at == group]


@cache
def _entries(path: tuple[str, ...]) -> list[tuple[str, PluginInfo]]:  # noqa: ARG001 - the cache's key
    from importlib.metadata import distributions

    found: dict[str, list[tuple[str, PluginInfo]]] = {}
    for each in distributions():
        with suppress(Exception):  # broken metadata hides nothing else
            if own := [p for p in each.entry_points if p.group.startswith(GROUP)]:
                made = partial(PluginInfo, distribution=each.name, version=each.version)
                rows = [(p.group, made(p.name, target=p.value.split("[")[0].strip())) for p in own]
                found.setdefault(each.name.lower(), rows)  # the first on the path counts
    return list(chain(*found.values()))


class Registry:
    """The plugins of this process.  Loading one imports its module.

    Its stages wait until they are used.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._loaded: dict[str, PluginInfo] = {}  # what loading told; pluggy has the plugins

    @lazy
    def manager(self) -> PluginManager:
        """Where pluggy keeps the loaded plugins and their hooks."""
        from pluggy import PluginManager

        from rlenv import hooks

        manager = PluginManager(GROUP)
        manager.add_hookspecs(hooks)
        return manager

    def register(self, plugin: object, name: str) -> None:
        """Register a module or an object with hooks by hand, for tests and notebooks.

        Raises:
            PluginError: when the name is taken or the plugin's hooks are wrong.
        """
        from rlenv.hooks import API

        with self._lock:
            if name in self._known():
                raise PluginError(f"a plugin named '{name}' is there already: choose another name")
            info = PluginInfo(name, "registered by hand", "", type(plugin).__name__)
            self._loaded[name] = self._accept(plugin, info, getattr(plugin, "RLENV_API", API))

    def unregister(self, name: str) -> None:
        """Forget a plugin that was registered by hand or loaded."""
        with self._lock:
            if self._loaded.pop(name, None) is not None and self.manager.has_plugin(name):
                self.manager.unregister(name=name)

    def info(self, name: str) -> PluginInfo:
        """What is known of a plugin so far, without loading it.

        Raises:
            PluginError: when there is none of this name.
        """
        known = self._known()
        if name not in known:
            hint = suggest(name, known, what="installed are")
            raise PluginError(f"no plugin '{name}' is installed; {hint}")
        return known[name]

    def infos(self) -> list[PluginInfo]:
        """All plugins by name; ``error`` and ``api`` are known of those that were loaded."""
        return sorted(self._known().values(), key=attrgetter("name"))

    def load(self, name: str) -> Any:
        """The plugin's module (or the object registered by hand).

        Raises:
            PluginError: when it is not installed, doubled, broken, or built for another hook
                version.
        """
        info = self._loaded.get(name) or self.info(name)
        if info.api is None and info.error is None:
            info = self._loaded[name] = self._import(info)
        if info.error is not None:
            raise PluginError(info.error.partition("\n")[0])
        return self.manager.get_plugin(name)

    def stages(self, plugin: str) -> dict[str, object]:
        """Short name → stage class or ``"module:Class"``, as the plugin gives them.

        Raises:
            PluginError: as ``load`` does, or when the hook itself fails.
        """
        return self.supplied(plugin, "rlenv_stages")

    def stage_type(self, use: str) -> Any:
        """The class that ``use = "plugin/short"`` names.

        Raises:
            PluginError: when the plugin or the stage is missing or broken; the message says what to
                do.
        """
        plugin, _, short = use.partition("/")
        if not plugin or not short:
            # Plugins are imported to find the owner of a name, and not for what can be none.
            known = self._known() if _is_word(use) else ()
            owners = [f"'{name}/{use}'" for name in known if use in self._shorts(name)]
            hint = f"; did you mean {' or '.join(owners)}?" if owners else ""
            raise PluginError(f"a stage is plugin/short, as in 'core/equal', not {use!r}{hint}")
        found = self._pick(plugin, self.stages(plugin), short, f"stage '{short}'", "it has")
        if not callable(found):
            raise PluginError(f"{self.info(plugin)}: stage '{use}' is {found!r:.80}, not a class")
        return found

    def parts(self, port: str, name: str) -> Any:
        """What a plugin supplies for a port: ``parts("sandbox", "jail")`` is ``sandbox/jail``.

        Raises:
            PluginError: when the plugin or the part is missing or broken.
        """
        plugin, short = name.split("/", 1) if "/" in name else (port, name)
        offered = self.supplied(plugin, "rlenv_parts").get(port) or {}
        what = f"'{short}' for the port '{port}'"
        return self._pick(plugin, offered, short, what, f"its parts for '{port}'")

    def observer(self, name: str) -> object:
        """The plugin of this name, loaded; it has at least one observing hook.

        Raises:
            PluginError: when it cannot be loaded or observes nothing.
        """
        plugin = self.load(name)
        if not any(hook_of(plugin, hook) for hook in OBSERVERS):
            raise PluginError(f"{self.info(name)} observes nothing: no {' or '.join(OBSERVERS)}")
        return plugin

    def supplied(self, name: str, hook: str) -> dict[str, Any]:
        """What a plugin's hook gives, as ``supplied("math", "rlenv_examples")``.

        Empty where it has none.

        Raises:
            PluginError: as ``load`` does, or when the hook itself fails.
        """
        who = f"{self.info(name)}: {hook}()"
        function = hook_of(self.load(name), hook)
        with blamed(f"{who} failed"):
            result = {} if function is None else function()
        if not isinstance(result, Mapping):
            raise PluginError(f"{who} returned {type(result).__name__}, not a mapping")
        return dict(result)

    def _pick(self, plugin: str, offered: dict[str, Any], short: str, what: str, are: str) -> Any:
        if short not in offered:
            hint = suggest(short, offered, what=are)
            raise PluginError(f"{self.info(plugin)} has no {what}; {hint}".rstrip("; "))
        target = offered[short]
        with blamed(f"{self.info(plugin)}: {what} ({target}) failed to load"):
            return resolve(target) if isinstance(target, str) else target

    def _import(self, info: PluginInfo) -> PluginInfo:
        try:
            with blamed(f"{info} failed to load"):
                plugin = (resolve if ":" in info.target else import_module)(info.target)
                api = getattr(plugin, "RLENV_API", None)
            return self._accept(plugin, info, api)
        except PluginError as error:
            trace = format_exception(error.__cause__) if error.__cause__ else ()
            return evolve(info, error="\n".join([str(error), *trace]))

    def _accept(self, plugin: object, info: PluginInfo, api: Any) -> PluginInfo:
        """Register a plugin whose contract is right."""
        problem = api_problem(info, api) or "; ".join(hook_problems(plugin, self.manager))
        if problem:
            raise PluginError(f"{info}: {problem}")
        with self._lock, blamed(f"{info}: pluggy rejects it"):  # held for no import
            if self.manager.get_plugin(info.name) is not plugin:  # another thread was first
                self.manager.register(plugin, info.name)
        return evolve(info, api=api)

    def _known(self) -> dict[str, PluginInfo]:
        """What is installed and what was registered, by name."""
        return {**installed(), **self._loaded}

    def _shorts(self, plugin: str) -> Iterable[str]:
        with suppress(PluginError):
            return self.stages(plugin)
        return ()


def _is_word(text: str) -> bool:
    return text.replace("-", "_").isidentifier()


def part(port: str, name: str) -> object:
    """What a plugin supplies for a port: ``part("sandbox", "jail")`` is ``sandbox/jail``.

    Args:
        port: one of those that ``rlenv_parts`` names.
        name: ``plugin/part``, or the part alone where the plugin is called as the port is.

    Raises:
        PluginError: when the plugin or the part is missing or broken.
    """
    return _REGISTRY.parts(port, name)


def load_entry(entry: PluginInfo, what: str) -> Any:
    """The object that an entry point names; messages call it ``what``.

    Raises:
        PluginError: when two distributions claim it, or it does not load.
    """
    if entry.error:
        raise PluginError(entry.error)
    with blamed(f"{what} ({entry.distribution} {entry.version}): {entry.target} does not load"):
        return resolve(entry.target)


def signatures() -> dict[str, Signature]:
    """The signatures that adapters of trainers register, by trainer; a broken one is left out."""
    found: dict[str, Signature] = {}
    for name, entry in by_name("rlenv.signatures").items():
        with suppress(PluginError):
            signature = load_entry(entry, f"the signature {name!r}")
            if isinstance(signature, Signature):
                found[name] = signature
    return found


def resolve(target: str) -> object:
    """The object that ``"module:attribute"`` names; imports the module.

    Raises:
        ValueError: when the text has no such form.
        ImportError, AttributeError: when it is not there.
    """
    module, _, attribute = target.partition(":")
    if not module or not attribute:
        raise ValueError(f'a target is written "module:name", not {target!r}')
    return attrgetter(attribute)(import_module(module))


def makers_of(kind: type, use: str) -> list[str]:
    """The stages, among those of the plugin that ``use`` names, that make an artifact of this
    type.
    """
    plugin = use.partition("/")[0]
    known = registry()
    found = []
    for short in sorted(known._shorts(plugin)):
        with suppress(PluginError):
            if kind in getattr(known.stage_type(f"{plugin}/{short}"), "makes", ()):
                found.append(f"{plugin}/{short}")
    return found


_REGISTRY = Registry()
os.register_at_fork(after_in_child=_REGISTRY._lock._at_fork_reinit)  # type: ignore[attr-defined]


def registry() -> Registry:
    """The registry of this process."""
    return _REGISTRY
