"""No personal data: addresses, numbers of telephones, cards and accounts, each checked by its own
rule.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe, suggest

from rlenv_plugin_constraints.constraint import Finding, Span
from rlenv_plugin_constraints.kinds.urls import located, readings
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import beyond_ascii, replaced

__all__ = ["NoPii", "iban_holds", "luhn"]

_AT = r"(?:@|\s?[\[({]\s?at\s?[\])}]\s?|\[@\]|\(@\))"
_DOT = r"(?:\.|\s?[\[({]\s?(?:dot|\.)\s?[\])}]\s?)"
_EMAIL = re.compile(
    rf"(?<![\w.+-])[\w+%'-]+(?:\.[\w+%'-]+){{0,8}}{_AT}(?:[^\W_](?:[\w-]{{0,61}}[^\W_])?{_DOT}){{1,5}}[^\W\d_]{{2,24}}(?!\w)"
    r"|\b[\w.+-]{2,40} at [\w-]{2,40} dot (?:com|org|net|edu|io|co)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\+?\(?\d(?:[ \t.()/\u2010-\u2015-]{0,2}\d){6,24}(?![\w]|[.,]\d)")
_CALL = re.compile(
    r"(?:tel(?:ephone)?|phone|call|mobile|cell|fax|whatsapp|ring|text|dial)\b[^\d\n]{0,20}\Z",
    re.IGNORECASE,
)
_PAIRS = re.compile(r"\d\d(?:[ .-]\d\d)+\Z")
_CARD_GROUPS = re.compile(
    r"\d+\Z|\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?\Z|\d{4}([ -])\d{6}\2\d{4,5}\Z"
)
_NANP = re.compile(r"(?:\+?1[ .-]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}\Z")
_NATIONAL = re.compile(r"\(?0[1-9]\d{0,3}\)?(?:[ ./-]\d{2,4}){2,4}\Z|\(?0\d{2,5}\)?[ /-]\d{5,8}\Z")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}([ -])(?!00)\d\d\1(?!0000)\d{4}(?![\w-])")
_SSN_BARE = re.compile(
    r"\b(?:ssn|social security(?: number)?)\W{0,4}(?:is\W)?(?!000|666|9)\d{9}\b", re.IGNORECASE
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?:[ -]?[A-Z0-9]){11,30}(?![A-Za-z0-9])", re.IGNORECASE
)
_IPV4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.IGNORECASE)
_VERSION = re.compile(
    r"(?:(?<![^\W_])(?:v|ver|version|release|build|section|chapter|clause|rev)|§)\.?\s?\Z",
    re.IGNORECASE,
)
_BOOK = re.compile(
    r"(?:isbn|issn|doi|ean|upc|gtin|order|invoice|arxiv)\W{0,3}(?:1[03]\W{1,2})?(?:no\.?|number|id|#)?\W{0,3}\Z",
    re.IGNORECASE,
)
_SAID = re.compile(r"[\[({] ?(?:at|@) ?[\])}]|\bat [\w-]{2,40} dot\b", re.IGNORECASE)
_COLONS = re.compile(r"::|(?::[0-9a-f]{1,4}){7}", re.IGNORECASE)
_DIGITS = re.compile(r"\d(?:[A-Z \t.()/\u2010-\u2015-]{0,2}\d){3}", re.IGNORECASE)
# Lengths of national account numbers, ISO 13616.
_IBAN_LENGTHS = dict(
    zip(
        [
            "AD",
            "AE",
            "AL",
            "AT",
            "AZ",
            "BA",
            "BE",
            "BG",
            "BH",
            "BR",
            "BY",
            "CH",
            "CR",
            "CY",
            "CZ",
            "DE",
            "DK",
            "DO",
            "EE",
            "EG",
            "ES",
            "FI",
            "FO",
            "FR",
            "GB",
            "GE",
            "GI",
            "GL",
            "GR",
            "GT",
            "HR",
            "HU",
            "IE",
            "IL",
            "IQ",
            "IS",
            "IT",
            "JO",
            "KW",
            "KZ",
            "LB",
            "LC",
            "LI",
            "LT",
            "LU",
            "LV",
            "LY",
            "MC",
            "MD",
            "ME",
            "MK",
            "MR",
            "MT",
            "MU",
            "NL",
            "NO",
            "PK",
            "PL",
            "PS",
            "PT",
            "QA",
            "RO",
            "RS",
            "SA",
            "SC",
            "SE",
            "SI",
            "SK",
            "SM",
            "ST",
            "SV",
            "TL",
            "TN",
            "TR",
            "UA",
            "VA",
            "VG",
            "XK",
        ],
        [
            24,
            23,
            28,
            20,
            28,
            20,
            16,
            22,
            22,
            29,
            28,
            21,
            22,
            28,
            24,
            22,
            18,
            28,
            20,
            29,
            24,
            18,
            18,
            27,
            22,
            22,
            23,
            18,
            27,
            28,
            21,
            28,
            22,
            23,
            23,
            26,
            27,
            30,
            30,
            20,
            28,
            32,
            21,
            20,
            20,
            21,
            25,
            27,
            24,
            22,
            19,
            27,
            31,
            30,
            18,
            15,
            24,
            28,
            29,
            25,
            29,
            24,
            22,
            24,
            31,
            24,
            19,
            24,
            27,
            25,
            28,
            23,
            24,
            26,
            29,
            22,
            24,
            20,
        ],
        strict=True,
    )
)
KINDS = ("email", "phone", "card", "iban", "ssn", "ip")


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812-1 (Luhn's)."""
    total = sum(int(d) for d in digits[-1::-2]) + sum(
        sum(divmod(2 * int(d), 10)) for d in digits[-2::-2]
    )
    return total % 10 == 0


