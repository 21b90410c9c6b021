"""What a container is made of: an image with the guest in it, and this machine's system bound
read-only.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from rlenv.sandbox import Profile

from rlenv_plugin_sandbox.jail.setup import interpreter, prefixes

__all__ = ["BOX", "GUEST", "Layer", "binds", "layer"]

GUEST = "/rlenv"
BOX = "/box"
_GUEST = Path(__file__).parents[1] / "guest"
_SYSTEM = ("bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr")
_SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/mime.types")
_EMPTY = ("dev", "etc", "proc", "sys", "tmp")
_PEOPLE = {
    "etc/passwd": b"root:x:0:0:root:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
}


@frozen
class Layer:
    """Files of an image as a tar archive, and a name by their content."""

    data: bytes
    name: str


def layer(profile: Profile, *, whole: bool) -> Layer:
    """The guest and the profile's files.

    With ``whole`` also the folders of a root that others are bound to.
    """
    files = dict(_guest())
    files |= {f"{BOX[1:]}/{name}": content for name, content in profile.files}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        if whole:
            files |= _PEOPLE
            _root(tar)
        for folder in sorted(_folders(files) | {BOX[1:]}):
            tar.addfile(_entry(folder, tarfile.DIRTYPE, 0o755))
        for name, content in sorted(files.items()):
            entry = _entry(name, tarfile.REGTYPE, 0o755 if name.endswith(".sh") else 0o644)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    data = buffer.getvalue()
    return Layer(data, hashlib.sha256(data).hexdigest()[:20])


def _guest() -> Iterator[tuple[str, bytes]]:
    for path in sorted(_GUEST.glob("*.py")):
        yield f"{GUEST[1:]}/{path.name}", path.read_bytes()


def _root(tar: tarfile.TarFile) -> None:
    for name in _EMPTY:
        tar.addfile(_entry(name, tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755))
    for name in _SYSTEM:
        if Path("/", name).is_symlink():
            entry = _entry(name, tarfile.SYMTYPE, 0o777)
            entry.linkname = os.readlink(f"/{name}")
            tar.addfile(entry)


def _folders(names: dict[str, bytes]) -> set[str]:
    parents = {str(parent) for name in names for parent in Path(name).parents}
    return parents - {"."} - set(_EMPTY)


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.mode = mode
    return entry


def binds(profile: Profile, extra: tuple[str, ...], *, whole: bool) -> list[str]:
    """The folders and files of this machine that a container sees read-only, at their own place."""
    found = [*profile.paths]
    if whole:
        own = [f"/{n}" for n in _SYSTEM if Path("/", n).is_dir() and not Path("/", n).is_symlink()]
        settings = [path for path in _SETTINGS if Path(path).exists()]
        found = [*own, *settings, *prefixes(interpreter(profile.runtime)), *extra, *found]
    kept: list[str] = []
    for path in sorted(dict.fromkeys(found)):
        if not any(path.startswith(f"{above}/") for above in kept):
            kept.append(path)
    return kept
