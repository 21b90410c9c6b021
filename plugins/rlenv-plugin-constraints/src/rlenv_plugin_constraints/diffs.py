"""Unified diffs, read strictly: which paths a patch touches, and how."""

from __future__ import annotations

import re

from attrs import define, field

__all__ = ["Change", "Unreadable", "changes"]

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_EXTENDED = re.compile(
    r"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to"
    r"|similarity index|dissimilarity index|index) (.*)\Z"
)
# What git writes before a patch.
_MAIL = re.compile(r"\s*(?:From |From:|Subject:|commit [0-9a-f]{7})")
_OTHER = ("*** ", "Index:", "Prereq:", "diff --cc", "diff --combined", "@@@", "Only in ", "====")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, '"': 34, "\\": 92}
_ESCAPE = re.compile(r'\\(?:([0-7]{3})|([ntrabfv"\\]))|([^\\"]+)')
_MODES = ("100644", "100755")


class Unreadable(ValueError):
    """What ``git apply`` would not read, or another tool would read otherwise; ``line`` from 0."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@define
class Change:
    """What a patch does to one file.

    Args:
        line: the first line of its header, from 0.
        paths: every path that it names, without the first component.
        did: of "create", "delete", "rename", "copy", "mode", "binary", "symlink", "submodule".
        added, removed: lines.
    """

    line: int
    paths: list[str] = field(factory=list)
    did: set[str] = field(factory=set)
    added: int = 0
    removed: int = 0


class _Lines:
    def __init__(self, text: str) -> None:
        self.all = [line.removesuffix("\r") for line in text.split("\n")]
        self.at = 0
        # the first sign of each line, a space for an empty one unless nothing follows it
        marks = "".join([line[:1] or " " for line in self.all])
        self.marks = marks if self.all[-1] else f"{marks[:-1]}?"

    def peek(self, ahead: int = 0) -> str | None:
        place = self.at + ahead
        return self.all[place] if place < len(self.all) else None


def changes(text: str, strip: int = 1) -> list[Change]:
    """What a unified diff, or one of git's, does to each file.

    Args:
        text: the whole patch; mail headers and a diffstat may be before its first file.
        strip: how many leading components of a path do not count, as in ``git apply -p``.

    Raises:
        Unreadable: with the reason and the line.
    """
    lines = _Lines(text)
    found: list[Change] = []
    mail = _MAIL.match(text) is not None
    while (line := lines.peek()) is not None:
        if line.startswith("diff --git "):
            found.append(_git(lines, strip))
        elif line.startswith("--- ") and (lines.peek(1) or "").startswith("+++ "):
            change = Change(lines.at)
            _pair(lines, change, strip)
            found.append(_hunks(lines, change))
        elif line.startswith(_OTHER) or line.startswith(("--- ", "+++ ", "@@ ")):
            raise Unreadable("a part that is no unified diff", lines.at)
        elif line.strip() and not (_signature(lines) if found else mail):
            raise Unreadable("a line that belongs to no file", lines.at)
        else:
            lines.at += 1
    if not found:
        raise Unreadable("there is no patch", 0)
    return found


def _signature(lines: _Lines) -> bool:
    """``-- `` and a version, as ``git format-patch`` ends."""
    rest = [line for line in lines.all[lines.at :] if line.strip()]
    first = rest[0] in ("-- ", "--") and len(rest) <= 2
    return first or (len(rest) == 1 and lines.all[lines.at - 1] in ("-- ", "--"))


def _git(lines: _Lines, strip: int) -> Change:
    change = Change(lines.at)
    header = lines.all[lines.at][len("diff --git ") :]
    lines.at += 1
    moved: dict[str, str] = {}
    while (line := lines.peek()) is not None and (match := _EXTENDED.match(line)):
        _extended(match[1], match[2], change, moved, lines.at)
        lines.at += 1
    line = lines.peek() or ""
    if line.startswith("--- "):
        _pair(lines, change, strip)
        _hunks(lines, change)
    elif line.startswith(("GIT binary patch", "Binary files ")):
        change.did.add("binary")
        _binary(lines)
    named = _header_paths(header, change.line, strip)
    if named is None and not change.paths and not moved:
        raise Unreadable("a header with names that cannot be distinguished", change.line)
    _agree(change, moved, named)
    return change


def _extended(word: str, value: str, change: Change, moved: dict[str, str], at: int) -> None:
    if word.endswith("mode"):
        mode = value.strip()
        change.did |= {"120000": {"symlink"}, "160000": {"submodule"}}.get(mode, set())
        if mode not in (*_MODES, "120000", "160000"):
            raise Unreadable(f"the mode {mode[:10]!r}", at)
        change.did.add(
            {"old": "mode", "new": "mode", "deleted": "delete"}[word.split(maxsplit=1)[0]]
            if word != "new file mode"
            else "create"
        )
    elif word == "index":
        mode = value.rpartition(" ")[2]
        change.did |= {"120000": {"symlink"}, "160000": {"submodule"}}.get(mode, set())
    elif word.startswith(("rename", "copy")):
        change.did.add(word.split(maxsplit=1)[0])
        moved[word] = _unquoted(value, at)


def _agree(change: Change, moved: dict[str, str], named: tuple[str, str] | None) -> None:
    """Every name of a file's header must say the same."""
    old = moved.get("rename from", moved.get("copy from"))
    new = moved.get("rename to", moved.get("copy to"))
    if (old is None) != (new is None) or len(moved) not in (0, 2):
        raise Unreadable("a rename or copy without both its names", change.line)
    if named is not None:
        old = old or named[0]
        new = new or named[1]
        if (old, new) != named:
            raise Unreadable("names that do not agree", change.line)
    if old is not None and new is not None:
        if old != new and not change.did & {"rename", "copy"}:
            raise Unreadable("two names, and neither a rename nor a copy", change.line)
        if not set(change.paths) <= {old, new}:
            raise Unreadable("names that do not agree", change.line)
        change.paths = list(dict.fromkeys([old, new]))


