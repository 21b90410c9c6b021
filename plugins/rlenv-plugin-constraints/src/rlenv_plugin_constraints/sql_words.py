"""The words of SQL, and to what class each token of a statement belongs."""

from __future__ import annotations

from typing import Final

from .lists import words

__all__ = ["ALSO_FUNCTIONS", "KEYWORDS", "class_of"]

_WRITES: Final = words("sql_writes")
ALSO_FUNCTIONS: Final = frozenset(("REPLACE", "INSERT", "TRUNCATE"))  # of strings and numbers
KEYWORDS: Final = words("sql_keywords")
_SIGNS = {"(": "(", ")": ")", ";": ";", ":=": ":", **dict.fromkeys("\\{}…“”’", "x")}
_LETTERS = {"string": "s", "number": "d", "name": "n"}


def class_of(kind: str, text: str) -> str:
    """Return one letter for a token.

    Of a word "w" (it writes, or is FOR), "k" (a keyword) or "b"; "n", "s" and "d" of a name, a
    string and a number; of a sign itself for ``(``, ``)`` and ``;``, ":" for ``:=``, "x" where SQL
    has none such, "p" for the rest.
    """
    if kind == "word":
        if text in _WRITES or text == "FOR":
            return "w"
        return "k" if text in KEYWORDS else "b"
    return _SIGNS.get(text, "p") if kind == "sign" else _LETTERS[kind]
