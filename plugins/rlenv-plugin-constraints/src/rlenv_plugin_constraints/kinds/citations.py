"""Citations that resolve: every mark in the text names a source that there is."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from attrs import define, field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe
from rlenv.text import fenced_blocks

from rlenv_plugin_constraints.constraint import Finding, Span
from rlenv_plugin_constraints.text import Text

__all__ = ["Citations"]

_INLINE_CODE = re.compile(r"(`+)(?!`)[^`\n]{1,400}?(?<!`)\1(?!`)")
_NOTE = re.compile(
    r"^[ \t>]{0,8}(?:[-*+] )?\[(\^?[^\[\]\s][^\[\]\n]{0,80})\][:.]?[ \t]+(?=\S)(.*)$", re.MULTILINE
)
_REFERENCES = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]*|\*\*|__)?"
    r"(?:references|sources|bibliography|works cited|citations|notes|literature)"
    r"(?:\*\*|__)?[ \t]*:?(?:\*\*|__)?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_LISTED = re.compile(r"^[ \t]{0,3}(\d{1,4})[.)][ \t]+(\S.*)$", re.MULTILINE)
_MARK = re.compile(
    r"[!\[](?:(?<=!)(?P<image>\[[^\[\]\n]{0,300}\]\([^()\s]*\))"
    r"|(?<=\[)(?:(?P<text>[^\[\]\n]{1,300})\]"
    r"\((?P<url>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:[ \t]+\"[^\"\n]*\")?\)"
    r"|(?P<ref_text>[^\[\]\n^@]{1,300})\]\[(?P<ref>[^\[\]\n]{1,80})\]"
    r"|(?P<numbers>\d{1,4}(?:[ \t]?[,;–-][ \t]?\d{1,4}){0,40})\]"
    r"|(?P<keys>[^\[\]\n@]{0,40}-?@[^\[\]\n]{1,300})\]"
    r"|\^(?P<note>[^\[\]\s]{1,80})\]"
    r"|(?P<word>[A-Za-z][\w:.+/-]{0,60}(?:[ \t]?[,;][ \t]?[A-Za-z][\w:.+/-]{0,60}){0,20})\]))"
)
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_GONE = "\ufdd0"  # no character, and so in no word
_NEAR = 40  # characters before a mark, where most have their words
_ADJACENT = re.compile("[a-z]{2} [a-z]{2}")
_WORD = re.compile(rf"(?:[^\W\d_]{_GONE}*+){{2,}}|[\u3040-\u9fff]")
_KEY = re.compile(r"@\{?([\w](?:[\w:.#$%&+?<>~/-]*\w)?)")
_KEY_LIKE = re.compile(r"[A-Za-z][\w:+.-]*\d{2,4}[a-z]?\Z")


@define
class _Seen:
    """What a response cites and defines; ids to the places where they stand."""

    cited: dict[str, list[Span]] = field(factory=dict)
    defined: dict[str, Span] = field(factory=dict)
    wrong: list[tuple[str, Span]] = field(factory=list)

    def cite(self, name: str, span: Span) -> None:
        self.cited.setdefault(name, []).append(span)


def _ids(_: Any, __: Any, value: tuple[str, ...]) -> None:
    if any(not name.strip() for name in value) or len(set(value)) < len(value):
        raise ConfigError("sources is a list of ids or addresses, each of them once and none empty")


@frozen
class Citations:
    """Every citation in the text resolves, and there are enough of them.

    Citations are [1], [1, 2], [1-3], [@key], [^note], [text](address), [text][id] and, for ids
    among ``sources``, [id]; in code there are none.  They resolve to ``sources`` where there are
    some; else to what the response defines: "[1] …", "[^note]: …", or a numbered list under a
    heading such as "References".  A mark that is alone on its line, without a word before it, cites
    nothing.

    Args:
        sources: the ids, or addresses, that may be cited, from the task.
        min: how many different sources must be cited.
        all_used: whether every source must be cited, those that the response defines included.
    """

    kind: ClassVar[str] = "citations"
    sources: Safe[tuple[str, ...]] = field(default=(), validator=_ids)
    min: int = 1
    all_used: bool = False

    def __attrs_post_init__(self) -> None:
        if self.min < 0 or (self.sources and self.min > len(self.sources)):
            raise ConfigError(f"min = {self.min} sources, and {len(self.sources)} are declared")

    def check(self, text: Text) -> Finding:
        seen = _read(text.raw, {_key(name) for name in self.sources})
        known = {_key(name) for name in self.sources} or set(seen.defined)
        dangling = [
            name for name in seen.cited if not _resolves(name, known, declared=bool(self.sources))
        ]
        used = {name for name in seen.cited if name not in dangling}
        unused = sorted((known | set(seen.defined)) - used)
        spans = [span for name in dangling for span in seen.cited[name]]
        note = self._wrong(seen, dangling, unused, len(used))
        measured = {"cited": sorted(used)[:50], "dangling": dangling[:50], "unused": unused[:50]}
        wanted = {"min": self.min, "dangling": []}
        return Finding(not note, measured, wanted, (spans or [s for _, s in seen.wrong])[:50], note)

    def _wrong(self, seen: _Seen, dangling: list[str], unused: list[str], used: int) -> str:
        if dangling:
            return f"{', '.join(dangling)[:120]} resolves to nothing"
        if seen.wrong:
            return seen.wrong[0][0]
        if used < self.min:
            return f"{used} sources are cited"
        if self.all_used and unused:
            return f"{', '.join(unused)[:120]} is never cited"
        return ""


def _key(name: str) -> str:
    return name.strip().removeprefix("@").removeprefix("^").rstrip("/").casefold()


def _resolves(name: str, known: set[str], *, declared: bool) -> bool:
    """An address resolves to itself where the task declares no addresses."""
    if name in known:
        return True
    is_address = "://" in name
    return is_address and not (declared and any("://" in source for source in known))


def _without_code(raw: str) -> str:
    """The same length, with spaces for code."""
    parts: list[str] = []
    place = 0
    for block in fenced_blocks(raw):
        parts += [raw[place : block.outer[0]], " " * (block.outer[1] - block.outer[0] - 1), "\n"]
        place = block.outer[1]
    text = "".join([*parts, raw[place:]])[: len(raw)]
    return _INLINE_CODE.sub(lambda m: " " * len(m[0]), text) if "`" in text else text


def _read(raw: str, sources: set[str]) -> _Seen:
    seen = _Seen()
    text = _without_code(raw)
    heading = None
    for heading in _REFERENCES.finditer(text):  # noqa: B007 - the last one
        pass
    noted = _NOTE.finditer(text) if "[" in text else ()
    notes = {m.start(1) - 1: m for m in noted if _defines(m, text, heading)}
    for match in notes.values():
        _define(seen, match[1], match[2], match.span(1))
    if heading is not None:
        for match in _LISTED.finditer(text, heading.end()):
            _define(seen, match[1], match[2], match.span(1))
    inside = [m.span() for m in notes.values()]
    body_end = heading.start() if heading is not None else len(text)
    at = 0
    said = _Said(text)
    for mark in _MARK.finditer(text) if "[" in text else ():
        while at < len(inside) and inside[at][1] <= mark.start():
            at += 1
        in_note = at < len(inside) and inside[at][0] <= mark.start()
        if not in_note and mark.start() < body_end and said.before(mark.start()):
            _cite(seen, mark, sources)
    return seen


def _defines(match: re.Match[str], text: str, heading: re.Match[str] | None) -> bool:
    """A footnote or link by its colon.

    "[1] Some text" below the heading, or where nothing but notes follows.
    """
    after = text[match.end(1) + 1 : match.end(1) + 2]
    if after == ":" or (heading is not None and match.start() > heading.start()):
        return True
    before = text[max(0, match.start() - 2) : match.start()]
    return (
        match[1].isdigit()
        and (not before.strip("\n") or bool(before.strip()))
        and "[" not in match[2]
    )


def _define(seen: _Seen, name: str, content: str, span: Span) -> None:
    key = _key(name)
    if sum(c.isalnum() for c in content) < 3:
        seen.wrong.append((f"[{name[:20]}] says nothing", span))
    elif key in seen.defined:
        seen.wrong.append((f"[{name[:20]}] is defined twice", span))
    seen.defined.setdefault(key, span)


class _Said:
    """The words of a text outside brackets."""

    def __init__(self, text: str) -> None:
        gaps = "[" in text
        self._text = text
        self._bare = _IN_BRACKETS.sub(lambda m: _GONE * len(m[0]), text) if gaps else text

    def before(self, place: int) -> bool:
        """Whether two words are before a mark in its paragraph, 300 characters at most before
        it.
        """
        begin = max(self._text.rfind("\n\n", max(0, place - 300), place), place - 300, 0)
        near = place - _NEAR
        if near > begin + _NEAR and (
            _ADJACENT.search(self._bare, near, place) is not None
            or len(_WORD.findall(self._bare, near, place)) > 2  # the first may be cut
        ):
            return True
        return len(_WORD.findall(self._bare, begin, place)) >= 2


def _cite(seen: _Seen, mark: re.Match[str], sources: set[str]) -> None:
    span = mark.span()
    kind = mark.lastgroup
    if kind == "numbers":
        numbers = mark["numbers"]
        for name in (str(int(numbers)),) if numbers.isdigit() else _spread(numbers):
            seen.cite(name, span)
    elif kind == "keys":
        for name in _KEY.findall(mark["keys"]):
            seen.cite(_key(name), span)
    elif kind == "note":
        seen.cite(_key(mark["note"]), span)
    elif kind == "ref":
        if mark["ref_text"].isdigit():
            seen.cite(_key(mark["ref_text"]), span)
        seen.cite(_key(mark["ref"]), span)
    elif kind == "url":
        address = mark["url"]
        if address.startswith("#"):
            seen.cite(re.sub(r"^(?:ref|cite|fn|note|source)[-_:]?", "", _key(address[1:])), span)
        else:
            seen.cite(_key(address), span)
    elif kind == "word":
        for name in re.split(r"[ \t]?[,;][ \t]?", mark["word"]):
            if _key(name) in sources or (sources and _KEY_LIKE.match(name)):
                seen.cite(_key(name), span)


def _spread(numbers: str) -> list[str]:
    """The numbers of "1, 3-5"; a range of more than a hundred is its ends."""
    found: list[str] = []
    for part in numbers.replace("–", "-").replace(";", ",").split(","):
        first, dash, last = (p.strip() for p in part.partition("-"))
        if dash and 0 <= int(last) - int(first) <= 100:
            found += [str(n) for n in range(int(first), int(last) + 1)]
        else:
            found += [str(int(n)) for n in (first, last) if n]
    return found
