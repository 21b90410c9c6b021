"""Starts the target's process under another Python, which has nothing of ours: ``PYTHON boot.py IN
OUT PLACES``.

A verifier of somebody else lives in an environment of its own.  What asks it there is pure Python,
so it is lent from here: PLACES says as JSON where the packages of ``LENT`` are.  What that
environment has itself comes first, and nothing else of this one can be imported there.  Standard
library only.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

__all__ = ["LENT", "command", "main"]

LENT = ("rlenv_auditor", "rlenv_testing", "rlenv_cli", "rlenv", "attrs", "attr")
OLDEST = (3, 11)


def command(python: str, reading: int, writing: int) -> list[str]:
    """The words that start the process of a target with this interpreter; "" is the one that runs
    this.
    """
    ends = [str(reading), str(writing)]
    if not python:
        return [sys.executable, "-m", "rlenv_auditor.target.child", *ends]
    found = {name: importlib.util.find_spec(name) for name in LENT}
    places = {
        name: os.path.dirname(spec.origin) for name, spec in found.items() if spec and spec.origin
    }
    return [python, __file__, *ends, json.dumps(places)]


class _Lent(importlib.abc.MetaPathFinder):
    """Finds the packages that are lent, and nothing beside them."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        place = self.places.get(fullname)
        if place is None:
            return None
        inside = os.path.join(place, "__init__.py")
        return importlib.util.spec_from_file_location(
            fullname, inside, submodule_search_locations=[place]
        )


def main(words: Sequence[str]) -> None:
    """Lend the packages, and be the process of a target."""
    reading = int(words[0])
    writing = int(words[1])
    if sys.version_info < OLDEST:
        has, needs = (".".join(map(str, one)) for one in (sys.version_info[:2], OLDEST))
        said = {
            "failed": (
                f"--python {sys.executable}: it is Python {has}, and {needs} or newer is needed"
            )
        }
        os.write(writing, json.dumps(said).encode() + b"\n")
        return
    sys.path[0] = os.getcwd()  # and not the folder of this file, whose neighbors have common names
    places = json.loads(words[2])
    sys.meta_path.insert(0, _Lent({"rlenv_auditor": places.pop("rlenv_auditor")}))
    sys.meta_path.append(_Lent(places))
    from rlenv_auditor.target import child

    child.main(reading, writing)


if __name__ == "__main__":
    main(sys.argv[1:])
