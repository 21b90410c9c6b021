"""The content of a workspace as plain data, and the stream of entries in which it travels.

What a guest or a server sends may be anything: every path, kind and size is checked before it is
believed.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from attrs import frozen
from rlenv.sandbox import Entry, Profile, WorkspaceError

from .guest import tree

__all__ = [
    "END", "Damaged", "Node", "Tree", "check", "decode", "digest", "encode", "entry", "file_at",
    "longest", "normal", "placed",
]  # fmt: skip

END = tree.ENTRY.pack(0, tree.WHOLE, 0)
_KINDS: dict[int, Literal["directory", "link"]] = {tree.FOLDER: "directory", tree.LINK: "link"}


class Damaged(ValueError):
    """Not the content of a workspace."""


@frozen(slots=False)
class Node:
    """What lies at a path: its mode with its type, and the bytes of a file or the target of a
    link.
    """

    mode: int
    content: bytes = b""

    @cached_property
    def digest(self) -> bytes:
        return hashlib.sha256(self.content).digest()


Tree = Mapping[str, Node]


def entry(path: str, node: Node) -> Entry:
    """It as the port shows it."""
    if node.mode in _KINDS:
        return Entry(path, _KINDS[node.mode], target=node.content.decode())
    return Entry(path, "file", len(node.content), node.mode == tree.EXECUTABLE)


def longest(profile: Profile) -> int:
    """Bytes of the longest stream of entries."""
    each = tree.ENTRY.size + tree.PATH_MOST
    return (profile.workspace_mb << 20) + (profile.workspace_files + 1) * each


def check(content: Tree, profile: Profile) -> None:
    """Raises:
    WorkspaceError: this is more than a workspace of the profile may hold.
    """
    used = sum(tree.room(node.mode, len(node.content)) for node in content.values()) / (1 << 20)
    if used > profile.workspace_mb or len(content) > profile.workspace_files:
        held = (
            f"{profile.workspace_mb} MiB in {profile.workspace_files:,} files, directories and"
            " links"
        )
        raise WorkspaceError(
            f"no room: {used:.4g} MiB, in pages, in {len(content):,}; it holds {held}"
        )


def normal(path: str) -> str:
    """A path in the form in which a workspace keeps it.

    Raises:
        WorkspaceError: it leads out, or no file can have it.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    found = "/".join(parts)
    said = ""
    if path.startswith("/") or ".." in parts or not parts:
        said = "inside the workspace, relative and without '..'"
    elif "\0" in path or found.encode(errors="replace").decode() != found:
        said = "of Unicode text without NUL and lone surrogates"
    elif len(found.encode()) > tree.PATH_MOST or len(parts) > tree.DEPTH_MOST:
        said = f"of at most {tree.PATH_MOST} bytes and {tree.DEPTH_MOST} parts"
    if said:
        raise WorkspaceError(f"{path[:200]!r}: a path {said} is expected")
    return found


def file_at(content: Tree, path: str) -> bytes:
    """What is in the regular file at a path.

    Raises:
        WorkspaceError: there is none.
    """
    path = normal(path)
    node = content.get(path)
    if node is None:
        raise WorkspaceError(f"{path!r}: there is no such file, and no link is followed")
    if node.mode in _KINDS:
        to = f" to {node.content.decode()!r}" if node.content else ""
        raise WorkspaceError(f"{path!r} is a {_KINDS[node.mode]}{to}; a file is expected")
    return node.content


def placed(content: Tree, path: str, data: bytes, *, executable: bool) -> Tree:
    """This content with a file more, or another in its place, and the directories above it.

    Raises:
        WorkspaceError: something else is there.
    """
    path = normal(path)
    made = dict(content)
    parts = path.split("/")
    for above in ("/".join(parts[:n]) for n in range(1, len(parts))):
        if made.setdefault(above, Node(tree.FOLDER)).mode != tree.FOLDER:
            raise WorkspaceError(f"{path!r}: {above!r} is not a directory")
    if path in made and made[path].mode == tree.FOLDER:
        raise WorkspaceError(f"{path!r} is a directory; a file is expected")
    made[path] = Node(tree.EXECUTABLE if executable else tree.FILE, bytes(memoryview(data)))
    return made


def digest(content: Tree) -> str:
    """A hash of the content: equal for equal paths, kinds, rights to execute and bytes."""
    named = {path: Node(node.mode, node.digest) for path, node in content.items()}
    return hashlib.sha256(encode(named)).hexdigest()


def encode(content: Tree) -> bytes:
    """The entries in order, each directory before what lies in it; without the last one."""
    pieces = []
    for path in sorted(content):
        node = content[path]
        name = path.encode(errors="surrogateescape")
        pieces += [tree.ENTRY.pack(len(name), node.mode, len(node.content)), name, node.content]
    return b"".join(pieces)


def decode(data: bytes, before: Tree, most: int) -> Tree:
    """The content that a stream of entries tells; what is as it was ``before`` shares its memory.

    Args:
        most: entries that a workspace may hold; of what has more, no more than one too many are
            read.

    Raises:
        WorkspaceError: the directory held more than it may.
        Damaged: it is no such stream.
    """
    found: dict[str, Node] = {}
    place = 0
    try:
        while True:
            length, mode, size = tree.ENTRY.unpack_from(data, place)
            place += tree.ENTRY.size
            if not length:
                break
            path = str(data[place : place + length], "utf-8")
            place = place + length
            node = Node(mode, data[place : place + size])
            place = place + size
            if place > len(data) or not _fits(path, node, found):
                raise Damaged(f"{path[:200]!r}, of mode {mode:o}, has no place in it")
            # Too many for any workspace: a MiB of them takes a second to read.
            if len(found) > most:
                return found
            known = before.get(path)
            found[path] = known if known == node else node
    except (struct.error, UnicodeDecodeError, WorkspaceError) as error:
        raise Damaged(str(error)) from error
    if place != len(data) or size or mode not in (tree.WHOLE, tree.FULL):
        raise Damaged("its last entry is not the last")
    if mode == tree.FULL:
        raise WorkspaceError("the directory holds more than it may")
    return found


def _fits(path: str, node: Node, found: Tree) -> bool:
    """Whether such a node can be, and lie there beside those that were told before it."""
    above = path.rpartition("/")[0]
    if path in found or path != normal(path) or (above and found.get(above) != Node(tree.FOLDER)):
        return False
    if node.mode == tree.LINK:
        return bool(node.content.decode()) and b"\0" not in node.content
    return node.mode in (tree.FILE, tree.EXECUTABLE) or node == Node(tree.FOLDER)
