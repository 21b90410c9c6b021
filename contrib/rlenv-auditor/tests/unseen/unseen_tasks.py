"""Tasks of the second zoo: rows by the name of their set, each with a right response."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["SETS"]

Rows = list[dict[str, Any]]
NAMES = [
    "Amara",
    "Bruno",
    "Chidi",
    "Dalia",
    "Emeka",
    "Farah",
    "Goran",
    "Hana",
    "Idris",
    "Jonas",
    "Kamal",
    "Lotte",
]
TOWNS = [
    "Lagos",
    "Quito",
    "Turin",
    "Hanoi",
    "Perth",
    "Malmo",
    "Davos",
    "Busan",
    "Tunis",
    "Leeds",
    "Osaka",
    "Accra",
]
EVENTS = ["the bridge opened", "the mill burned", "the school moved", "the mayor resigned"]


def row(number: int, prompt: str, answer: Any, response: str, **more: Any) -> dict[str, Any]:
    return {"id": f"u{number}", "prompt": prompt, "answer": answer, "right": response, **more}


def timelines() -> Rows:
    """An order of letters, said behind a mark."""
    orders = [
        "CADB",
        "BDAC",
        "DBCA",
        "ACDB",
        "BADC",
        "DACB",
        "CBDA",
        "BCAD",
        "ADBC",
        "CDAB",
        "DCAB",
        "ADCB",
    ]
    rows = []
    for n, order in enumerate(orders):
        listed = " ".join(
            f"({letter}) {event} in year {1900 + order.index(letter) * 7 + n}."
            for letter, event in zip("ABCD", EVENTS, strict=True)
        )
        prompt = (
            f"Put these events in chronological order. {listed} End with 'Order:' and the letters."
        )
        rows.append(
            row(n, prompt, ", ".join(order), f"I compared the years.\nOrder: {', '.join(order)}")
        )
    return rows


def routes() -> Rows:
    """A path through a graph, as a JSON object."""
    rows = []
    for n in range(12):
        stops = [TOWNS[(n + 5 * k) % 12] for k in range(4)]
        roads = "; ".join(f"{a} to {b}" for a, b in sorted(itertools.pairwise(stops)))
        prompt = (
            f"One-way roads: {roads}. Give the sequence of towns from {stops[0]} to {stops[-1]} as"
            ' JSON, {"route": [...]}.'
        )
        answer = '{"route": [' + ", ".join(f'"{s}"' for s in stops) + "]}"
        rows.append(row(n, prompt, answer, answer))
    return rows


def moods() -> Rows:
    """One of the labels that the prompt has in quotes."""
    labels = ["cheerful", "gloomy", "anxious"]
    rows = []
    for n, name in enumerate(NAMES):
        label = labels[n % 3]
        text = {
            "cheerful": "sang all day",
            "gloomy": "stared at the rain",
            "anxious": "checked the lock six times",
        }[label]
        prompt = (
            f"Today {name} {text}. Label the mood as 'cheerful', 'gloomy' or 'anxious' in <label>"
            " tags."
        )
        rows.append(row(n, prompt, label, f"<label>{label}</label>"))
    return rows


def passages() -> Rows:
    """An answer that is copied from a passage."""
    rows = []
    for n, name in enumerate(NAMES):
        town = TOWNS[n]
        other = TOWNS[(n + 4) % 12]
        prompt = (
            f"Passage: {name} grew up near {other} before a storm; later the harbor of {town} gave"
            " work to everyone. Question: which town gave work? Write 'Town:' and its name."
        )
        rows.append(row(n, prompt, town, f"Town: {town}"))
    return rows


def people() -> Rows:
    """A record in one line, of two parts."""
    rows = []
    for n, name in enumerate(NAMES):
        town = TOWNS[n]
        born = 1950 + 3 * n
        prompt = (
            f"The file says that a person called {name} was born in {born} at {town}. Write 'Place:"
            " ...; Year: ...'."
        )
        rows.append(row(n, prompt, f"Place: {town}; Year: {born}", f"Place: {town}; Year: {born}"))
    return rows


def points() -> Rows:
    """A pair of numbers in parentheses."""
    rows = []
    for n in range(12):
        x = 3 + 2 * n
        y = 40 - 3 * n
        prompt = (
            f"Lines x + y = {x + y} and x - y = {x - y} meet in one point. Give it as Point:"
            " (x, y)."
        )
        rows.append(row(n, prompt, f"({x}, {y})", f"We add both lines.\nPoint: ({x}, {y})"))
    return rows


def spans() -> Rows:
    """Two numbers with a dash between them."""
    rows = []
    for n in range(12):
        low = 12 + 5 * n
        high = 30 + 8 * n
        prompt = (
            f"Values seen: {low + 3}, {high}, {low}, {low + 9}. State smallest and largest as"
            " 'Range: a to b'."
        )
        rows.append(row(n, prompt, f"{low} to {high}", f"Range: {low} to {high}"))
    return rows


def readings() -> Rows:
    """A record of numbers in JSON."""
    rows = []
    for n in range(12):
        mean = 11.5 + n
        peak = 20.25 + 2 * n
        prompt = (
            f"Sensor {n}: lowest {2 * mean - peak}, highest {peak}, evenly spread. Give JSON with"
            " mean and peak."
        )
        answer = f'{{"mean": {mean}, "peak": {peak}}}'
        rows.append(row(n, prompt, answer, answer))
    return rows


def codes() -> Rows:
    """A key whose letter case is part of it."""
    keys = [
        "aQ7x",
        "Rt2B",
        "k9LmZ",
        "Pz4e",
        "w3Hh",
        "Xy8K",
        "b5GnT",
        "Vd6u",
        "s1JjC",
        "Mf3o",
        "y2WwE",
        "Ui9r",
    ]
    return [
        row(
            n,
            f"Reverse the key {key[::-1]} and keep upper and lower case. Write Key: and the"
            " result.",
            key,
            f"Key: {key}",
        )
        for n, key in enumerate(keys)
    ]


def programs() -> Rows:
    """A function of one number; its inputs are drawn by the verifier."""
    rows = []
    for n in range(4):
        text = f"def grow(x):\n    return {n + 2} * x + {7 * n + 1}\n"
        prompt = f"Write grow(x) in Python: {n + 2} times x, plus {7 * n + 1}."
        rows.append(row(n, prompt, None, f"```python\n{text}```", factor=n + 2, plus=7 * n + 1))
    return rows


def linewise() -> Rows:
    """Work first, in numbered lines; the last line is the answer."""
    rows = []
    for n in range(12):
        a = 14 + n
        b = 3 * n + 5
        prompt = f"Add {a} and {b} in numbered lines; the last line is the total alone."
        rows.append(row(n, prompt, None, f"1. Take {a}.\n2. Take {b}.\n{a + b}", total=a + b))
    return rows


def primes() -> Rows:
    """Several answers are right."""
    bounds = [
        (10, 30),
        (10, 40),
        (20, 50),
        (30, 60),
        (10, 60),
        (40, 80),
        (20, 90),
        (50, 90),
        (10, 90),
        (60, 99),
        (30, 70),
        (20, 70),
    ]
    found = [13, 17, 23, 31, 19, 41, 29, 53, 37, 61, 43, 47]
    return [
        row(
            n,
            f"Give a prime that is greater than {low} and less than {high}, as Prime: p",
            str(found[n]),
            f"Prime: {found[n]}",
            low=low,
            high=high,
        )
        for n, (low, high) in enumerate(bounds)
    ]


def bigger() -> Rows:
    """A list of which many are right."""
    return [
        row(
            n,
            f"List three different integers above {10 * n} and below {10 * n + 60}, parted by"
            " commas, as Numbers: ...",
            None,
            f"Numbers: {10 * n + 5}, {10 * n + 17}, {10 * n + 31}",
            low=10 * n,
            high=10 * n + 60,
        )
        for n in range(12)
    ]


PLANTS = [
    "fern",
    "moss",
    "reed",
    "iris",
    "palm",
    "vine",
    "sage",
    "mint",
    "rose",
    "oak",
    "elm",
    "fig",
]


def plants() -> Rows:
    """Two words of the prompt to choose from, another pair in each task."""
    rows = []
    for n, name in enumerate(NAMES):
        right = PLANTS[n]
        other = PLANTS[(n + 3) % 12]
        first, last = sorted([right, other])
        prompt = (
            f"{name} drew a {right} on Monday and burned a {other} on Friday. Which was drawn,"
            f" {first} or {last}? Write Plant: and one word."
        )
        rows.append(row(n, prompt, right, f"Plant: {right}"))
    return rows


def labels() -> Rows:
    """Three strings in quotes, others in each task."""
    rows = []
    for n in range(12):
        tags = [f"{TOWNS[(n + k) % 12].lower()}-{PLANTS[(n * 5 + k) % 12]}" for k in range(3)]
        prompt = (
            f'Ticket {n} was filed under "{tags[0]}", moved to "{tags[1]}" and closed. Its first'
            f' tag is asked for, not "{tags[2]}". Reply in <tag> tags.'
        )
        rows.append(row(n, prompt, tags[0], f"<tag>{tags[0]}</tag>"))
    return rows


def ladders() -> Rows:
    """Five numbers in an order, one a line."""
    rows = []
    for n in range(12):
        numbers = [11 + n, 24 + 2 * n, 37 + 3 * n, 58 + 5 * n, 91 + 6 * n]
        mixed = [numbers[k] for k in (3, 0, 4, 2, 1)]
        prompt = f"Sort ascending, one number a line, nothing else: {', '.join(map(str, mixed))}"
        text = "\n".join(map(str, numbers))
        rows.append(row(n, prompt, text, text))
    return rows


def forms() -> Rows:
    """Two lines, each with a part of the answer."""
    rows = []
    for n, name in enumerate(NAMES):
        prompt = (
            f"{name} ordered {3 + n} lamps and {20 - n} chairs. Fill in two lines: 'Lamps: ' and"
            " 'Chairs: '."
        )
        text = f"Lamps: {3 + n}\nChairs: {20 - n}"
        rows.append(row(n, prompt, text, text))
    return rows


SETS: Mapping[str, Sequence[dict[str, Any]]] = {
    "timelines": timelines(), "routes": routes(), "moods": moods(), "passages": passages(),
    "people": people(), "points": points(), "spans": spans(), "readings": readings(),
    "codes": codes(), "programs": programs(), "linewise": linewise(), "primes": primes(),
    "bigger": bigger(), "plants": plants(), "labels": labels(), "ladders": ladders(),
    "forms": forms(),
}  # fmt: skip
