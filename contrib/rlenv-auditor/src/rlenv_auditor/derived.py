"""Forms of responses that a verifier asks for in its own texts: its patterns, its marks, and the
tags of its prompts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

__all__ = ["forms", "shortest"]

MOST = 20  # forms, and tags of one text
WORKED = "<{0}>\nI worked it out.\n</{0}>\n"
CATEGORIES = {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "1", "CATEGORY_NOT_SPACE": "x"}


def forms(words: Sequence[str], prompts: Iterable[str]) -> dict[str, str]:
    """Forms with ``{}`` in the place of the answer, by what they were made of.

    Args:
        words: string literals of the verifier.
        prompts: what the policy is told.
    """
    found: dict[str, str] = {}
    for text in (" ".join(words), *dict.fromkeys(prompts)):
        found |= {f"its tags {form.split()[0]}": form for form in _tagged(text)}
    for text in words:
        form = shortest(text)
        if form and "{}" in form and form != "{}":
            found[f"its pattern {text:.30}"] = form
        elif re.fullmatch(r"[^\n{}]{1,30}[:=#]", text.rstrip()):
            found[f"its mark {text}"] = f"{text.rstrip()} {{}}"
        elif re.fullmatch(r"[a-z][a-zA-Z_]{2,20}", text):
            record = f'{{"{text}": "{{}}"}}'
            found |= {
                f"its key {text}": record,
                f"its key {text}, fenced": f"```json\n{record}\n```",
            }
    return dict(list(found.items())[:MOST])


def _tagged(text: str) -> Iterator[str]:
    """What the last tag holds is the answer; the others come before it."""
    names = list(dict.fromkeys(re.findall(r"</(\w{1,30})>", text)))
    if 1 < len(names) <= MOST:
        worked = "".join(WORKED.format(name) for name in names[:-1])
        yield f"{worked}<{names[-1]}>\n{{}}\n</{names[-1]}>"
    yield from (f"<{name}>{{}}</{name}>" for name in names[-1:])


def shortest(pattern: str) -> str | None:
    """The shortest text that a pattern matches, with ``{}`` as its last group; None for what is no
    pattern.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = import_module("re._parser").parse(pattern)
        return "".join(_pieces(tree, tree.state.groups - 1))[:1000]
    except (re.error, RecursionError, OverflowError, MemoryError):
        return None


def _pieces(tree: Any, last: int) -> Iterator[str]:
    for kind, what in tree:
        name = str(kind)
        if name == "LITERAL":
            yield chr(what)
        elif name in ("ANY", "NOT_LITERAL"):
            yield "x"
        elif name == "IN":
            yield _one_of(what)
        elif name == "SUBPATTERN":
            yield "{}" if what[0] == last else "".join(_pieces(what[3], last))
        elif name == "BRANCH":
            yield max(
                ("".join(_pieces(one, last)) for one in what[1]), key=lambda text: "{}" in text
            )
        elif name.endswith("_REPEAT"):
            inner = "".join(_pieces(what[2], last))
            yield inner * max(min(what[0], MOST), "{}" in inner)


def _one_of(choices: Any) -> str:
    kind, what = choices[0]
    if str(kind) in ("LITERAL", "RANGE"):
        return chr(what if isinstance(what, int) else what[0])
    return CATEGORIES.get(str(what), "x")
