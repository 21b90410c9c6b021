"""A patch that touches only the files it may."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe
from rlenv.text import Block

from rlenv_plugin_constraints.blocks import line_spans, only_block
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.diffs import Change, Unreadable, changes
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["PatchPaths", "glob_pattern"]

LABELS = ("diff", "patch", "udiff", "git")
_PARTS = re.compile(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)


def glob_pattern(glob: str) -> str:
    """A regular expression of a glob: ``*`` stays in one folder, ``**`` does not, ``src/`` is all
    within.
    """
    whole = f"{glob}**" if glob.endswith("/") else glob
    made = []
    for part in _PARTS.findall(whole):
        if part == "**/":
            made.append(r"(?:[^/]+/)*")
        elif part == "/**":
            made.append(r"/.+")
        elif part == "**":
            made.append(r".+")
        elif part == "*":
            made.append(r"[^/]*")
        elif part == "?":
            made.append(r"[^/]")
        elif part[0] == "[" and len(part) > 2:
            made.append(
                "[" + part[1:-1].replace("!", "^", 1).replace("\\", r"\\") + "]"
                if part[1] == "!"
                else part
            )
        else:
            made.append(re.escape(part))
    return "".join(made)


def _globs(_: Any, __: Any, value: tuple[str, ...]) -> None:
    for glob in value:
        if not glob or glob.startswith(("/", "./")) or ".." in glob.split("/") or "\\" in glob:
            raise ConfigError(
                f"{glob!r}: a path from the root of the repository, such as src/**/*.py"
            )
        try:
            re.compile(glob_pattern(glob))
        except re.error as err:
            raise ConfigError(f"{glob!r} is no glob: {err}") from None


def _odd(path: str) -> str:
    """Why a path is none that a patch may have, "" where it is."""
    parts = path.split("/")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "is absolute"
    if any(part in ("", ".", "..") for part in parts):
        return "goes through . or .. or an empty name"
    if "\\" in path or any(ord(c) < 32 or c == "\x7f" for c in path):
        return "has a backslash or a control character"
    if any(
        part.lower().rstrip(". ") == ".git" or part.lower().startswith("git~") for part in parts
    ):
        return "lies in .git"
    return ""


@frozen(slots=False)
class PatchPaths:
    """The response is a unified diff (git's or plain) that applies to allowed paths only.

    Both names of a rename or copy count, and so do files that are created or deleted.  A patch
    whose names do not agree, whose hunks are not as long as they say, or that changes nothing, is
    not satisfied.

    Args:
        allow: globs of the paths that it may touch; () allows all that is not forbidden.
        forbid: globs of those that it may not, whatever is allowed; letter case does not matter.
        strip: leading components that do not count, as in ``git apply -p``: 1 for ``a/`` and
            ``b/``.
        create, delete, rename, mode, binary, symlink: whether it may do that (a copy is a rename
        here). max_files: how many files it may touch. prose: whether text may be around the fenced
        block.
    """

    kind: ClassVar[str] = "patch_paths"
    is_answer: ClassVar[bool] = True
    allow: Safe[tuple[str, ...]] = field(default=(), validator=_globs)
    forbid: Safe[tuple[str, ...]] = field(default=(), validator=_globs)
    strip: int = 1
    create: bool = True
    delete: bool = True
    rename: bool = True
    mode: bool = False
    binary: bool = False
    symlink: bool = False
    max_files: int | None = None
    prose: bool = False

    def __attrs_post_init__(self) -> None:
        if not self.allow and not self.forbid:
            raise ConfigError("give allow, forbid or both")
        if both := sorted(set(self.allow) & set(self.forbid)):
            raise ConfigError(f"{both[0]!r} is both allowed and forbidden")
        if not 0 <= self.strip <= 9:
            raise ConfigError("strip lies from 0 to 9")

    @lazy
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        def any_of(globs: tuple[str, ...]) -> str:
            return "|".join(f"(?:{glob_pattern(glob)})" for glob in globs)

        allow = re.compile(any_of(self.allow) if self.allow else ".*", re.DOTALL)
        return allow, re.compile(
            any_of(self.forbid) if self.forbid else "(?!)", re.IGNORECASE | re.DOTALL
        )

    def check(self, text: Text) -> Finding:
        wanted = {"allow": list(self.allow), "forbid": list(self.forbid)}
        block = only_block(text.raw, LABELS, prose=self.prose)
        if isinstance(block, str):
            return unmet(None, wanted, note=block)
        try:
            found = changes(block.text, self.strip)
        except Unreadable as err:
            return unmet(None, wanted, _spans(text, block, [err.line]), str(err))
        paths = list(dict.fromkeys(path for change in found for path in change.paths))
        refused = {path: why for path in paths if (why := self._refused_path(path))}
        odd = [(change, why) for change in found if (why := self._refused(change, refused))]
        note = odd[0][1] if odd else self._overall(found, paths)
        lines = [change.line for change, _ in odd][:20]
        return Finding(not note, paths[:50], wanted, _spans(text, block, lines), note)

    def _refused_path(self, path: str) -> str:
        allow, forbid = self._patterns
        shown = ascii(path[:80])
        if why := _odd(path):
            return f"{shown} {why}"
        if not allow.fullmatch(path):
            return f"{shown} is not among the allowed paths"
        return f"{shown} is forbidden" if forbid.fullmatch(path) else ""

    def _refused(self, change: Change, paths: dict[str, str]) -> str:
        if why := next((paths[path] for path in change.paths if path in paths), ""):
            return why
        if not change.did:
            return ""
        may = {
            "create": self.create,
            "delete": self.delete,
            "rename": self.rename,
            "copy": self.rename,
            "mode": self.mode,
            "binary": self.binary,
            "symlink": self.symlink,
            "submodule": False,
        }
        refused = sorted(did for did in change.did if not may[did])
        return f"a {refused[0]}, which it may not do" if refused else ""

    def _overall(self, found: list[Change], paths: list[str]) -> str:
        if self.max_files is not None and len(paths) > self.max_files:
            return f"{len(paths)} files"
        idle = [
            c
            for c in found
            if not c.added
            and not c.removed
            and not c.did & {"rename", "copy", "mode", "binary", "create", "delete"}
        ]
        return "it changes nothing in a file" if idle else ""


def _spans(text: Text, block: Block, lines: list[int]) -> list[tuple[int, int]]:
    known = line_spans(text.raw, block) if lines else []
    return [known[min(line, len(known) - 1)] for line in lines]
