"""No web addresses, however they are written."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, Span
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import View

__all__ = ["NoUrls"]

# Top-level domains that are no usual end of a file's name and no English word.
_SURE = (
    "com|org|net|edu|gov|mil|info|biz|dev|app|io|ai|xyz|online|site|shop|tech|cloud|club|eu|uk"
    "|de|fr|ru|cn|jp|br|au|ca|nl|se|ch|kr|tv|co|gg|page|blog|news|wiki|link|int|museum|pro|mobi"
    "|icu|top|vip|store"
)
# The rest only before a path, a port or a query, since readme.md, main.py and "it.is" are none.
_MAYBE = (
    "us|me|in|is|it|at|be|by|to|so|no|es|pl|py|md|rs|sh|cc|pt|fi|dk|cz|gr|hu|ro|mx|ar|cl|za|nz"
    "|ie|il|ir|tr|ua|vn|id|th|my|ph|sg|hk|tw|sa|ae|ly|fm|im|la|ws|st|tk|ml|ga|cf|gq|pw|lol|fun"
    "|life|live|world|zone|run|one|art|zip|mov|ps|ms|bz|do|ac|am|cd|how|new|gl"
)
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_DOT = r"(?:[.。]|\s?[\[({]\s?(?:\.|dot)\s?[\])}]\s?)"
_LIKELY_END = r"(?![^\W_]|@|-[^\W_]|_\w|\.[^\W_])"
_URL = re.compile(
    rf"(?P<scheme>\b(?:h(?:tt|xx)ps?|ftps?|sftp|wss?|file|ssh|git|ipfs|magnet|data|javascript|mailto)\s?(?::|\[:\])(?:\s?[/\\]{{2}}|(?<=magnet:)|(?<=mailto:)|(?<=data:)(?=[\w/+-]+[;,])|(?<=javascript:))[^\s<>\"'`]+)"
    rf"|(?P<any>\b[a-z][a-z0-9+.-]{{1,15}}://[^\s<>\"'`]+)"
    rf"|(?P<protocol_relative>(?<![:\w/])//{_LABEL}{_DOT}(?:{_SURE})\b)"
    rf"|(?P<www>\bwww\d?\s?{_DOT}\s?{_LABEL}\s?{_DOT}\s?\w{{2,}}[^\s<>\"'`]*)"
    rf"|(?P<domain>(?<![^\W_])(?<![@.-])(?!(?:self|cls|this|np|os|sys|pd|plt|tf|torch|\d+)\.)(?:{_LABEL}{_DOT}){{1,6}}(?:(?:{_SURE}|xn--[\w-]+){_LIKELY_END}|(?:{_SURE}|{_MAYBE})(?=[/?#]\w|:\d{{2,5}}\b))[^\s<>\"'`]*)"
    rf"|(?P<remote>(?<=@)(?:{_LABEL}{_DOT}){{1,6}}(?:{_SURE})[:/]\w[^\s<>\"'`]*)"
    rf"|(?P<ip>\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{2,5}})?/\w[^\s<>\"'`]*|\blocalhost:\d{{2,5}}\b[^\s<>\"'`]*)"
    rf"|(?P<words>(?<!\bthe )(?<!\ba )(?<!\bthis )(?<!\bbig )(?<!\bof )\b[a-z][\w-]{{2,40}}"
    rf" dot (?:com|org|net|io)\b"
    rf"(?! (?:boom|bubble|crash|era|company|companies|bust|craze|startup|millionaire)))",
    re.IGNORECASE,
)
# What an address cannot do without, sought sign by sign: a class or sign that comes first is
# found fast.
_SUSPECTS = {
    ".": re.compile(rf"\.(?=(?:{_SURE}|{_MAYBE}|xn--)(?![^\W_]))"),
    "。": re.compile(rf"。(?=(?:{_SURE}|{_MAYBE}|xn--)(?![^\W_]))"),
    **dict.fromkeys("])}", re.compile(rf"[\])}}] ?(?=(?:{_SURE}|{_MAYBE})(?![^\W_]))")),
    ":": re.compile(r":\s?[/\\]{2}|:(?<=(?:data|ilto|gnet|ript|host):)"),
    "/": re.compile(r"/(?:/|(?<=\d/)\w)"),
    "[:]": re.compile(r"\[:\]"),
    "www": re.compile("www"),
    "dot": re.compile(r"dot\b(?<=\bdot)"),
}
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?([^/?#:\s]+)", re.IGNORECASE)
_NAMES = frozenset(("asp.net", "vb.net", "ado.net", "socket.io"))
LONGEST = 253  # characters of a host name


def _host(_: Any, __: Any, value: tuple[str, ...]) -> None:
    for host in value:
        if "/" in host or "." not in host:
            raise ConfigError(
                f"{host!r}: a host such as example.com, which allows its subdomains too"
            )


def readings(text: Text) -> list[tuple[str, View | None]]:
    """The texts that a reader may take it for: as written, without disguise, and with look-alikes
    as Latin.
    """
    found: list[tuple[str, View | None]] = [(text.raw, None)]
    if not text.raw.isascii():
        for view in (text.plain_view, text.skeleton_view):
            if all(view.text != known for known, _ in found):
                found.append((view.text, view))
    return found


def located(match: re.Match[str], view: View | None) -> Span:
    """Where it is in the response."""
    return match.span() if view is None else view.span(*match.span())


def _suspect(text: str) -> bool:
    low = text.casefold().replace("ı", "i")
    return any(sign in low and rule.search(low) is not None for sign, rule in _SUSPECTS.items())


@frozen
class NoUrls:
    """No web address: with a scheme, with www, a bare domain, a Markdown link, or one in disguise.

    Disguises are seen through: hxxp, [.], (dot), "example dot com", signs without width,
    look-alikes.
    Version numbers, file names, abbreviations and e-mail addresses are none.

    Args:
        allow: hosts that may be there, with their subdomains.
    """

    kind: ClassVar[str] = "no_urls"
    allow: Safe[tuple[str, ...]] = field(default=(), validator=_host)

    def check(self, text: Text) -> Finding:
        spans: dict[Span, str] = {}
        for reading, view in readings(text):
            if not _suspect(reading):
                continue
            for match in _URL.finditer(reading):
                if not self._allowed(match):
                    spans.setdefault(located(match, view), match[0])
        names = list(dict.fromkeys(name[:80] for name in spans.values()))
        return Finding(not spans, names[:20], [], list(spans)[:50])

    def _allowed(self, match: re.Match[str]) -> bool:
        whole = match[0].lower().rstrip(".,;:!?)]")
        if whole in _NAMES:
            return True
        host = _HOST.match(whole)
        name = host[1] if host else ""
        return any(name == own.lower() or name.endswith(f".{own.lower()}") for own in self.allow)
