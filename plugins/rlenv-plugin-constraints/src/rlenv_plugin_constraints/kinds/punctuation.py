"""Signs that must not be in a response."""

from __future__ import annotations

import re
import unicodedata
from typing import ClassVar

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, shown
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.text import Text

__all__ = ["NoCharacters", "NoComma"]

# The comma of every script, with its full-width, small, ideographic and raised forms.
_COMMA = re.compile(
    "[,\u055d\u060c\u07f8\u1363\u1802\u1808\u2e32\u2e34\u2e41\u2e49\u2e4c\u3001\ua4fe\ua60d\ua6f5\ufe10\ufe11\ufe50\ufe51\uff0c\uff64\U0001f101-\U0001f10a]|(?<=\\w)\u201a(?=\\s)"
)
_SHOWN = 100


@frozen
class NoComma:
    """No comma of any script.

    The full-width one, the Arabic one and the ideographic one count too.
    """

    kind: ClassVar[str] = "no_comma"

    def check(self, text: Text) -> Finding:
        spans = [found.span() for found in _COMMA.finditer(text.raw)]
        return Finding(not spans, len(spans), {"max": 0}, spans[:_SHOWN])


@frozen(slots=False)
class NoCharacters:
    """None of ``characters``, nor what is one of them in another width; case matters."""

    kind: ClassVar[str] = "no_characters"
    characters: Safe[str] = field(validator=shown)

    @lazy
    def _any(self) -> re.Pattern[str]:
        signs = set(self.characters) | set(unicodedata.normalize("NFKC", self.characters))
        if "," in signs:
            return re.compile(f"{_COMMA.pattern}|[{re.escape(''.join(sorted(signs)))}]")
        return re.compile(f"[{re.escape(''.join(sorted(c for c in signs if not c.isspace())))}]")

    def check(self, text: Text) -> Finding:
        view = text.plain_view
        spans = [view.span(*found.span()) for found in self._any.finditer(view.text)]
        return Finding(not spans, len(spans), {"max": 0, "of": self.characters}, spans[:_SHOWN])
