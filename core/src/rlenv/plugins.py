"""Plugins: found by their metadata, loaded when named, kept apart when broken."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any

from attrs import evolve

from .errors import PluginError
from .metadata import GROUP, PluginInfo, installed
from .near import nearest, suggest

if TYPE_CHECKING:
    from pluggy import PluginManager

__all__ = ["PluginInfo", "Registry", "installed", "makers_of", "registry", "resolve"]

OBSERVERS = ("rlenv_stage_finished", "rlenv_verdict")


class Registry:
    """The plugins of this process.  Loading one imports its module; its stages wait until they are used."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._plugins: dict[str, Any] = {}
        self._infos: dict[str, PluginInfo] = {}  # what loading told
        self._refused: dict[str, str] = {}  # why loading failed, in one line
        self._pluggy: PluginManager | None = None

    def register(self, plugin: object, name: str) -> None:
        """Register a module or an object with hooks by hand, for tests and notebooks.

        Raises:
            PluginError: when the name is taken or the plugin's hooks are wrong.
        """
        with self._lock:
            if name in self._plugins or name in installed():
                raise PluginError(f"a plugin named '{name}' is there already: choose another name")
            info = PluginInfo(name, "registered by hand", "", type(plugin).__name__)
            api = getattr(plugin, "RLENV_API", None)
            self._accept(
                plugin, evolve(info, api=_api_number(info, api) if api is not None else None)
            )

    def unregister(self, name: str) -> None:
        """Forget a plugin that was registered by hand or loaded."""
        with self._lock:
            plugin = self._plugins.pop(name, None)
            self._infos.pop(name, None)
            if plugin is not None:
                self._manager().unregister(plugin)

    def info(self, name: str) -> PluginInfo:
        """What is known of a plugin so far, without loading it.

        Raises:
            PluginError: when there is none of this name.
        """
        known = self._infos.get(name) or installed().get(name)
        if known is None:
            raise PluginError(self._unknown(name))
        return known

    def infos(self, *, load: bool = False) -> list[PluginInfo]:
        """All plugins by name; with ``load`` each is tried, so that ``error`` and ``api`` are known."""
        names = sorted({*installed(), *self._infos})
        for name in names if load else ():
            try:
                self.load(name)
            except PluginError:
                continue
        return [self.info(name) for name in names]

    def load(self, name: str) -> Any:
        """The plugin's module (or the object registered by hand).

        Raises:
            PluginError: when it is not installed, doubled, broken, or built for another hook version.
        """
        plugin = self._plugins.get(name)
        if plugin is not None:
            return plugin
        with self._lock:
            info = self.info(name)
            if info.error is not None:
                raise PluginError(self._refused.get(name, info.error))
            if name not in self._plugins:
                self._import(info)
            return self._plugins[name]

    def stages(self, plugin: str) -> dict[str, Any]:
        """Short name → stage class or ``"module:Class"``, as the plugin gives them.

        Raises:
            PluginError: as ``load`` does, or when the hook itself fails.
        """
        return self.supplied(plugin, "rlenv_stages")

    def stage_type(self, use: str) -> Any:
        """The class that ``use = "plugin/short"`` names.

        Raises:
            PluginError: when the plugin or the stage is missing or broken; the message says what to do.
        """
        plugin, slash, short = use.partition("/")
        if not slash or not plugin or not short:
            raise PluginError(self._not_a_path(use))
        stages = self.stages(plugin)
        if short not in stages:
            hint = suggest(short, stages, what="it has")
            raise PluginError(f"{self.info(plugin)} has no stage '{short}'; {hint}".rstrip("; "))
        found = self._resolve(plugin, stages[short], f"stage '{use}'")
        if not callable(found):
            raise PluginError(f"{self.info(plugin)}: stage '{use}' is {found!r:.80}, not a class")
        return found

    def parts(self, port: str, name: str) -> Any:
        """What a plugin supplies for a port: ``parts("sandbox", "jail")`` is ``sandbox/jail``.

        Raises:
            PluginError: when the plugin or the part is missing or broken.
        """
        plugin, slash, short = name.partition("/")
        if not slash:
            plugin, short = port, name
        ports = self.supplied(plugin, "rlenv_parts")
        offered = ports.get(port) or {}
        if short not in offered:
            hint = suggest(short, offered, what=f"its parts for '{port}'")
            raise PluginError(
                f"{self.info(plugin)} has no '{short}' for the port '{port}'; {hint}".rstrip("; ")
            )
        return self._resolve(plugin, offered[short], f"part '{plugin}/{short}'")

    def observers(self, names: Iterable[str]) -> list[Any]:
        """The plugins named, loaded; each has at least one observing hook.

        Raises:
            PluginError: when one cannot be loaded or observes nothing.
        """
        found = [(name, self.load(name)) for name in names]
        for name, plugin in found:
            if not self._functions(plugin, *OBSERVERS):
                raise PluginError(
                    f"{self.info(name)} observes nothing: it has no {' or '.join(OBSERVERS)}"
                )
        return [plugin for _, plugin in found]

    def _import(self, info: PluginInfo) -> None:
        from importlib import import_module

        try:
            module = import_module(info.target.partition(":")[0])
            attribute = info.target.partition(":")[2]
            plugin = getattr(module, attribute) if attribute else module
            api = _api_number(info, getattr(plugin, "RLENV_API", None))
            self._accept(plugin, evolve(info, api=api))
        except PluginError as error:
            self._infos[info.name] = evolve(info, error=str(error))
            raise
        except (Exception, SystemExit) as error:
            from traceback import format_exc

            self._infos[info.name] = evolve(info, error=format_exc())
            self._refused[info.name] = f"{info} failed to load: {_cause(error)}"
            raise PluginError(self._refused[info.name]) from error

    def _accept(self, plugin: Any, info: PluginInfo) -> None:
        manager = self._manager()
        problems = list(_hook_problems(plugin, manager))
        if not problems:
            try:
                manager.register(plugin, info.name)
            except Exception as error:  # noqa: BLE001 - pluggy refuses with several types
                problems = [" ".join(str(error).split())]
        if problems:
            raise PluginError(f"{info}: {'; '.join(problems)}")
        self._plugins[info.name] = plugin
        self._infos[info.name] = info

    def _manager(self) -> PluginManager:
        if self._pluggy is None:
            from pluggy import PluginManager

            from . import hooks

            self._pluggy = PluginManager(GROUP)
            self._pluggy.add_hookspecs(hooks)
        return self._pluggy

    def supplied(self, name: str, hook: str) -> dict[str, Any]:
        """What a plugin's hook gives, as ``supplied("math", "rlenv_examples")``; empty where it has none.

        Raises:
            PluginError: as ``load`` does, or when the hook itself fails.
        """
        functions = self._functions(self.load(name), hook)
        try:
            result = functions[0]() if functions else {}
        except (Exception, SystemExit) as error:
            raise PluginError(f"{self.info(name)}: {hook}() failed: {_cause(error)}") from error
        if not isinstance(result, Mapping):
            raise PluginError(
                f"{self.info(name)}: {hook}() returned {type(result).__name__}, not a mapping"
            )
        return dict(result)

    def _functions(self, plugin: Any, *hooks: str) -> list[Any]:
        callers = [getattr(self._manager().hook, hook) for hook in hooks]
        impls = [impl for caller in callers for impl in caller.get_hookimpls()]
        return [impl.function for impl in impls if impl.plugin is plugin]

    def _resolve(self, name: str, target: Any, what: str) -> Any:
        if not isinstance(target, str):
            return target
        try:
            return resolve(target)
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"{self.info(name)}: {what} ({target}) failed to load: {_cause(error)}"
            ) from error

    def _unknown(self, name: str) -> str:
        known = {*installed(), *self._plugins}
        near = nearest(name, known)
        hint = f"did you mean '{near}'? Else: " if near else ""
        return f"no plugin '{name}' is installed; {hint}pip install rlenv-plugin-{name}"

    def _not_a_path(self, use: str) -> str:
        message = f"a stage is named plugin/short, as in 'core/equal', not {use!r}"
        owners = [n for n in ("core", *self._plugins) if use in self.stages(n)]
        return f"{message}; did you mean '{owners[0]}/{use}'?" if owners else message


