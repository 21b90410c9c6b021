"""What is installed, read from ``*.dist-info`` folders; nothing of it is imported.

``importlib.metadata`` costs more than the rest of ``import rlenv`` together, so plain folders are read
here; a zip, an egg or a foreign finder on the path hands over to it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache

from attrs import frozen

GROUP = "rlenv"


@frozen
class Entry:
    """One entry point: ``name = target`` of a distribution."""

    name: str
    target: str
    distribution: str
    version: str


def entries(group: str) -> tuple[Entry, ...]:
    """The entry points of a group, of everything on ``sys.path``; cached until the path changes."""
    return _entries(group, tuple(sys.path))


def version(distribution: str) -> str | None:
    """The installed version of a distribution, None when it is not installed."""
    found = _distributions(tuple(sys.path)).get(_normal(distribution))
    return None if found is None else found[1]


@frozen
class PluginInfo:
    """One installed plugin, as its metadata tells.

    Args:
        name: the name that ``use`` begins with.
        distribution, version: what ``pip`` calls it; several, joined, when several claim the name.
        target: the module of the entry point.
        error: why it cannot be used, with the traceback where its import failed; None while unknown or well.
        api: its ``RLENV_API``; None before it is loaded.
    """

    name: str
    distribution: str
    version: str
    target: str
    error: str | None = None
    api: int | None = None

    def __str__(self) -> str:
        return f"plugin '{self.name}' ({self.distribution} {self.version})"


def installed() -> dict[str, PluginInfo]:
    """Every plugin on ``sys.path`` by name; reads metadata, imports nothing, never raises."""
    claims: dict[str, list[PluginInfo]] = {
        "core": [PluginInfo("core", "rlenv", version("rlenv") or "0", "rlenv.core_plugin")]
    }
    for e in entries(GROUP):
        info = PluginInfo(e.name, e.distribution, e.version, e.target)
        claims.setdefault(e.name, []).append(info)
    return {name: _one(claims[name]) for name in sorted(claims)}


def _one(claims: list[PluginInfo]) -> PluginInfo:
    if len(claims) == 1:
        return claims[0]
    who = " and ".join(f"{c.distribution} {c.version}" for c in claims)
    return PluginInfo(
        claims[0].name,
        ", ".join(c.distribution for c in claims),
        ", ".join(c.version for c in claims),
        ", ".join(c.target for c in claims),
        f"two distributions claim the name '{claims[0].name}': {who}; neither is used, uninstall one",
    )


@cache
def _entries(group: str, path: tuple[str, ...]) -> tuple[Entry, ...]:
    return tuple(
        Entry(name, target, distribution, number)
        for distribution, number, text in _distributions(path).values()
        if group in text
        for name, target in _section(text, group)
    )


def _section(text: str, group: str) -> Iterator[tuple[str, str]]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, target = line.partition("=")
            yield name.strip(), target.partition("[")[0].strip()


@cache
def _distributions(path: tuple[str, ...]) -> dict[str, tuple[str, str, str]]:
    """Normalized name → (name, version, text of entry_points.txt); the first on the path counts."""
    found: dict[str, tuple[str, str, str]] = {}
    try:
        for name, number, text in _in_folders(path) if _plain(path) else _by_importlib():
            found.setdefault(_normal(name), (name, number, text))
    except NotADirectoryError:
        return {_normal(row[0]): row for row in reversed(list(_by_importlib()))}
    return found


def _plain(path: tuple[str, ...]) -> bool:
    """Whether plain folders are all there is."""
    from importlib.machinery import PathFinder

    foreign = any(hasattr(f, "find_distributions") and f is not PathFinder for f in sys.meta_path)
    return not foreign and not any(place.endswith(".egg") for place in path)


def _in_folders(path: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    for place in path:
        try:
            names = sorted(os.listdir(place or "."))
        except NotADirectoryError:
            raise
        except OSError:
            continue
        for name in names:
            stem, dot, _ = name.rpartition(".")
            if name.endswith((".dist-info", ".egg-info")) and dot:
                folder = os.path.join(place, name)
                title, _, number = stem.partition("-")
                text = _read(os.path.join(folder, "entry_points.txt"))
                if "[rlenv" in text or not number:
                    title, number = _named(folder, title, number)
                yield title, number.partition("-py")[0], text


def _named(folder: str, name: str, number: str) -> tuple[str, str]:
    """Name and version as the distribution writes them itself."""
    text = _read(os.path.join(folder, "METADATA")) or _read(os.path.join(folder, "PKG-INFO"))
    head = dict(line.split(": ", 1) for line in text.split("\n\n")[0].splitlines() if ": " in line)
    return head.get("Name", name).strip(), head.get("Version", number).strip()


def _by_importlib() -> Iterator[tuple[str, str, str]]:
    from importlib.metadata import distributions

    for found in distributions():
        name = found.metadata["Name"]
        if name:
            yield name, found.version, found.read_text("entry_points.txt") or ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
