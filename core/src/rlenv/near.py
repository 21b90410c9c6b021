"""Text for messages: what others wrote, made safe to show, and the nearest valid name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

# control characters, the bidirectional overrides that can make a line lie, and lone surrogates
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}]")


def visible(text: str) -> str:
    """``text`` with terminal controls, direction marks and lone surrogates written as escapes."""
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


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
    """`` did you mean "max_words"?`` or a list of what there is; "" where there is nothing to say."""
    names = sorted(names)
    if near := nearest(name, names):
        return f'did you mean "{near}"?'
    if not names:
        return ""
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"{what or 'there are'}: {shown}"


def unreadable(path: str | os.PathLike[str], error: Exception, *suffixes: str) -> str:
    """Why a file that should end in one of ``suffixes`` cannot be read, and which may have been meant."""
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
