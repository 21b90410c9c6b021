"""Rewrites of a response that keep what it satisfies, and such as break a constraint;
``rlenv_rewrites``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlenv import Task
from rlenv.hooks import Rewrite

__all__ = ["keeping", "rewrites"]

_CYRILLIC = str.maketrans("aeopcyx", "аеорсух")
_DOCUMENTS = ("json", "csv", "yaml", "xml", "python", "sql", "patch", "regex")
_OF_PROSE = ("byte order mark", "curly apostrophes", "decomposed accents")


def rewrites() -> Sequence[Rewrite]:
    """Rewrites of responses to tasks with ``info.constraints``."""
    breaking = [Rewrite(name, _of(kind, edit), keeps=False) for name, kind, edit in _BREAKING]
    return [*keeping(), *breaking]


def keeping() -> Sequence[Rewrite]:
    """Rewrites that no reader would notice.

    Of documents only those that no parser notices either.
    """
    return [
        Rewrite(name, _always(edit, prose=name in _OF_PROSE), keeps=True)
        for name, edit in _KEEPING.items()
    ]


def _always(edit: Callable[[str], str], *, prose: bool) -> Callable[[Task, str], str | None]:
    def apply(task: Task, response: str) -> str | None:
        changed = edit(response)
        return None if changed == response or (prose and _is_document(task)) else changed

    return apply


def _is_document(task: Task) -> bool:
    """Whether the response is read by a parser, to which a mark before it or another letter is no
    matter of style.
    """
    info: Mapping[str, Any] = task.info
    kinds = [table["kind"] for table in info.get("constraints", ())]
    kinds += info.get("instruction_id_list", ())
    return any(str(kind).rpartition(":")[2].startswith(_DOCUMENTS) for kind in kinds)


def _of(kind: str, edit: Callable[[str, Mapping[str, Any]], str]) -> Any:
    """Applies where the task has a constraint of this kind."""

    def apply(task: Task, response: str) -> str | None:
        tables: Any = task.info.get("constraints", ())
        found = next((table for table in tables if table["kind"] == kind), None)
        return None if found is None else edit(response, found)

    return apply


_KEEPING: Mapping[str, Callable[[str], str]] = {
    "newline at the end": lambda text: text + "\n",
    "blank line before": lambda text: "\n" + text,
    "spaces at the end": lambda text: text + "   ",
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "decomposed accents": lambda text: unicodedata.normalize("NFD", text),
    "curly apostrophes": lambda text: text.replace("'", "’"),
    "thinking before": lambda text: f"<think>Which words, and how many?</think>\n{text}",
    "byte order mark": lambda text: "\ufeff" + text,
}

_BREAKING: Sequence[tuple[str, str, Callable[[str, Mapping[str, Any]], str]]] = (
    ("a comma", "no_comma", lambda text, _: text + " Well, so it is."),
    ("an ideographic comma", "no_comma", lambda text, _: text.replace(" and ", "、", 1) + "、"),
    ("a forbidden word", "forbids", lambda text, of: f"{text} {of['words'][0]}"),
    (
        "a forbidden word in capitals",
        "forbids",
        lambda text, of: f"{text} {of['words'][0].upper()}",
    ),
    (
        "a forbidden word in disguise",
        "forbids",
        lambda text, of: f"{text} {of['words'][0].translate(_CYRILLIC)}",
    ),
    (
        "a forbidden word with a soft hyphen",
        "forbids",
        lambda text, of: f"{text} \u00ad".join(["", of["words"][0]]),
    ),
    ("keywords within others", "contains", lambda text, of: _glued(text, of["words"])),
    ("a small letter", "uppercase", lambda text, _: "a " + text),
    ("words after the end", "ends_with", lambda text, _: text + " And more."),
    ("a fourth bullet", "bullets", lambda text, _: text + "\n* one more thing"),
    ("a line before the title", "title", lambda text, _: "Here it is:\n" + text),
    ("one section more", "sections", lambda text, _: text + "\n\nSection 3\nMore of it."),
    (
        "another option too",
        "choice",
        lambda text, of: f"{text} {of['options'][0]} {of['options'][1]}",
    ),
    ("the postscript alone", "postscript", lambda text, _: text.split("\n")[0]),
)


def _glued(text: str, words: Sequence[str]) -> str:
    """Every keyword as a part of a longer word."""
    for word in words:
        for form in (word, word.capitalize(), word.upper()):
            text = text.replace(form, f"x{form}x")
    return text
