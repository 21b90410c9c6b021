"""What made a verdict, as one hash: the configuration, the versions and contents of the code, the secret."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs

from .composites import Composite, Slot, is_function, target_of
from .metadata import version
from .record import dumps, plain
from .secret import key_id

if TYPE_CHECKING:
    from .environment import Environment


_SHOWS_ONLY = ("cli", "report", "testing")  # folders of rlenv that make no verdict


def fingerprint(env: Environment) -> str:
    """sha256 of the canonical JSON of the resolved slots, the pass mark, what is hidden, the code and the secret's key id.

    The code is rlenv (without its command line and reports) and every package that a stage's class comes
    from, by the bytes of its files; so an edit counts even where a version stood still.
    """
    stages = [slot.stage for slot in _leaves(env.root)]
    packages = sorted(
        {"rlenv", *(target_of(stage).partition(":")[0].partition(".")[0] for stage in stages)}
        - {""}
    )
    canonical = {
        "root": _composite(env.root),
        "pass_mark": env.pass_mark,
        "thinking": env.thinking,
        "code": {package: [version(package), _content(package)] for package in packages},
        "key": key_id(),
    }
    return hashlib.sha256(dumps(_sorted(canonical)).encode()).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _leaves(composite: Composite) -> Iterator[Slot]:
    for slot in composite.slots:
        if isinstance(slot.stage, Composite):
            yield from _leaves(slot.stage)
        else:
            yield slot


def _composite(composite: Composite) -> dict[str, Any]:
    own = {
        key: value
        for key, value in vars(composite).items()
        if not key.startswith("_") and key != "slots"
    }
    return {
        "composite": type(composite).__qualname__,
        "options": plain(own),
        "slots": [_slot(slot) for slot in composite.slots],
    }


def _slot(slot: Slot) -> dict[str, Any]:
    nested = isinstance(slot.stage, Composite)
    shared = {
        "name": slot.name,
        "weight": float(slot.weight),
        "gate": None if slot.gate is None else float(slot.gate),
        "penalty": float(slot.penalty),
        "bonus": float(slot.bonus),
        "timeout": None if slot.timeout is None else float(slot.timeout),
    }
    if nested:
        return {**shared, "stage": _composite(slot.stage)}
    if is_function(slot.stage):
        from .functions import makeup

        options = plain([_options(slot.stage), makeup(slot.stage.function)])
        return {**shared, "function": slot.stage.target, "options": options}
    return {**shared, "class": target_of(slot.stage), "options": _options(slot.stage)}


def _options(stage: object) -> Any:
    cls: type[Any] = type(stage)
    if attrs.has(cls):
        own = {field.name: getattr(stage, field.name) for field in attrs.fields(cls)}
        return plain(own)
    own = getattr(stage, "__dict__", {})
    return plain({key: value for key, value in own.items() if not key.startswith("_")})


@cache
def _content(package: str) -> str:
    """Hash of a package's Python files; of a notebook's ``__main__`` there is none to take."""
    module = sys.modules.get(package)
    paths = list(getattr(module, "__path__", ())) or [getattr(module, "__file__", None) or ""]
    digest = hashlib.sha256()
    for root in paths:
        for path in _files(root, _SHOWS_ONLY if package == "rlenv" else ()):
            with open(path, "rb") as file:
                content = file.read()
            digest.update(f"{os.path.relpath(path, root)}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _files(root: str, without: Sequence[str]) -> Iterator[str]:
    if os.path.isfile(root):
        yield root
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(folder for folder in folders if folder not in without)
        for name in sorted(names):
            if name.endswith((".py", ".json", ".toml")):
                yield os.path.join(folder, name)
