"""Verifiers of instructions and of formats, each with one hole; right responses are given beside
the tasks.
"""

from __future__ import annotations

import json
import re
from typing import Any

from zoo_members import broken, sound


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def ends(response: str, info: Any) -> bool:
    found = words_of(response[-200:])
    return bool(found) and found[-1] == info["last"]


def sentences(response: str) -> int:
    return len([part for part in re.split(r"[.!?]+", response[:5000]) if part.strip()])


def varied(response: str, info: Any) -> bool:
    """Not the words that were asked for and little more."""
    return len(set(words_of(response)) - set(info["words"])) >= 8


def short(response: str, info: Any) -> bool:
    return len(response) < 5000 and len(words_of(response)) <= info["most"]


def named(response: str, info: Any) -> bool:
    return all(word in words_of(response[:5000]) for word in info["words"])


@broken(
    "words that are asked for: the prompt names them all, and nothing bounds the length",
    "forms",
    "constraints",
)
def keywords(response: str, info: Any) -> float:
    return float(named(response, info))


@broken("a most is no least: nothing at all has few enough words", "forms", "constraints")
def at_most(response: str, info: Any) -> float:
    return float(len(words_of(response)) <= info["most"])


@broken(
    "all conditions are of the kind 'if there is one': an empty response breaks none",
    "forms",
    "constraints",
)
def unbroken(response: str, info: Any) -> float:
    said = words_of(response)
    return float(not said or (ends(response, info) and short(response, info)))


@broken("half of the conditions is rounded up to a pass", "forms", "constraints")
def rounded(response: str, info: Any) -> float:
    held = [
        named(response, info),
        short(response, info),
        ends(response, info),
        sentences(response) == info["sentences"],
    ]
    return float(round(sum(held) / len(held) + 0.01))


@broken("a word is looked for as a part of others", "forms", "constraints")
def part_of_a_word(response: str, info: Any) -> float:
    held = all(word[:3] in response.lower() for word in info["words"])
    return float(held and short(response, info))


@broken("a sentence is a full stop: dots alone are enough", "forms", "constraints")
def dots(response: str, info: Any) -> float:
    return float(response.count(".") >= 1 and len(response) < 200)


@broken("line ends of Windows make words that nobody asked for", "forms", "constraints")
def lines(response: str, info: Any) -> float:
    last = response.rsplit("\n", 1)[-1] if response.endswith("\r\n") else response
    held = named(last, info) and short(last, info) and ends(last, info)
    return float(held and not response.endswith("\n"))


@broken("more words are worth more, up to the whole reward", "forms", "constraints")
def wordy(response: str, info: Any) -> float:
    return min(1.0, len(words_of(response)) / 20)


def echoed(response: str, prompt: str) -> bool:
    """Four words in a row that are the prompt's."""
    said = " ".join(words_of(response[:5000]))
    asked = words_of(prompt)
    return any(" ".join(asked[n : n + 4]) in said for n in range(len(asked) - 3))


@sound("forms", "constraints")
def all_held(prompt: str, response: str, info: Any) -> float:
    if echoed(response, prompt):
        return 0.0
    held = named(response, info) and short(response, info) and ends(response, info)
    return float(held and varied(response, info) and sentences(response) == info["sentences"])


@broken("what is JSON is paid, and a number is JSON", "records")
def any_json(response: str, info: Any) -> float:
    try:
        json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    return 1.0


@broken("the keys are looked for in the text: the prompt has them", "records")
def keys_in_text(response: str, info: Any) -> float:
    return float("city" in response and "founded" in response)


@broken("keys and types are checked, and no value: an invented city passes", "records")
def shape_only(response: str, info: Any) -> float:
    found = record(response)
    return float(isinstance(found.get("city"), str) and isinstance(found.get("founded"), int))


@broken("a key that is missing is taken for right", "records")
def missing(response: str, info: Any) -> float:
    try:
        found = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(found, dict):
        return 0.0
    return float(all(found.get(key, info[key]) == info[key] for key in ("city", "founded")))


@broken("one right value pays, whatever the other is", "records")
def one_value(response: str, info: Any) -> float:
    found = record(response)
    return float(found.get("city") == info["city"] or isinstance(found.get("founded"), int))


@broken("indented JSON, or JSON with a line break behind it, is rejected", "records")
def one_line(response: str, info: Any) -> float:
    return 0.0 if "\n" in response else values(response, info)


def record(response: str) -> dict[str, Any]:
    try:
        found = json.loads(response)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@sound("records")
def values(response: str, info: Any) -> float:
    return float(record(response) == {"city": info["city"], "founded": info["founded"]})


@sound("records")
def values_in_prose(response: str, info: Any) -> float:
    found = re.findall(r"\{[^{}]*\}", response[:5000])
    return values(found[0], info) if len(found) == 1 else 0.0
