"""The packages and modules of rlenv-serve form layers: arrows point down only."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import rlenv_serve
from modules import cycle, import_graph

LAYERS = 8
PACKAGE = Path(rlenv_serve.__file__).parent


@cache
def rooms() -> dict[str, frozenset[str]]:
    """Each package or module directly below rlenv_serve, and those that its files import."""
    found: dict[str, set[str]] = {}
    for name, imported in import_graph(PACKAGE.parent).items():
        room = found.setdefault(_room(name), set())
        room |= {_room(each) for each in imported} - {_room(name)}
    return {name: frozenset(others) for name, others in found.items() if name}


def _room(module: str) -> str:
    """The package or module below rlenv_serve; "" for rlenv_serve itself, which only re-exports."""
    return ".".join(module.split(".")[1:2])


@cache
def _layer(room: str) -> int:
    below = rooms()[room] - {""}
    return 1 + max((_layer(each) for each in below), default=0)


def test_no_package_imports_one_that_imports_it() -> None:
    assert cycle(rooms()) == []


def test_the_layers_are_few() -> None:
    assert max(map(_layer, rooms())) <= LAYERS