def _is_account(text: str) -> bool:
    bare = re.sub(r"[ -]", "", text).upper()
    return len(bare) == _IBAN_LENGTHS.get(bare[:2])


def iban_holds(text: str) -> bool:
    """Whether country, length and check digits are those of an account number (ISO 13616, modulo
    97).
    """
    bare = re.sub(r"[ -]", "", text).upper()
    if not _is_account(text):
        return False
    return int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


def _isbn(digits: str) -> bool:
    if len(digits) == 13 and digits[:3] in ("978", "979"):
        return sum(int(d) * (1 + 2 * (n % 2)) for n, d in enumerate(digits)) % 10 == 0
    return len(digits) == 10 and sum((10 - n) * int(d) for n, d in enumerate(digits)) % 11 == 0


def _card(digits: str) -> bool:
    return (
        13 <= len(digits) <= 19 and digits[0] in "23456" and len(set(digits)) > 1 and luhn(digits)
    )


def _known(_: Any, __: Any, value: tuple[str, ...]) -> None:
    for name in value:
        if name not in KINDS:
            raise ConfigError(f"{name!r} is none of these; {suggest(name, KINDS)}")
    if not value:
        raise ConfigError(f"name at least one of {', '.join(KINDS)}")


@frozen
class NoPii:
    """No personal data of these kinds.

    Full-width digits, look-alikes and (at)/[dot] disguises are seen through.

    Cards count when Luhn's digit holds, account numbers (IBAN) when theirs does; telephone numbers
    when they are international, North American, national with a leading 0, or follow a word such as
    "call". Version numbers, dates, ISBN and loopback addresses are none.

    Args:
        only: of "email", "phone", "card", "iban", "ssn", "ip"; all by default.
        allow: values that may be there as they are written.
    """

    kind: ClassVar[str] = "no_pii"
    only: Safe[tuple[str, ...]] = field(default=KINDS, validator=_known)
    allow: Safe[tuple[str, ...]] = ()

    def check(self, text: Text) -> Finding:
        found: dict[Span, str] = {}
        for reading, view in readings(text):
            plain = reading if reading.isascii() else _digits(reading)
            for what, match in _findings(plain):
                if what in self.only and match[0].strip() not in self.allow:
                    found.setdefault(located(match, view), what)
        counts = {
            what: list(found.values()).count(what) for what in KINDS if what in found.values()
        }
        return Finding(not found, counts, {}, list(found)[:50])


def _digits(text: str) -> str:
    """Digits of every script as Latin ones, at the same places."""
    odd = [sign for sign in beyond_ascii(text) if sign.isdecimal()]
    return replaced(text, {sign: str(unicodedata.decimal(sign)) for sign in odd})


def _findings(text: str) -> list[tuple[str, re.Match[str]]]:
    found: list[tuple[str, re.Match[str]]] = []
    if "@" in text or _SAID.search(text):
        found += [("email", m) for m in _EMAIL.finditer(text)]
    if text.count(":") > 1 and _COLONS.search(text):
        found += [("ip", m) for m in _IPV6.finditer(text) if _is_address(text, m)]
    if not _DIGITS.search(text):
        return found
    found += [("ssn", m) for rule in (_SSN, _SSN_BARE) for m in rule.finditer(text)]
    accounts = [m for m in _IBAN.finditer(text) if _is_account(m[0])]
    found += [("iban", m) for m in accounts if iban_holds(m[0])]
    taken = [m.span() for what, m in found if what == "ssn"]
    # The digits of an account number are no card, even where its check digits do not hold.
    taken += [m.span() for m in accounts]
    found += [("ip", m) for m in _IPV4.finditer(text) if _is_address(text, m)]
    for match in _NUMBER.finditer(text):
        if any(a < match.end() and match.start() < b for a, b in taken[:100]):
            continue
        if what := _number(text, match):
            found.append((what, match))
    return found


def _number(text: str, match: re.Match[str]) -> str:
    """ "card", "phone" or "" for a run of digits and what joins them."""
    digits = re.sub(r"\D", "", match[0])
    before = text[max(0, match.start() - 30) : match.start()]
    if (_isbn(digits) and not _PAIRS.match(match[0])) or _BOOK.search(before):
        return ""
    if _card(digits) and (len(digits) in (15, 16) or _CARD_GROUPS.match(match[0])):
        return "card"
    if match[0].startswith("+"):
        return "phone" if 8 <= len(digits) <= 15 else ""
    if _NANP.match(match[0]) or (9 <= len(digits) <= 12 and _NATIONAL.match(match[0])):
        return "phone"
    return "phone" if 7 <= len(digits) <= 15 and _CALL.search(before) else ""


def _is_address(text: str, match: re.Match[str]) -> bool:
    if _VERSION.search(text[max(0, match.start() - 12) : match.start()]):
        return False
    groups = match[0].count(":")
    if groups and (not re.search(r"\d", match[0]) or ("::" not in match[0] and groups < 7)):
        return False
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return False
    mask = match[0].startswith(("255.", "0."))
    return not (address.is_loopback or address.is_unspecified or mask)
