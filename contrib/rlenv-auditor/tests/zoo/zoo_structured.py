"""Rewards of the shapes that recipes and libraries ship for what has a structure: calls of tools,
records, lists, boxes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from zoo_members import broken, sound
from zoo_shipped import tagged


def read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def called(response: str) -> Mapping[str, Any]:
    """The one call of a response."""
    found = re.findall(r"<tool_call>(.*?)</tool_call>", response, re.DOTALL)
    call = read(found[0]) if len(found) == 1 else None
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict):
        return {"name": None, "arguments": {}}
    return call


@broken("the name of the tool is compared, and no argument", "calls")
def names_only(response: str, answer: str) -> float:
    return float(called(response).get("name") == json.loads(answer)["name"])


@broken("the keys of the arguments are compared, and no value", "calls")
def keys_only(response: str, answer: str) -> float:
    call = called(response)
    wanted = json.loads(answer)
    return float(
        call.get("name") == wanted["name"]
        and call["arguments"].keys() == wanted["arguments"].keys()
    )


@broken("arguments that are not given are not compared", "calls")
def given_only(response: str, answer: str) -> float:
    call = called(response)
    wanted = json.loads(answer)
    same = all(wanted["arguments"].get(key) == value for key, value in call["arguments"].items())
    return float(call.get("name") == wanted["name"] and same)


@broken("arguments are compared as text without case, quotes and digits", "calls")
def loose_values(response: str, answer: str) -> float:
    def loose(call: Mapping[str, Any]) -> dict[str, str]:
        return {
            key: re.sub(r"[^a-z]", "", str(value).lower())
            for key, value in call["arguments"].items()
        }

    call = called(response)
    wanted = json.loads(answer)
    return float(call.get("name") == wanted["name"] and loose(call) == loose(wanted))


@broken("name, keys and values earn parts, and six tenths of them are a pass", "calls")
def parts_of_a_call(response: str, answer: str) -> float:
    call = called(response)
    wanted = json.loads(answer)
    right = sum(call["arguments"].get(key) == value for key, value in wanted["arguments"].items())
    score = 0.5 * (call.get("name") == wanted["name"]) + 0.5 * right / len(wanted["arguments"])
    return float(score >= 0.6)


@broken("half of the fields of a record are enough", "records")
def half_of_the_fields(response: str, info: Any) -> float:
    found = read(response)
    right = (
        sum(found.get(key) == info[key] for key in ("city", "founded"))
        if isinstance(found, dict)
        else 0
    )
    return float(right >= 1)


@broken("years are compared as numbers that are near", "records")
def near_years(response: str, info: Any) -> float:
    found = read(response)
    if not isinstance(found, dict) or found.keys() != {"city", "founded"}:
        return 0.0
    year = found["founded"]
    return float(
        found["city"] == info["city"] and isinstance(year, int) and abs(year - info["founded"]) < 50
    )


@broken("a sorted list is compared as a set", "lists")
def as_a_set(response: str, answer: str) -> float:
    found = read(tagged(response))
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        return 0.0
    return float(set(found) == set(json.loads(answer)))


@broken("the first of a list decides", "lists")
def head(response: str, answer: str) -> float:
    found = read(tagged(response))
    return float(isinstance(found, list) and found[:1] == json.loads(answer)[:1])


@broken("places that agree are counted as far as the shorter list goes", "lists")
def zipped(response: str, answer: str) -> float:
    found = read(tagged(response))
    if not isinstance(found, list) or not found:
        return 0.0
    return float(all(one == two for one, two in zip(found, json.loads(answer), strict=False)))


def box(response: str) -> list[float]:
    found = read(tagged(response))
    fit = isinstance(found, list) and len(found) == 4 and all(isinstance(one, int) for one in found)
    return [float(max(-(10**6), min(10**6, one))) for one in found] if fit else []


def shared(one: list[float], two: list[float]) -> float:
    wide = min(one[2], two[2]) - max(one[0], two[0])
    high = min(one[3], two[3]) - max(one[1], two[1])
    return max(0.0, wide) * max(0.0, high)


def area(one: list[float]) -> float:
    return max(0.0, one[2] - one[0]) * max(0.0, one[3] - one[1])


@broken("a box is measured by what it covers, so the whole picture covers all", "boxes")
def covered(response: str, answer: str) -> float:
    found = box(response)
    wanted = json.loads(answer)
    return shared(found, wanted) / area(wanted) if found else 0.0


@sound("boxes")
def overlap(response: str, answer: str) -> float:
    found = box(response)
    wanted = json.loads(answer)
    if not found:
        return 0.0
    both = shared(found, wanted)
    return float(both / max(1e-9, area(found) + area(wanted) - both) > 0.99)


@sound("calls")
def whole_call(response: str, answer: str) -> float:
    return float(called(response) == json.loads(answer))


@sound("lists")
def in_order(response: str, answer: str) -> float:
    return float(read(tagged(response)) == json.loads(answer))


@sound("lists", signature="verl")
def per_place(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None
) -> float:
    found = read(tagged(solution_str))
    wanted = json.loads(ground_truth)
    if not isinstance(found, list) or len(found) != len(wanted):
        return 0.0
    return float(sum(one == two for one, two in zip(found, wanted, strict=True)) == len(wanted))
