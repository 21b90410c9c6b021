"""Write passages.jsonl and tasks.jsonl, and the hash of the passages into rag.py: who ran what in
which town, and when.

python write_tasks.py
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOWNS = ("Korr", "Lauter", "Mesk", "Nivel", "Ostra", "Prell", "Rhona", "Skarn")
HOUSES = ("mill", "school", "harbor", "observatory")
FIRST = (
    "Ada",
    "Bruno",
    "Clara",
    "Dag",
    "Elin",
    "Finn",
    "Greta",
    "Hugo",
    "Ida",
    "Jan",
    "Karin",
    "Lars",
)
LAST = (
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
    "Quist",
    "Ricci",
    "Sato",
    "Tanner",
    "Urban",
    "Vega",
    "Weiss",
)
Tenure = tuple[str, str, int, int, str]  # house, town, from, to, who


def tenures(chance: random.Random) -> list[Tenure]:
    """Three people one after the other for each house of each town."""
    people = [f"{first} {last}" for first in FIRST for last in LAST]
    made = []
    chance.shuffle(people)
    for town in TOWNS:
        for house in HOUSES:
            year = chance.randint(1880, 1895)
            for _ in range(3):
                end = year + chance.randint(5, 12)
                made.append((house, town, year, end, people.pop()))
                year = end + 1
    return made


def texts(made: Sequence[Tenure]) -> Iterator[str]:
    """A passage for each tenure, and one for each bridge between two towns, in an order that tells
    nothing.
    """
    for house, town, start, end, who in made:
        yield f"From {start} to {end} the {house} of {town} was run by {who}."


def bridges(chance: random.Random) -> list[tuple[str, str, int]]:
    """When the towns opened a bridge to the next."""
    return [
        (a, b, chance.randint(1897, 1910))
        for a, b in zip(TOWNS, TOWNS[1:] + TOWNS[:1], strict=True)
    ]


def tasks(
    made: Sequence[Tenure],
    opened: Sequence[tuple[str, str, int]],
    names: Mapping[str, str],
    chance: random.Random,
) -> Iterator[dict[str, object]]:
    """Questions of one passage and of two in turn."""
    for number in range(24):
        house, town, start, end, who = tenure = chance.choice(made)
        if number % 2:
            asked = f"Who ran the {house} of {town} in {chance.randint(start, end)}?"
            needed = [next(iter(texts([tenure])))]
        else:
            inside = [(a, b, year) for a, b, year in opened if start <= year <= end]
            if not inside:
                house, town, start, end, who = tenure = next(
                    each
                    for each in made
                    if each[2] <= opened[number % 8][2] <= each[3] and each[1] == town
                )
                inside = [opened[number % 8]]
            asked = (
                f"Who ran the {house} of {town} when the bridge from {inside[0][0]} to"
                f" {inside[0][1]} was opened?"
            )
            needed = [next(iter(texts([tenure]))), bridge(*inside[0])]
        yield {
            "id": f"rag-{number:02}",
            "split": "test" if number >= 16 else "train",
            "question": asked,
            "answer": who,
            "passages": [names[text] for text in needed],
        }


def bridge(one: str, other: str, year: int) -> str:
    return f"The bridge from {one} to {other} was opened in {year}."


def written() -> dict[str, str]:
    """Name of each file → its text."""
    chance = random.Random(0)
    made = tenures(chance)
    opened = bridges(chance)
    told = [*texts(made), *(bridge(*each) for each in opened)]
    chance.shuffle(told)
    names = {text: f"p{number:03}" for number, text in enumerate(told)}
    rows = [{"id": name, "text": text} for text, name in names.items()]
    both = {"passages.jsonl": rows, "tasks.jsonl": tasks(made, opened, names, chance)}
    return {name: "".join(json.dumps(row) + "\n" for row in each) for name, each in both.items()}


if __name__ == "__main__":
    for name, text in written().items():
        (HERE / name).write_text(text, "ascii")
    digest = sha256((HERE / "passages.jsonl").read_bytes()).hexdigest()
    code = (HERE / "rag.py").read_text("ascii")
    (HERE / "rag.py").write_text(
        re.sub(r'PASSAGES = "\w+"', f'PASSAGES = "{digest}"', code), "ascii"
    )
