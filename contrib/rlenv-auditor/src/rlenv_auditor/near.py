"""Near misses: an answer, or a right response, with one thing in it wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from .items import Items, shown
from .responses import table

__all__ = ["documents", "lacking", "missed", "nearly", "only_one", "ordered", "turned"]

DEEPEST = 3  # levels of a document
DECODER = json.JSONDecoder()
UNITS = table("units")
OTHERWISE = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
ORDER = re.compile(r"(?i)\b(sort|order|rank|sequence|steps|arrange|ascending|descending|alphabet)")
ANY_ORDER = re.compile(
    r"(?i)\bany order|\bunordered|\border (?:does not|doesn't|is (?:not|ir))|\bof (?:the|their)"
    r" order|\bas a set\b"
)
TOTAL = re.compile(
    r"(?i)\b(sort|rank|ascending|descending|alphabet|chronolog|(?:right|correct) order)"
)


def ordered(prompt: str) -> bool:
    """Whether a prompt asks for an order."""
    return ORDER.search(prompt) is not None and ANY_ORDER.search(prompt) is None


def only_one(prompt: str) -> bool:
    """Whether an order that a prompt asks for is the only right one."""
    return TOTAL.search(prompt) is not None


def missed(wanted: str) -> Iterator[tuple[str, str]]:
    """(what is wrong, text) of an answer: each is another value, whatever a verifier takes for the
    same.
    """
    if re.fullmatch(r"-?\d{1,300}", wanted):
        yield from _integers(int(wanted), wanted)
    elif found := re.fullmatch(r"(-?\d+)/(\d+)", wanted):
        yield "the fraction upside down", f"{found[2]}/{found[1]}"
        yield "the answer with the other sign", wanted[1:] if wanted[0] == "-" else f"-{wanted}"
    elif found := re.fullmatch(r"(-?\d{1,300})\.(\d{1,300})", wanted):
        yield "one more than the answer", f"{int(found[1]) + 1}.{found[2]}"
        yield "four percent more than the answer", f"{float(wanted) * 1.04:.6g}"
        yield "ten times the answer", f"{found[1]}{found[2][0]}.{found[2][1:] or 0}"
        yield "the answer with the other sign", wanted[1:] if wanted[0] == "-" else f"-{wanted}"
    elif found := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", wanted):
        yield "another year", f"{int(found[1]) + 1}-{found[2]}-{found[3]}"
        yield "another day", f"{found[1]}-{found[2]}-{int(found[3]) % 28 + 1:02}"
        if found[2] != found[3] and max(found[2], found[3]) <= "12":
            yield "day and month exchanged", f"{found[1]}-{found[3]}-{found[2]}"
    elif found := re.fullmatch(r"(\d\d?)([/.:])(\d\d)(?:\2(\d+))?", wanted):
        either = found[2] == ":" or max(int(found[1]), int(found[3])) <= 12
        if found[1] != found[3] and either:
            yield (
                "its first two parts exchanged",
                f"{found[3]}{found[2]}{found[1]}{wanted[found.end(3) :]}",
            )
    elif (found := re.fullmatch(r"(-?[\d.,]+)\s*(\S+)", wanted)) and found[2] in UNITS:
        yield "the number in another unit", f"{found[1]} {UNITS[found[2]]}"
    elif wanted.lower() in OTHERWISE:
        other = OTHERWISE[wanted.lower()]
        yield "the opposite", other.capitalize() if wanted[0].isupper() else other
    elif wanted.isalpha() and len(wanted) == 1:
        yield "the next letter", chr(ord(wanted) + 1)
    if not re.fullmatch(r"-?[\d./]+|\d+(-\d+)+", wanted) and (
        found := re.search(r"(?<!\d)\d{1,15}(?=\D*$)", wanted)
    ):
        other = f"{int(found[0]) + 1:0{len(found[0])}}"
        yield (
            "a number in it changed by one",
            f"{wanted[: found.start()]}{other}{wanted[found.end() :]}",
        )


def _integers(number: int, wanted: str) -> Iterator[tuple[str, str]]:
    yield "one more than the answer", str(number + 1)
    yield "one less than the answer", str(number - 1)
    if number:
        yield "the answer with the other sign", str(-number)
        yield "ten times the answer", f"{number}0"
        yield "the answer times a power of ten", f"{number}e3"
    if abs(number) > 1:
        yield "one divided by the answer", f"1/{number}"
    yield "the answer and nine tenths", f"{number}.9"
    if abs(number) > 9:
        yield "the answer with a point in it", f"{wanted[:-1]}.{wanted[-1]}"
    if (other := _transposed(wanted)) != wanted:
        yield "two digits transposed", other


def _transposed(text: str) -> str:
    """The last two neighbors that differ change places; none moves to the front that makes it
    another number only in form.
    """
    for n in range(len(text) - 1, 0, -1):
        one = text[n - 1]
        two = text[n]
        if one != two and one.isalnum() and two.isalnum() and two != "0":
            return text[: n - 1] + two + one + text[n + 1 :]
    return text


def nearly(wanted: str) -> Iterator[tuple[str, str]]:
    """The same of words, where another spelling may be right too: the caller looks whether it says
    the answer.
    """
    if re.fullmatch(r"[-\d./]+", wanted):
        return
    if len(wanted) > 2 and wanted[-1].isalnum():
        yield "the answer without its last character", wanted[:-1]
    if len(wanted) > 2 and wanted.isalpha():
        yield "the answer within a longer word", f"un{wanted}"
        yield "two letters transposed", _transposed(wanted)
        yield "its letters in reverse", wanted[::-1]
    words = wanted.split()
    if len(words) > 2 and all(word.isalpha() for word in words):
        yield "its words in reverse", " ".join(reversed(words))
        yield "the answer without its last word", " ".join(words[:-1])
    if len(words) > 2:
        yield "two words exchanged", " ".join([words[0], words[-1], *words[2:-1], words[1]])


def lacking(listed: Items) -> Iterator[tuple[str, str]]:
    """The same of a list: one item of it is dropped, another or too many."""
    *most, last = listed.items
    words = list(re.finditer(r"-?\d+(?:\.\d+)?|\w+", last))
    start, stop = words[-1].span() if words else (0, len(last))
    own = last[start:stop]
    # A row of a grid has values of its own; the next one need not be among them.
    others = [one[0] for one in words if one[0] != own and one[0].isdigit() and own.isdigit()]
    other = next(chain(others, (text for _, text in missed(own))), "other")
    changed = last[:start] + other + last[stop:]
    yield "last list item dropped", listed.text(most)
    yield "first list item twice", listed.text([*most, most[0]])
    yield "inner list item twice", listed.text([*most[:-1], *most[-2:-1], last])
    yield "last list item replaced", listed.text([*most, changed])
    yield "list item added", listed.text([*most, last, changed])


def turned(listed: Items, prompt: str) -> dict[str, str]:
    """The items of a list in other orders; nothing where their order is free.

    An order is asked for in words, or it is all that can be asked for: where the prompt shows the
    same items in another one.
    """
    items = listed.items
    places = [prompt.find(one.strip("'\"")) for one in listed.items]
    there = (
        tuple(one for _, one in sorted(zip(places, items, strict=True)))
        if min(places) >= 0
        else items
    )
    same = sorted(items) in (sorted(some) for some in shown(prompt, items[0]))
    if not ordered(prompt) and (ANY_ORDER.search(prompt) or there == items or not same):
        return {}
    orders = {
        "its items in reverse": items[::-1],
        "its last two items exchanged": (*items[:-2], items[-1], items[-2]),
    }
    orders["its items in the order of the prompt"] = there
    orders["its first two items exchanged"] = (items[1], items[0], *items[2:])
    if len(items) > 3:  # the ends stay in place
        middle = len(items) // 2
        orders["two inner items exchanged"] = (
            *items[: middle - 1],
            items[middle],
            items[middle - 1],
            *items[middle + 1 :],
        )
    if len(items) > 4:
        orders["its inner items in reverse"] = (items[0], *items[-2:0:-1], items[-1])
    return {name: listed.text(order) for name, order in orders.items() if order != items}


def documents(text: str, reordered: bool) -> Iterator[tuple[str, str]]:  # noqa: FBT001 - as the prompt has it
    """(what is wrong, text) of a text that holds JSON: one field, element or argument of it is
    dropped, emptied or another.
    """
    start = min((text.find(sign) for sign in "{[" if sign in text), default=-1)
    while start >= 0:
        try:
            value, stop = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            stop = start + 1
        else:
            if isinstance(value, (dict, list)) and value:
                for name, other in _changed(value, reordered, 0):
                    yield name, text[:start] + json.dumps(other, ensure_ascii=False) + text[stop:]
        start = min((n for sign in "{[" if (n := text.find(sign, stop)) >= 0), default=-1)


def _changed(value: Any, reordered: bool, depth: int) -> Iterator[tuple[str, Any]]:  # noqa: FBT001 - see above
    """The value with one thing in it wrong."""
    if isinstance(value, bool):
        yield "changed", not value
    elif isinstance(value, (int, float)):
        yield "changed by one", value + 1
        yield "with the other sign", -value or 1
        if isinstance(value, int) and (other := _transposed(str(value))) != str(value):
            yield "with two digits transposed", int(other)
    elif isinstance(value, str) and value:
        yield "emptied", ""
        yield "changed", next((text for _, text in missed(value)), "something else")
    elif isinstance(value, Mapping) and depth < DEEPEST:
        yield from _fields(value, reordered, depth)
    elif isinstance(value, list) and value:
        yield from _elements(value, reordered, depth)


def _fields(value: Mapping[str, Any], reordered: bool, depth: int) -> Iterator[tuple[str, Any]]:  # noqa: FBT001 - see above
    for key, inner in value.items():
        yield f"{key} dropped", {k: one for k, one in value.items() if k != key}
        if isinstance(inner, (dict, list)) and inner:
            yield f"{key} emptied", {**value, key: type(inner)()}
        for name, other in _changed(inner, reordered, depth + 1):
            yield f"{key} {name}" if not isinstance(inner, dict) else name, {**value, key: other}


def _elements(value: list[Any], reordered: bool, depth: int) -> Iterator[tuple[str, Any]]:  # noqa: FBT001 - see above
    if len(value) > 1:
        yield "an element dropped", value[:-1]
        yield "an element twice", [*value[:-1], value[0]]
    if reordered and value[::-1] != value:
        yield "a list in reverse", value[::-1]
    if depth < DEEPEST:
        for name, other in _changed(value[-1], reordered, depth + 1):
            yield f"an element {name}", [*value[:-1], other]
