"""Tasks for rewards that bring none: written by hand or drawn by a seed, with right responses where
no form says them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["KINDS", "write"]

Row = dict[str, Any]
EVERYDAY = Path(__file__).resolve().parents[1] / "examples/everyday/tasks.jsonl"
CAPITALS = {
    "France": ["Paris"],
    "Japan": ["Tokyo"],
    "Kenya": ["Nairobi"],
    "Peru": ["Lima"],
    "Norway": ["Oslo"],
    "Egypt": ["Cairo"],
    "Canada": ["Ottawa"],
    "Australia": ["Canberra"],
    "Turkey": ["Ankara"],
    "Bolivia": ["Sucre", "La Paz"],
    "the Netherlands": ["Amsterdam"],
    "Switzerland": ["Bern", "Berne"],
    "New Zealand": ["Wellington"],
    "Cuba": ["Havana"],
    "Vietnam": ["Hanoi"],
    "Ukraine": ["Kyiv", "Kiev"],
    "Chile": ["Santiago"],
    "Iraq": ["Baghdad"],
    "Ghana": ["Accra"],
    "South Korea": ["Seoul"],
    "Portugal": ["Lisbon"],
    "Greece": ["Athens"],
    "Poland": ["Warsaw"],
    "Austria": ["Vienna"],
}
PEOPLE = ("Ada", "Ben", "Chiara", "Dmitri", "Emeka", "Farah", "Goro", "Hana", "Ivo", "Jun")
SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, since INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, amount REAL, paid INTEGER);
INSERT INTO customers VALUES (1,'Ada','Lima',2019),(2,'Ben','Oslo',2021),\
(3,'Chiara','Lima',2022),(4,'Dmitri','Accra',2018);
INSERT INTO orders VALUES (1,1,20.5,1),(2,1,7.0,0),(3,2,99.9,1),\
(4,3,12.0,1),(5,3,3.5,0),(6,4,40.0,1);
"""
QUERIES = {
    "Names of all customers in Lima.": "SELECT name FROM customers WHERE city = 'Lima'",
    "How many orders are unpaid?": "SELECT COUNT(*) FROM orders WHERE paid = 0",
    "The sum of all paid amounts.": "SELECT SUM(amount) FROM orders WHERE paid = 1",
    "Cities, each once.": "SELECT DISTINCT city FROM customers",
    "Names of customers with an order above 30.": (
        "SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer = c.id WHERE o.amount"
        " > 30"
    ),
    "The name of the customer who is there longest.": (
        "SELECT name FROM customers ORDER BY since LIMIT 1"
    ),
    "Customer ids with their number of orders.": (
        "SELECT customer, COUNT(*) FROM orders GROUP BY customer"
    ),
    "The highest amount.": "SELECT MAX(amount) FROM orders",
    "Names of customers without an unpaid order.": (
        "SELECT name FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE paid = 0)"
    ),
    "Orders of more than 1000.": "SELECT id FROM orders WHERE amount > 1000",
}
PROGRAMS: Mapping[str, tuple[str, str, list[tuple[Any, Any]]]] = {
    "double": ("the double of a number n", "return 2 * n", [(3, 6), (-4, -8), (0, 0)]),
    "is_even": (
        "whether a whole number n is even",
        "return n % 2 == 0",
        [(2, True), (7, False), (0, True)],
    ),
    "digits": (
        "the sum of the decimal digits of n ≥ 0",
        "return sum(map(int, str(n)))",
        [(123, 6), (0, 0), (99, 18)],
    ),
    "flip": ("a text n backwards", "return n[::-1]", [("abc", "cba"), ("", ""), ("aab", "baa")]),
    "largest": (
        "the largest number of a list n",
        "return max(n)",
        [([1, 5, 2], 5), ([-3, -7], -3), ([4], 4)],
    ),
    "vowels": (
        "how many of the letters aeiou a text n has",
        "return sum(c in 'aeiou' for c in n)",
        [("hello", 2), ("xyz", 0), ("aeiou", 5)],
    ),
}


def numbers() -> Iterator[Row]:
    """Word problems of school, each with a whole number as its answer."""
    chance = random.Random(7)
    for place in range(40):
        who = chance.choice(PEOPLE)
        a = chance.randrange(3, 30)
        b = chance.randrange(3, 25)
        c = chance.randrange(2, 60)
        question = (
            f"{who} packs {a} boxes with {b} pens each and gives {c} pens away. How many pens are"
            " left in the boxes?"
        )
        yield {"id": f"pens-{place}", "prompt": question, "answer": str(a * b - c)}


def powers() -> Iterator[Row]:
    """Remainders, as competitions ask for: answers between 0 and 999."""
    chance = random.Random(11)
    for place in range(40):
        base = chance.randrange(3, 40)
        power = chance.randrange(50, 500)
        question = (
            f"Find the remainder when {base}^{power} is divided by 1000. Put it after “Answer:”."
        )
        yield {"id": f"power-{place}", "prompt": question, "answer": str(pow(base, power, 1000))}


def expressions() -> Iterator[Row]:
    """The everyday mathematics of our examples: LaTeX of every kind."""
    for line in EVERYDAY.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield {"id": row["id"], "prompt": row["question"], "answer": row["answer"]}


def capitals() -> Iterator[Row]:
    for place, (country, names) in enumerate(CAPITALS.items()):
        question = f"What is the capital of {country}? Write it in <answer> tags."
        yield {"id": f"capital-{place}", "prompt": question, "answer": names}


def queries() -> Iterator[Row]:
    for place, (question, query) in enumerate(QUERIES.items()):
        response = f"<think>I read the tables.</think>\n<solution>{query}</solution>"
        yield {
            "id": f"query-{place}",
            "prompt": f"{SHOP}\n{question}",
            "answer": query,
            "script": SHOP,
            "right": response,
        }


def programs() -> Iterator[Row]:
    for name, (what, body, cases) in PROGRAMS.items():
        tests = [
            {
                "input": json.dumps(given),
                "output": json.dumps(wanted),
                "testtype": "functional",
                "metadata": {"func_name": name},
            }
            for given, wanted in cases
        ]
        response = f"```python\ndef {name}(n):\n    {body}\n```"
        prompt = f"Write a Python function {name}(n) that returns {what}."
        yield {
            "id": name,
            "prompt": prompt,
            "answer": None,
            "entry_point": name,
            "tests": json.dumps(tests),
            "right": response,
        }


KINDS: Mapping[str, Callable[[], Iterator[Row]]] = {
    "numbers": numbers, "powers": powers, "expressions": expressions, "capitals": capitals,
    "queries": queries, "programs": programs,
}  # fmt: skip


def write(kind: str, folder: Path) -> tuple[Path, dict[str, list[str]]]:
    """The file of one kind of tasks, and the right responses that it knows by task id."""
    rows = list(KINDS[kind]())
    right = {row["id"]: [row.pop("right")] for row in rows if "right" in row}
    path = folder / f"tasks-{kind}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "ascii")
    return path, right