def _pair(lines: _Lines, change: Change, strip: int) -> None:
    """The lines ``--- old`` and ``+++ new``."""
    at = lines.at
    second = lines.peek(1) or ""
    if not second.startswith("+++ "):
        raise Unreadable("--- without +++", at)
    names = [_name(lines.all[at][4:], at), _name(second[4:], at + 1)]
    if names == [None, None]:
        raise Unreadable("/dev/null on both sides", at)
    if names[0] is None:
        change.did |= {"create"}
    elif names[1] is None:
        change.did |= {"delete"}
    paths = [stripped(name, strip, at) for name in names if name is not None]
    if len(set(paths)) > 1 and not change.did & {"rename", "copy"}:
        raise Unreadable("two names, and neither a rename nor a copy", at)
    change.paths = list(dict.fromkeys(paths))
    lines.at += 2


def _name(text: str, at: int) -> str | None:
    bare = text if text.startswith('"') else text.partition("\t")[0]
    name = _unquoted(bare.rstrip(" "), at)
    return None if name == "/dev/null" else name


def _unquoted(text: str, at: int) -> str:
    """A path as git writes it: in quotes with C's escapes where it has odd signs."""
    if not text.startswith('"'):
        return text
    raw = bytearray()
    place = 1
    while place < len(text) and text[place] != '"':
        found = _ESCAPE.match(text, place)
        if found is None:
            break
        raw += _unescaped(found)
        place = found.end()
    if text[place : place + 1] != '"' or text[place + 1 :].strip():
        raise Unreadable("a quoted path that is not closed", at)
    return raw.decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[str]) -> bytes:
    """The bytes of an octal number, of a letter that is an escape, or of plain text."""
    if found[1]:
        return bytes([int(found[1], 8) & 255])
    if found[2]:
        return bytes([_ESCAPES[found[2]]])
    return found[3].encode("utf-8", "surrogatepass")


def stripped(name: str, strip: int, at: int) -> str:
    """The path without its first components."""
    parts = name.split("/")
    if len(parts) <= strip:
        raise Unreadable(f"the path {name[:60]!r} has fewer than {strip + 1} components", at)
    return "/".join(parts[strip:]) if not name.startswith("/") else name


def _header_paths(header: str, at: int, strip: int) -> tuple[str, str] | None:
    """The two names of ``diff --git``; None where they cannot be distinguished."""
    if header.startswith('"') or header.endswith('"'):
        found = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', header)
        pair = found.groups() if found else None
    elif header.count(" ") == 1:
        pair = tuple(header.split(" "))
    else:
        half = len(header) // 2
        same = (
            header[half : half + 1] == " "
            and header[:half].split("/", 1)[1:] == header[half + 1 :].split("/", 1)[1:]
        )
        pair = (header[:half], header[half + 1 :]) if same else None
    if pair is None:
        return None
    old, new = (stripped(_unquoted(str(part), at), strip, at) for part in pair)
    return old, new


def _hunks(lines: _Lines, change: Change) -> Change:
    count = 0
    while (line := lines.peek()) is not None and (match := _HUNK.match(line)):
        lines.at += 1
        count += 1
        _hunk(lines, change, int(match[2] or 1), int(match[4] or 1))
    if not count:
        raise Unreadable("a file without a hunk that can be read", lines.at)
    return change


def _hunk(lines: _Lines, change: Change, old: int, new: int) -> None:
    while old > 0 or new > 0:
        part = lines.marks[lines.at : lines.at + old + new + 1] or "?"
        for place, mark in enumerate(part, lines.at):
            if mark == " ":
                old = old - 1
                new = new - 1
            elif mark == "+":
                new -= 1
                change.added += 1
            elif mark == "-":
                old -= 1
                change.removed += 1
            elif mark != "\\":
                raise Unreadable("a hunk that is shorter than it says", place)
            if old < 0 or new < 0:
                raise Unreadable("a hunk that is not as long as it says", place)
            lines.at = place + 1
            if not old and not new:
                break
    if (lines.peek() or "").startswith("\\"):
        lines.at += 1


def _binary(lines: _Lines) -> None:
    if (lines.peek() or "").startswith("Binary files "):
        lines.at += 1
        return
    lines.at += 1
    while (line := lines.peek()) is not None and not line.startswith("diff --git "):
        if line and not re.fullmatch(
            r"(?:literal|delta) \d+|[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+", line
        ):
            break
        lines.at += 1
