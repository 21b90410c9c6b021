"""Entries that a workspace holds, so that two moments of it can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from attrs import field, frozen
from rlenv.sandbox import Entry, Workspace

FOLDER = "folder"  # the mark of an empty folder; no sha256 is like it
LINK = "link to "


@frozen
class Listing:
    """The entries that a workspace has at one moment.

    Args:
        marks: by path, the sha256 of a file, ``link to …`` for a link, and ``folder`` for an empty
            folder.
        folders: all folders.
        executable: the files that their owner may execute.
    """

    marks: Mapping[str, str] = field(factory=dict)
    folders: frozenset[str] = frozenset()
    executable: frozenset[str] = frozenset()

    def changed(self, now: Listing) -> dict[str, str | None]:
        """Return what is different, by path; None for what is gone.

        A folder counts where it is empty and new, or was empty and is gone; one that files left
        empty does not.

        Args:
            now: a later moment.
        """
        paths = sorted(now.marks.keys() | self.marks.keys())
        found = {
            path: now.marks.get(path)
            for path in paths
            if now.marks.get(path) != self.marks.get(path)
        }
        return {path: mark for path, mark in found.items() if not self._is_old_folder(path, now)}

    def _is_old_folder(self, path: str, now: Listing) -> bool:
        return path in self.folders and path in now.folders

    def modes(self, now: Listing) -> dict[str, bool]:
        """Return whether a file may be executed, by path, where that has changed.

        Args:
            now: a later moment.
        """
        files = [path for path, mark in now.marks.items() if mark != FOLDER]
        return {
            path: path in now.executable
            for path in sorted(files)
            if (path in now.executable) != (path in self.executable)
        }


async def listing(workspace: Workspace) -> Listing:
    """Return the present entries of a workspace.

    Args:
        workspace: of an episode.
    """
    entries = await workspace.list()
    folders = frozenset(each.path for each in entries if each.kind == "directory")
    parents = {each.path.rpartition("/")[0] for each in entries}
    marks = dict.fromkeys(folders - parents, FOLDER)
    for each in entries:
        if each.kind != "directory":
            marks[each.path] = await _mark(workspace, each)
    executable = frozenset(each.path for each in entries if each.executable)
    return Listing(marks, folders, executable)


async def _mark(workspace: Workspace, entry: Entry) -> str:
    if entry.kind == "link":
        return LINK + entry.target
    return sha256(await workspace.read(entry.path)).hexdigest()
