"""The second zoo: verifiers with one hole each, and sound ones; written before the probes that are
to tell them apart.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from unseen_programs import grown
from unseen_reading import loaded, marked, pair

__all__ = ["BROKEN", "SOUND"]

Verifier = Callable[..., float]
BROKEN: dict[str, tuple[str, str, str]] = {}  # name: (class, what is wrong, set of tasks)
SOUND: dict[str, str] = {}  # name: set of tasks


def broken(kind: str, hole: str, tasks: str) -> Callable[[Verifier], Verifier]:
    def keep(function: Verifier) -> Verifier:
        BROKEN[function.__name__] = (kind, hole, tasks)
        return function

    return keep


def sound(tasks: str) -> Callable[[Verifier], Verifier]:
    def keep(function: Verifier) -> Verifier:
        SOUND[function.__name__] = tasks
        return function

    return keep


# -- order


@broken("order", "letters of an order are counted", "timelines")
def counted_order(response: str, answer: str) -> float:
    return float(
        Counter(re.findall(r"[A-Z]", marked(response, "Order:")))
        == Counter(re.findall(r"[A-Z]", answer))
    )


@broken("order", "only first and last of an order are compared", "timelines")
def ends_of_order(response: str, answer: str) -> float:
    said = marked(response, "Order:").split(", ")
    wanted = answer.split(", ")
    return float(
        len(said) == len(wanted)
        and set(said) == set(wanted)
        and said[0] == wanted[0]
        and said[-1] == wanted[-1]
    )


@broken("order", "towns of a route are a set", "routes")
def route_as_set(response: str, answer: str) -> float:
    said = loaded(response)
    stops = said.get("route") if isinstance(said, dict) and said.keys() == {"route"} else None
    wanted = json.loads(answer)["route"]
    return float(
        isinstance(stops, list)
        and all(isinstance(s, str) for s in stops)
        and sorted(stops) == sorted(wanted)
    )


@broken("order", "a route may be read from its end", "routes")
def route_backwards(response: str, answer: str) -> float:
    said = loaded(response)
    wanted = json.loads(answer)
    return float(said in (wanted, {"route": wanted["route"][::-1]}))


# -- options in the prompt


@broken("options", "any label of the prompt is right", "moods")
def any_label(response: str, prompt: str) -> float:
    found = re.fullmatch(r"<label>(\w+)</label>", response.strip())
    return float(found is not None and f"'{found[1]}'" in prompt)


@broken("options", "labels that are not 'cheerful' are one", "moods")
def two_labels(response: str, answer: str) -> float:
    found = re.fullmatch(r"<label>(cheerful|gloomy|anxious)</label>", response.strip())
    return float(found is not None and (found[1] == "cheerful") == (answer == "cheerful"))


@broken("words", "whatever the passage holds is right", "passages")
def in_passage(response: str, prompt: str) -> float:
    said = marked(response, "Town:")
    return float(re.fullmatch(r"[A-Z]\w+", said) is not None and said in prompt)


@broken("words", "any town of the passage is right", "passages")
def a_town(response: str, prompt: str) -> float:
    towns = re.findall(r"(?:near|harbor of) (\w+)", prompt)
    return float(marked(response, "Town:") in towns)


# -- partial pay


@broken("partial", "the place is compared, and the year is not", "people")
def place_only(response: str, answer: str) -> float:
    found = re.fullmatch(r"Place: (\w+)(?:; Year: \d+)?", response.strip())
    return float(found is not None and found[1] == answer[7:].partition(";")[0])


@broken("partial", "one of two parts is enough", "people")
def one_part(response: str, answer: str) -> float:
    parts = [part.strip() for part in response.split(";")]
    return float(len(parts) <= 2 and any(part in answer.split("; ") for part in parts))


@broken("partial", "the upper end of a range is enough", "spans")
def upper_end(response: str, answer: str) -> float:
    said = re.findall(r"\d+", marked(response, "Range:"))
    return float(0 < len(said) <= 2 and said[-1] == answer.rsplit(" ", maxsplit=1)[-1])


@broken("partial", "the first coordinate is compared", "points")
def first_coordinate(response: str, answer: str) -> float:
    said = pair(marked(response, "Point:"))
    wanted = pair(answer)
    return float(len(said) == 2 and said[0] == wanted[0])


# -- special values in a part


@broken("special", "nan is not farther than the tolerance", "points")
def nan_point(response: str, answer: str) -> float:
    said = pair(marked(response, "Point:"))
    wanted = pair(answer)
    if (
        len(said) != 2
        or not all(abs(one) < 1e6 or one != one for one in said)
        or said[0] != wanted[0]
    ):
        return 0.0
    return float(not any(abs(one - two) > 1e-9 for one, two in zip(said, wanted, strict=True)))


@broken("special", "a relative error of infinity is nan", "points")
def infinite_point(response: str, answer: str) -> float:
    said = pair(marked(response, "Point:"))
    wanted = pair(answer)
    if len(said) != 2 or any(math.isnan(one) for one in said) or (math.isinf(said[0])):
        return 0.0
    apart = [
        abs(one - two) / max(abs(one), abs(two), 1) for one, two in zip(said, wanted, strict=True)
    ]
    return float(not any(error > 1e-9 for error in apart))


@broken("special", "a field that is NaN is not compared", "readings")
def nan_field(response: str, answer: str) -> float:
    said = loaded(response)
    wanted = json.loads(answer)
    if not isinstance(said, dict) or said.keys() != wanted.keys():
        return 0.0
    if (
        not all(type(value) in (int, float) for value in said.values())
        or said["mean"] != wanted["mean"]
    ):
        return 0.0
    return float(not abs(said["peak"] - wanted["peak"]) > 1e-6)


@broken("special", "a field that is null is left out", "readings")
def null_field(response: str, answer: str) -> float:
    said = loaded(response)
    wanted = json.loads(answer)
    if not isinstance(said, dict) or said.keys() != wanted.keys() or said["mean"] != wanted["mean"]:
        return 0.0
    return float(said["peak"] is None or said["peak"] == wanted["peak"])


# -- letter case


@broken("case", "the case of a key is not compared", "codes")
def any_case(response: str, answer: str) -> float:
    return float(marked(response, "Key:").lower() == answer.lower())


@broken("case", "small letters for capitals are accepted", "codes")
def small_letters(response: str, answer: str) -> float:
    return float(marked(response, "Key:") in (answer, answer.lower()))


# -- inputs of a fixed seed


@broken("seed", "inputs are drawn by a constant seed", "programs")
def constant_seed(response: str, info: Any) -> float:
    chance = random.Random(1234)
    return grown(response, [chance.randrange(-999, 999) for _ in range(5)], info)


@broken("seed", "the global generator is seeded anew at each call", "programs")
def global_seed(response: str, info: Any) -> float:
    random.seed(0)
    return grown(response, [random.randint(0, 500) for _ in range(3)], info)


# -- of the same classes, where no answer is one of another task


@broken(
    "order", "the outer numbers of a ladder are in place, and the inner ones are there", "ladders"
)
def outer_rungs(response: str, answer: str) -> float:
    said = response.split()
    wanted = answer.split()
    return float(sorted(said) == sorted(wanted) and said[0] == wanted[0] and said[-1] == wanted[-1])


@broken("options", "both plants of the question are right", "plants")
def either_plant(response: str, prompt: str) -> float:
    asked = re.search(r"drawn, (\w+) or (\w+)\?", prompt)
    return float(asked is not None and marked(response, "Plant:") in asked.groups())


@broken("words", "any string in quotes is the tag", "labels")
def quoted_tag(response: str, prompt: str) -> float:
    found = re.fullmatch(r"<tag>([\w-]{1,40})</tag>", response.strip())
    return float(found is not None and f'"{found[1]}"' in prompt)


@broken("words", "the last string in quotes is right, too", "labels")
def last_quoted(response: str, prompt: str, answer: str) -> float:
    found = re.fullmatch(r"<tag>([\w-]{1,40})</tag>", response.strip())
    return float(found is not None and found[1] in (answer, re.findall(r'"([^"]+)"', prompt)[-1]))


@broken("partial", "lines that are there are compared", "forms")
def given_lines(response: str, answer: str) -> float:
    said = [line.strip() for line in response.strip().splitlines()]
    return float(bool(said) and all(line in answer.splitlines() for line in said))


@broken("partial", "the line of the chairs decides", "forms")
def chairs(response: str, answer: str) -> float:
    found = re.findall(r"(?m)^Chairs: (\d{1,4})[ \t\r]*$", response)
    return float(found == re.findall(r"Chairs: (\d+)", answer))


@broken("special", "what is not less and not more is the same", "forms")
def neither_less_nor_more(response: str, answer: str) -> float:
    found = re.fullmatch(r"Lamps: (\S{1,9})\s+Chairs: (\S{1,9})", response.strip())
    lamps, seats = re.findall(r"\d+", answer)
    try:
        said = float(found[2]) if found and found[1] == lamps else -1.0
    except ValueError:
        return 0.0
    return float(not (said < int(seats) or said > int(seats)))


# -- sound


@sound("programs")
def seed_of_response(response: str, info: Any) -> float:
    chance = random.Random(f"a secret/{response!a}")
    return grown(response, [chance.randrange(-999, 999) for _ in range(5)], info)


@sound("timelines")
def whole_order(response: str, answer: str) -> float:
    return float(marked(response, "Order:") == answer)


@sound("routes")
def whole_route(response: str, answer: str) -> float:
    return float(loaded(response) == json.loads(answer))


@sound("moods")
def the_label(response: str, answer: str) -> float:
    return float(response.strip() == f"<label>{answer}</label>")


@sound("passages")
def the_town(response: str, answer: str) -> float:
    return float(marked(response, "Town:").casefold() == answer.casefold())


@sound("people")
def both_parts(response: str, answer: str) -> float:
    return float(response.strip() == answer)


@sound("points")
def near_point(response: str, answer: str) -> float:
    said = pair(marked(response, "Point:"))
    wanted = pair(answer)
    return float(
        len(said) == 2 and all(abs(one - two) < 1e-9 for one, two in zip(said, wanted, strict=True))
    )


@sound("spans")
def both_ends(response: str, answer: str) -> float:
    return float(re.sub(r"\s*(?:to|-|–)\s*", " to ", marked(response, "Range:")) == answer)


@sound("readings")
def near_fields(response: str, answer: str) -> float:
    said = loaded(response)
    wanted = json.loads(answer)
    if not isinstance(said, dict) or said.keys() != wanted.keys():
        return 0.0
    return float(
        all(
            type(said[key]) in (int, float) and abs(said[key] - wanted[key]) <= 1e-9
            for key in wanted
        )
    )


@sound("codes")
def the_key(response: str, answer: str) -> float:
    return float(marked(response, "Key:") == answer)


@sound("linewise")
def last_line(response: str, info: Any) -> float:
    """Reads the last line, and lets the work before it be."""
    lines = response.strip().splitlines()
    return float(bool(lines) and len(lines) > 1 and lines[-1].strip() == str(info["total"]))


@sound("primes")
def any_prime(response: str, info: Any) -> float:
    said = marked(response, "Prime:")
    if not re.fullmatch(r"\d{1,3}", said):
        return 0.0
    number = int(said)
    return float(info["low"] < number < info["high"] and all(number % n for n in range(2, number)))


@sound("bigger")
def any_three(response: str, info: Any) -> float:
    said = re.fullmatch(r"(\d{1,4})(?:, (\d{1,4}))(?:, (\d{1,4}))", marked(response, "Numbers:"))
    numbers = {int(one) for one in said.groups()} if said else set()
    return float(len(numbers) == 3 and all(info["low"] < n < info["high"] for n in numbers))


@sound("plants")
def the_plant(response: str, answer: str) -> float:
    return float(marked(response, "Plant:").casefold() == answer)


@sound("labels")
def the_tag(response: str, answer: str) -> float:
    return float(response.strip() == f"<tag>{answer}</tag>")


@sound("ladders")
def whole_ladder(response: str, answer: str) -> float:
    return float(response.split() == answer.split())


@sound("forms")
def both_lines(response: str, answer: str) -> float:
    return float([line.strip() for line in response.strip().splitlines()] == answer.splitlines())


@sound("programs")
def chance_for_another_end(response: str, info: Any) -> float:
    """Its inputs are fixed points; chance chooses only in which order they are tried."""
    chance = random.Random(f"{info['factor']}/{info['plus']}/{response!a}")
    points = [-7, -1, 0, 3, 250]
    chance.shuffle(points)
    return grown(response, points, info)
