"""What made a verdict, as one hash: the configuration, the versions and contents of the code, the secret."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from .composites import NUMBERS, Composite, Slot, is_function, target_of
from .plan import Plan
from .plugins import DISTRIBUTION, version
from .secret import key_id
from .tasks import canonical


def fingerprint(plan: Plan, pass_mark: float, thinking: str, tables: Mapping[str, object]) -> str:
    """sha256 of the canonical JSON of the resolved slots, the pass mark, what is hidden, tables, and the code.

    Where a stage draws random inputs, the id of the secret's key too: other inputs may give other verdicts.

    The code is rlenv and every package that the class of a stage or composite comes from, by the bytes of its
    files; so an edit counts even where a version stood still.
    """
    places = [*plan.leaves, *plan.composites, plan.root]
    made_of = {
        "root": _slot(plan.root.slot)["stage"],
        "pass_mark": pass_mark,
        "thinking": thinking,
        "tables": {name: [target_of(it), _options(it)] for name, it in tables.items()},
        "code": code_of([*(place.stage for place in places), *tables.values()]),
        "key": key_id() if any(leaf.draws for leaf in plan.leaves) else None,
    }
    return hashlib.sha256(canonical(made_of).encode()).hexdigest()


def code_of(stages: Iterable[object]) -> dict[str, tuple[str | None, str]]:
    """The version and a hash of the content of rlenv, and of each package that these stages come from."""
    packages = {"rlenv", *(target_of(it).partition(":")[0].partition(".")[0] for it in stages)}
    return {
        name: (version(DISTRIBUTION if name == "rlenv" else name), _content(name))
        for name in sorted(packages)
        if name
    }


def _slot(slot: Slot) -> dict[str, object]:
    stage: Any = slot.stage
    numbers = {key: None if (n := getattr(slot, key)) is None else float(n) for key in NUMBERS}
    own = {"name": slot.name, **numbers}
    if isinstance(stage, Composite):
        made = {**_options(stage), "slots": [_slot(inner) for inner in stage.slots]}
        return {**own, "stage": {"composite": target_of(stage), "options": made}}
    if is_function(stage):
        from .functions import makeup

        parts = [_options(stage), makeup(stage.function)]
        return {**own, "function": stage.target, "options": parts}
    return {**own, "class": target_of(stage), "options": _options(stage)}


def _options(stage: Any) -> dict[str, object]:
    if attrs.has(type(stage)):
        return attrs.asdict(stage, recurse=False)
    return {k: v for k, v in getattr(stage, "__dict__", {}).items() if not k.startswith("_")}


@cache
def _content(package: str) -> str:
    """Hash of a package's Python files; of a notebook's ``__main__`` there is none to take."""
    module = sys.modules.get(package)
    digest = hashlib.sha256()
    for root in getattr(module, "__path__", None) or [getattr(module, "__file__", None) or ""]:
        for path in sorted(Path(root).rglob("*")) if os.path.isdir(root) else map(Path, [root]):
            name = path.relative_to(root)
            if (path.suffix in (".py", ".json", ".toml") or not name.parts) and path.is_file():
                content = path.read_bytes()
                digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
