"""The content of packages, as hashes of their files."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

# What interpreters, tools and version control keep in a package's folder; no code reads it.
SKIPPED = frozenset({
    "__pycache__", ".git", ".hg", ".svn", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".ipynb_checkpoints", ".hypothesis",
})  # fmt: skip
COMPILED = (".pyc", ".pyo")
_hashes: dict[
    tuple[str, int, int], bytes
] = {}  # of files, by path, size and time of the last change


def content_of(package: str) -> str:
    """Hash all files of a top-level package, or the one file of a module.

    Empty for a notebook's ``__main__``.

    A file is read once a process, and again when its size or its time has changed.

    Args:
        package: the name of a package, which need not be imported yet.
    """
    digest = hashlib.sha256()
    for root in _places(package):
        for name, path in _files(root):
            encoded = os.fsencode(name)
            digest.update(b"%d\0%b\0%b" % (len(encoded), encoded, hash_of_file(path)))
    return digest.hexdigest()


def hash_of_file(path: str) -> bytes:
    """Hash one file, which is read once a process while its size and its time stay the same.

    Raises:
        OSError: it cannot be read.
    """
    stat = os.stat(path)
    key = path, stat.st_size, stat.st_mtime_ns
    if key not in _hashes:
        with open(path, "rb") as file:
            _hashes[key] = hashlib.file_digest(file, "sha256").digest()
    return _hashes[key]


def is_installed(package: str) -> bool:
    """Whether a package is in a folder of installed distributions, where a version names its
    content.
    """
    places = _places(package)
    return all(os.path.dirname(os.path.abspath(place)) in _installed() for place in places)


def _places(package: str) -> list[str]:
    """The folders of a top-level package, or the file of a module; [""] where it has neither."""
    module = sys.modules.get(package)
    if module is not None:
        return [*(getattr(module, "__path__", None) or [getattr(module, "__file__", None) or ""])]
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return [""]
    return [*(spec.submodule_search_locations or [spec.origin or ""])]


@cache
def _installed() -> frozenset[str]:
    return frozenset(map(os.path.abspath, map(sysconfig.get_path, ("purelib", "platlib"))))


def _files(root: str) -> Iterator[tuple[str, str]]:
    """The files of a folder by their relative names, in order; a file itself has the name ""."""
    if os.path.isfile(root):
        yield "", root
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            path = f"{folder}{os.sep}{name}"
            if not name.endswith(COMPILED) and os.path.isfile(path):  # no socket, no dangling link
                yield path[len(root) :], path
