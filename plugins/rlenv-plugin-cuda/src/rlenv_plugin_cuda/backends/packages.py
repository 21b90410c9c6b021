"""numba and numpy inside a sandbox: their folders, and nothing that is installed beside them."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["PACKAGES", "folders", "where"]

PACKAGES = ("llvmlite", "numba", "numpy")


@cache
def folders() -> tuple[str, ...]:
    """The folders that a program may read; none where one of the packages is not installed."""
    specs = [find_spec(name) for name in PACKAGES]
    found = [Path(spec.origin).parent for spec in specs if spec and spec.origin]
    if len(found) < len(PACKAGES):
        return ()
    libraries = [path.with_name(f"{path.name}.libs") for path in found]
    return tuple(str(path) for path in (*found, *(each for each in libraries if each.is_dir())))


def where() -> tuple[str, bytes]:
    """A module that makes them importable on the far side, before it is asked for numba."""
    parents = sorted({str(Path(folder).parent) for folder in folders()})
    return (
        "kernel_packages.py",
        f"import sys\nFOLDERS = {parents!r}\nsys.path += FOLDERS\n".encode(),
    )
