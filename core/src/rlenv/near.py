"""The nearest valid name, for messages."""

from __future__ import annotations

from collections.abc import Iterable


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
