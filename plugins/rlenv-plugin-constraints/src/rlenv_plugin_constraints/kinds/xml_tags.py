"""XML tags: each one exactly once, closed, in order and with something in it."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.text import Text

__all__ = ["XmlTags", "shows_something"]

_NAME = re.compile(r"[^\W\d][\w.-]*\Z")
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)", re.DOTALL)
_ANY_TAG = re.compile(r"</?[^\W\d][^<>]*>")
_DECLARED = re.compile(r"<!(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST)", re.IGNORECASE)


def _sound(_: Any, __: Any, value: tuple[str, ...]) -> None:
    if not value:
        raise ConfigError("tags is a list of at least one name")
    for name in value:
        if not _NAME.match(name):
            raise ConfigError(f"{name!r} is not a name of a tag; write it without < and >")
    if len({name.lower() for name in value}) < len(value):
        raise ConfigError("a tag is named twice, and each stands exactly once")


def shows_something(content: str) -> bool:
    """Whether a reader sees anything of it: tags, spaces, and what has no width are nothing."""
    bare = html.unescape(_ANY_TAG.sub("", _HIDDEN.sub("", content)))
    return any(
        unicodedata.category(c)[0] not in "CZM" and c not in "\u115f\u1160\u3164\uffa0\u2800"
        for c in bare
    )


@frozen(slots=False)
class XmlTags:
    """Each of ``tags`` is in the response exactly once, in this order.

    Each is opened, closed and not empty.

    A tag in a comment counts, since a reader that looks for tags would find it.  Case counts; a tag
    that differs in case only is one too many.

    Args:
        tags: their names, in order.
        nested: each is inside the one before; else side by side.
        attributes: whether an opening tag may have attributes.
        only: whether nothing but space may be outside the tags.
    """

    kind: ClassVar[str] = "xml_tags"
    tags: Safe[tuple[str, ...]] = field(validator=_sound)
    nested: bool = False
    attributes: bool = False
    only: bool = False

    @lazy
    def _pattern(self) -> re.Pattern[str]:
        names = "|".join(sorted(map(re.escape, self.tags), key=len, reverse=True))
        return re.compile(rf"<(/?)({names})(?![\w.:-])([^<>]*)>", re.IGNORECASE)

    def markers(self) -> tuple[str, ...]:
        """What it asks for that says nothing yet."""
        return tuple(f"<{slash}{tag}>" for tag in self.tags for slash in ("", "/"))

    def check(self, text: Text) -> Finding:
        found = list(self._pattern.finditer(text.raw))
        note = self._misfit(text.raw, found)
        counts = {
            name: sum(m[2].lower() == name.lower() and not m[1] for m in found[:1000])
            for name in self.tags
        }
        spans = [m.span() for m in found[: 2 * len(self.tags) + 4]]
        return Finding(not note, counts, dict.fromkeys(self.tags, 1), spans, note)

    def _misfit(self, raw: str, found: list[re.Match[str]]) -> str:
        for match in found:
            if match[2] not in self.tags:
                return f"<{match[2]}> is written in another case"
            if match[3].strip() and (match[1] or not self.attributes):
                return f"<{match[1]}{match[2]}> has something else in it"
            if match[3].rstrip().endswith("/"):
                return f"<{match[2]}/> is empty"
        order = [(match[1], match[2]) for match in found]
        if order != self._order():
            return self._disorder(order)
        if _DECLARED.search(raw):
            return "it declares entities or a document type"
        return self._contents(raw, found)

    def _order(self) -> list[tuple[str, str]]:
        if self.nested:
            return [*(("", tag) for tag in self.tags), *(("/", tag) for tag in reversed(self.tags))]
        return [pair for tag in self.tags for pair in (("", tag), ("/", tag))]

    def _disorder(self, order: list[tuple[str, str]]) -> str:
        for tag in self.tags:
            for slash in ("", "/"):
                count = order.count((slash, tag))
                if count != 1:
                    return (
                        f"<{slash}{tag}> is there {count} times"
                        if count
                        else f"there is no <{slash}{tag}>"
                    )
        return "the tags are in another order"

    def _contents(self, raw: str, found: list[re.Match[str]]) -> str:
        for hidden in _HIDDEN.finditer(raw):
            if any(hidden.start() < match.start() < hidden.end() for match in found):
                return "a tag is in a comment"
        for tag in self.tags:
            inside = self._inside(tag, found)
            if not shows_something(raw[slice(*inside)]):
                return f"<{tag}> is empty"
        if not self.only:
            return ""
        if self.nested:
            spans = [(found[0].start(), found[-1].end())]
        else:
            pairs = zip(found[::2], found[1::2], strict=True)
            spans = [(first.start(), last.end()) for first, last in pairs]
        place = 0
        outside = ""
        for start, end in spans:
            outside = outside + raw[place:start]
            place = end
        return "there is text outside the tags" if (outside + raw[place:]).strip() else ""

    def _inside(self, tag: str, found: list[re.Match[str]]) -> tuple[int, int]:
        opening = next(m for m in found if m[2] == tag and not m[1])
        closing = next(m for m in found if m[2] == tag and m[1])
        return opening.end(), closing.start()
