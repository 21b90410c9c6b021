"""Text for readers: what others wrote, made safe to show, cut and folded, and the nearest valid
name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias
from unicodedata import category, east_asian_width

WIDTH = 100  # columns of a line
NOTE_LINES = 4  # of one detail or message; the rest is cut
# Of each stage: its path, its score, its detail or fault.
Rows: TypeAlias = Iterable[tuple[str, str, str]]
# What may not be as plain as it looks; most of it is, as letters of other scripts.
_SUSPECT = re.compile(r"[^\n\t -~]+")


def visible(text: str) -> str:
    """``text`` with everything that a terminal obeys or does not show written as escapes.

    These are the Unicode categories of control (Cc, without newline and tab), format (Cf), private
    use (Co), unassigned (Cn) and surrogate (Cs) characters and of line and paragraph separators
    (Zl, Zp).  Joiners within emoji and Persian words are format characters too, and can carry
    hidden text, so they are escaped as well.
    """
    return text if text.isprintable() else _SUSPECT.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    run = found[0]
    if run.isprintable():
        return run
    return "".join(each if _is_shown(each) else ascii(each)[1:-1] for each in run)


def _is_shown(character: str) -> bool:
    # isprintable is False for the categories above, and for spaces other than U+0020
    return character.isprintable() or category(character) == "Zs"


def one_line(text: str, width: int = 80) -> str:
    """``text`` made visible on one line of at most ``width`` characters."""
    flat = visible(" ".join(text[: width * 8].split()))
    return flat if len(flat) <= width and len(text) <= width * 8 else flat[: width - 3] + "..."


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The valid name that is most like ``name``, None when none is alike."""
    from difflib import get_close_matches

    by_lower = {n.lower(): n for n in names}
    found = get_close_matches(name.lower(), by_lower, 1, 0.6)
    return by_lower[found[0]] if found else None


def suggest(name: str, names: Iterable[str], *, what: str = "") -> str:
    """`` did you mean "max_words"?`` or a list of what there is; "" where there is nothing to
    say.
    """
    names = sorted(names)
    if near := nearest(name, names):
        return f'did you mean "{near}"?'
    if not names:
        return ""
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"{what or 'there are'}: {shown}"


def unreadable(path: str | os.PathLike[str], error: Exception, *suffixes: str) -> str:
    """Why a file that should end in one of ``suffixes`` cannot be read, and which may have been
    meant.
    """
    if isinstance(error, IsADirectoryError):
        inside = sorted(name for name in os.listdir(path) if name.endswith(suffixes))
        hint = f"; did you mean {os.path.join(path, inside[0])}?" if inside else ""
        return f"this is a folder, not a file{hint}"
    if isinstance(error, FileNotFoundError):
        return no_such_file(path)
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def no_such_file(path: str | os.PathLike[str]) -> str:
    """That there is no such file, and which one may have been meant."""
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        return f"there is no such file; the folder {folder} is not there either"
    near = nearest(name, os.listdir(folder or "."))
    hint = f"; did you mean {os.path.join(folder, near)}?" if near else ""
    return f"there is no such file{hint}"


def as_text(summary: str, rows: Rows) -> str:
    """What ``print`` shows: the reward, then for each stage its path, score, and detail or
    fault.
    """
    lines = [*folded("", summary, NOTE_LINES)]
    for path, score, note in rows:
        lines += *folded("  ", f"{path}: {score}", 1), *folded("      ", note, NOTE_LINES)
    return "\n".join(lines)


def as_html(summary: str, rows: Rows) -> str:
    """What a notebook shows: a table of text alone."""
    from html import escape

    def cut(text: str) -> str:
        return escape(one_line(text, NOTE_LINES * WIDTH))

    body = "".join(f"<tr>{''.join(f'<td>{cut(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{cut(summary)}</caption>{body}</table>"


def folded(pad: str, text: str, lines: int) -> Iterator[str]:
    """``text`` wrapped to at most so many lines behind ``pad``, safe to show."""
    from textwrap import wrap

    wide = any(east_asian_width(character) in "WF" for character in text[: 8 * lines * WIDTH])
    width = (WIDTH - len(pad)) // (1 + wide)
    shown = one_line(text, 2 * lines * width)
    return (pad + line for line in wrap(shown, width, max_lines=lines, placeholder=" ..."))
