"""IFBench's checks of layout, marks and quotations as published."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from .letters import bare, unmarked
from .punkt import sentences, tokens

__all__ = ["CHECKS"]

_P = Mapping[str, Any]
_PAIRS = {")": "(", "]": "[", "}": "{"}


def _brackets(said: str, _: _P) -> bool:
    """Five open ones, and one of them closed, will do."""
    open_: list[str] = []
    deepest = 0
    for letter in said:
        if letter in "([{":
            open_.append(letter)
            deepest = max(deepest, len(open_))
        elif letter in ")]}":
            if not open_ or open_[-1] != _PAIRS[letter]:
                open_ = []
                deepest = 0
                continue
            open_.pop()
            if deepest >= 5:
                return True
    return False


def _quotes(said: str, _: _P) -> bool:
    """Apostrophes are quotation marks."""
    open_: list[str] = []
    deepest = 0
    for letter in said:
        if open_ and letter == open_[-1]:
            open_.pop()
            if deepest - len(open_) >= 3:
                return True
        elif letter in "\"'":
            open_.append(letter)
            deepest = max(deepest, len(open_))
    return False


def _marks(said: str, _: _P) -> bool:
    if not any(bang in said for bang in ("!?", "?!", "‽")):
        return False
    rest = said.replace("?!", "", 1)
    if rest == said:
        rest = said.replace("!?", "", 1)
    return set(".,!?;:") <= set(rest)


def _options(said: str, p: _P) -> bool:
    options = p["options"]
    between = next((word for word in ("/", "or") if word in options), ",")
    each = [option.strip() for option in options.split(between)]
    if re.match(r"\W*[aA]\W*[bB]\W*[cC]\W*", options):
        return said in each
    return bare(said).lower() in [bare(option).lower() for option in each]


def _newline(said: str, _: _P) -> bool:
    body = unmarked(said).strip()
    return sum(line != "" for line in body.split("\n")) == len(body.split())


def _is_emoji(letter: str) -> bool:
    import regex  # type: ignore[import-untyped]

    pictured = regex.fullmatch(r"\p{Emoji}", letter) is not None
    return pictured and letter not in "0123456789#*" and not "\U0001f1e6" <= letter <= "\U0001f1ff"


def _emoji(said: str, _: _P) -> bool:
    parts = [unmarked(part).strip() for part in sentences(said)]
    for place, part in enumerate(parts):
        if not part:
            return False
        if any(map(_is_emoji, part[-2:])):
            continue
        if place + 1 == len(parts) or not parts[place + 1] or not _is_emoji(parts[place + 1][0]):
            return False
    return True


def _stairs(said: str, _: _P) -> bool:
    lines = said.split("\n")
    for line in lines:
        if not line.strip():
            lines.remove(line)
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    return all(a < b for a, b in pairwise(indents))


def _explained(said: str, _: _P) -> bool:
    body = "".join(said.replace("'\"'", "").split())
    rest = body.strip(string.digits + string.punctuation.replace('"', ""))
    return '""' not in body and not rest.endswith('"')


def _thesis(said: str, _: _P) -> bool:
    for mark in ("<i>", "<em>"):
        if mark in said:
            rest = said[said.index(mark) :]
            break
    else:
        return False
    end = next((rest.index(mark) for mark in ("</i>", "</em>") if mark in rest), -1)
    return end >= 0 and bool(rest[3:end].strip()) and bool(rest[end + 4 :].strip())


def _then_bullets(said: str, _: _P) -> bool:
    counted = 0
    bullets = 0
    prose = True
    for line in said.split("\n"):
        body = line.strip()
        if body.startswith("*"):
            prose = False
            bullets += 1
            if counted < 2:
                return False
        elif prose:
            count = len(sentences(body))
            counted += count
            prose = count > 0  # a blank line ends the prose, as published
        else:
            return False
    return bullets >= 2


def _title_case(said: str, _: _P) -> bool:
    for word in tokens(said):
        if not word[0].isalpha() or word[0].isupper():
            continue
        rest = word[1:]
        if word[0].islower() and (not rest or rest.islower() or rest.isupper()):
            return False
    return True


def _template(said: str, _: _P) -> bool:
    return all(label in said for label in ("My Answer:", "My Conclusion:", "Future Outlook:"))


CHECKS: Mapping[str, Callable[[str, _P], bool]] = {
    "count:punctuation": _marks,
    "format:emoji": _emoji,
    "format:line_indent": _stairs,
    "format:list": lambda said, p: said.count(p["sep"]) >= 2,
    "format:newline": _newline,
    "format:no_bullets_bullets": _then_bullets,
    "format:no_whitespace": lambda said, _: not any(map(str.isspace, said)),
    "format:options": _options,
    "format:output_template": _template,
    "format:parentheses": _brackets,
    "format:quote_unquote": _explained,
    "format:quotes": _quotes,
    "format:sub-bullets": lambda said, _: all("-" in part for part in said.split("*")[1:]),
    "format:thesis": _thesis,
    "format:title_case": _title_case,
}
