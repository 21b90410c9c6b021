"""The whole response is written in one language."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.language import LANGUAGES, language_of, may_be
from rlenv_plugin_constraints.language.scripts import scripts
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.views import Span

__all__ = ["Language"]

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|<[^<>\n]*>|https?://\S+", re.S)
_BLOCK = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_LEAST = 40  # letters of a part whose language can be told
_CERTAIN = (
    40.0  # how much better another language must fit for a part to count against the response
)
_PART = 120  # characters of a part that are looked at
_HEAD = 800  # characters that tell the language; each part must not be in another
_DOUBT = 16.0  # in a text too short to tell, how much better another language may fit
_SHARE = 0.8  # of the letters that must be of the language's script


def _known(_: Any, attribute: Any, value: str) -> None:
    if value not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise ConfigError(f"{attribute.name} is an ISO 639-1 code of {known}; not {value!r}")


@frozen
class Language:
    """All of it is in one language: as a whole, and each paragraph that is long enough to tell.

    Code, addresses and a few words of another script do not count.  Where the language cannot be
    told, as in "12345", the constraint does not hold.
    """

    kind: ClassVar[str] = "language"
    language: Safe[str] = field(validator=_known)

    def check(self, text: Text) -> Finding:
        raw = text.raw
        said = _CODE.sub(lambda found: " " * len(found.group()), raw)
        if not any(map(str.isalpha, said)):
            said = raw
        share = self._share(said)
        name, better = language_of(said.lstrip()[:_HEAD])
        if name != self.language and name and better <= _DOUBT and self._short(said):
            name = self.language if may_be(said, self.language, _DOUBT) else name
        if name != self.language or share < _SHARE:
            note = "" if name else "the language cannot be told"
            if name == self.language:
                note = f"only {share:.0%} of the letters are of its script"
            return unmet(name, self.language, note=note)
        others = [span for span in _parts(said) if self._another(said[span[0] : span[1]])]
        note = "a part is in another language" if others else ""
        return Finding(not others, name, self.language, others[:20], note)

    def _share(self, said: str) -> float:
        counts = scripts(said)
        own = counts[LANGUAGES[self.language]]
        if self.language == "ja":
            own += counts["han"]
        return float(own / max(1, counts.total()))

    def _short(self, said: str) -> bool:
        return sum(map(str.isalpha, said[: 4 * _LEAST])) < _LEAST

    def _another(self, part: str) -> bool:
        name, better = language_of(part[:_PART])
        return name not in ("", self.language) and better >= _CERTAIN


def _parts(said: str) -> list[Span]:
    """Paragraphs with letters enough; a single one is parted in its sentences' middle."""
    spans = [found.span() for found in _BLOCK.finditer(said)]
    if len(spans) == 1 and spans[0][1] - spans[0][0] > 4 * _LEAST:
        start, end = spans[0]
        cuts = [start]
        for found in re.finditer(r"[.!?。！？।]\s+", said):
            if found.end() - cuts[-1] >= _PART and found.end() < end:
                cuts.append(found.end())
        spans = list(pairwise([*cuts, end]))
    return [(a, b) for a, b in spans if sum(map(str.isalpha, said[a:b])) >= _LEAST]