def _api_number(info: PluginInfo, api: Any) -> int:
    from .hooks import API

    if api is None:
        raise PluginError(
            f"{info} does not say which rlenv it is for: add RLENV_API = {API} to {info.target}"
        )
    if isinstance(api, bool) or not isinstance(api, int) or api < 1:
        raise PluginError(
            f"{info}: RLENV_API is {api!r}, not a whole number from 1; write RLENV_API = {API}"
        )
    if api > API:
        raise PluginError(
            f"{info} is built for hook version {api}, this rlenv has hook version {API}: "
            f"upgrade rlenv or install an older {info.distribution}"
        )
    return api


def _hook_problems(plugin: Any, manager: PluginManager) -> Iterable[str]:
    """What pluggy would ignore: a misspelt hook, and one without its marker."""
    known = [name for name in vars(manager.hook) if name.startswith("rlenv_")]
    for name in dir(plugin):
        value = getattr(plugin, name) if name.startswith("rlenv_") else None
        options = getattr(value, "rlenv_impl", None)
        if options is None and name in known and callable(value):
            yield f"{name} is no hook yet: write @rlenv.hookimpl above it"
        elif isinstance(options, dict) and not options.get("optionalhook"):
            hook = options.get("specname") or name
            if hook not in known:
                yield f"there is no hook {hook}; {suggest(hook, known, what='the hooks are')}"


def _cause(error: BaseException) -> str:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" ({place.tb_frame.f_code.co_filename}:{place.tb_lineno})" if place is not None else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


def resolve(target: str) -> Any:
    """The object that ``"module:attribute"`` names; imports the module.

    Raises:
        ValueError: when the text has no such form.
        ImportError, AttributeError: when it is not there.
    """
    module, colon, attribute = target.partition(":")
    if not colon or not module or not attribute:
        raise ValueError(f'a target is written "module:name", not {target!r}')
    __import__(module)
    found: Any = sys.modules[module]
    for name in attribute.split("."):
        found = getattr(found, name)
    return found


def makers_of(kind: type, use: str) -> list[str]:
    """The stages, among those of the plugin that ``use`` names, that make an artifact of this type."""
    plugin = use.partition("/")[0]
    try:
        shorts = sorted(registry().stages(plugin)) if plugin else []
    except PluginError:
        return []
    return [f"{plugin}/{short}" for short in shorts if kind in _makes(f"{plugin}/{short}")]


def _makes(use: str) -> tuple[type, ...]:
    try:
        return tuple(getattr(registry().stage_type(use), "makes", ()))
    except PluginError:
        return ()


_REGISTRY = Registry()


def registry() -> Registry:
    """The registry of this process."""
    return _REGISTRY
