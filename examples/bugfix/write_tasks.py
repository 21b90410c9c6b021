"""Write tasks.jsonl: twelve modules with a bug each, tests that can be seen, and hidden calls with
what they give.

python write_tasks.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent


class Bug(NamedTuple):
    """A module of one function, with what is right in it and what takes its place.

    Args:
        calls: arguments; the first two are in the tests that can be seen, and all are hidden ones.
    """

    source: str
    right: str
    wrong: str
    said: str
    calls: tuple[tuple[object, ...], ...]


BUGS = {
    "median": Bug(
        "def median(values):\n    ordered = sorted(values)\n    half = len(ordered) // 2\n   "
        " return (ordered[half - (len(ordered) % 2 == 0)] + ordered[half]) / 2\n",
        "(ordered[half - (len(ordered) % 2 == 0)] + ordered[half]) / 2",
        "float(ordered[half])",
        "The median of an even number of values is wrong; it is a float.",
        (([3, 1, 2],), ([4, 1, 2, 3],), ([5, 5, 1, 9],), ([7],), ([-1.5, 2.5],)),
    ),
    "runs": Bug(
        "from itertools import groupby\n\n\ndef runs(text):\n    found = [[sign, len([*same])] for"
        " sign, same in groupby(text)]\n    return [[sign, many] for sign, many in found if"
        " many]\n",
        "if many]",
        "if many > 1]",
        "A run of one is lost.",
        (("aaa",), ("aab",), ("abc",), ("",), ("aabba",)),
    ),
    "chunks": Bug(
        "def chunks(items, size):\n    return [items[at : at + size] for at in range(0, len(items),"
        " size)]\n",
        "len(items), size)",
        "len(items) - size + 1, size)",
        "The rest at the end is lost.",
        (([1, 2, 3, 4], 2), ([1, 2, 3], 2), ([], 3), ([1], 5), ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3)),
    ),
    "merge": Bug(
        "def merge(left, right):\n    left, right, merged = list(left), list(right), []\n    while"
        " left and right:\n        merged.append((left if left[0] <= right[0] else right).pop(0))\n"
        "    return merged + left + right\n",
        "merged + left + right",
        "merged",
        "What is left of the longer list is lost.",
        (([], []), ([1, 3], [2]), ([], [1]), ([1, 2, 9], [0]), ([5, 6], [1, 2, 3])),
    ),
    "roman": Bug(
        "SIGNS = {1000: 'M', 900: 'CM', 500: 'D', 400: 'CD', 100: 'C', 90: 'XC', 50: 'L', 40: 'XL',"
        " 10: 'X', 9: 'IX', 5: 'V', 4: 'IV', 1: 'I'}\n\n\ndef roman(number):\n    text = ''\n   "
        " for value, sign in SIGNS.items():\n        text, number = text + sign * (number //"
        " value), number % value\n    return text\n",
        " 9: 'IX', 5: 'V', 4: 'IV',",
        " 5: 'V',",
        "Four and nine are written with too many I.",
        ((58,), (4,), (9,), (1994,), (3999,)),
    ),
    "flatten": Bug(
        "def flatten(items):\n    found = []\n    for item in items:\n        if isinstance(item,"
        " list):\n            found.extend(flatten(item))\n        else:\n           "
        " found.append(item)\n    return found\n",
        "found.extend(flatten(item))",
        "found.extend(item)",
        "Lists that are two levels deep stay as they are.",
        (([1, [2]],), ([[1, [2]], 3],), ([],), ([[], [[]]],), ([[[[7]]]],)),
    ),
    "search": Bug(
        "def search(items, wanted):\n    low, high = 0, len(items)\n    while low < high:\n       "
        " middle = (low + high) // 2\n        low, high = (middle + 1, high) if items[middle] <"
        " wanted else (low, middle)\n    return low if low < len(items) and items[low] == wanted"
        " else None\n",
        "items[middle] < wanted",
        "items[middle] <= wanted",
        "It does not find what is there.",
        (
            ([1, 3], 2),
            ([1, 3], 3),
            ([], 1),
            (
                [
                    0,
                    1,
                    2,
                    3,
                    4,
                    5,
                    6,
                    7,
                    8,
                    9,
                    10,
                    11,
                    12,
                    13,
                    14,
                    15,
                    16,
                    17,
                    18,
                    19,
                    20,
                    21,
                    22,
                    23,
                    24,
                    25,
                    26,
                    27,
                    28,
                    29,
                    30,
                    31,
                    32,
                    33,
                    34,
                    35,
                    36,
                    37,
                    38,
                    39,
                    40,
                    41,
                    42,
                    43,
                    44,
                    45,
                    46,
                    47,
                    48,
                    49,
                    50,
                    51,
                    52,
                    53,
                    54,
                    55,
                    56,
                    57,
                    58,
                    59,
                    60,
                    61,
                    62,
                    63,
                    64,
                    65,
                    66,
                    67,
                    68,
                    69,
                    70,
                    71,
                    72,
                    73,
                    74,
                    75,
                    76,
                    77,
                    78,
                    79,
                    80,
                    81,
                    82,
                    83,
                    84,
                    85,
                    86,
                    87,
                    88,
                    89,
                    90,
                    91,
                    92,
                    93,
                    94,
                    95,
                    96,
                    97,
                    98,
                    99,
                ],
                99,
            ),
            ([1, 3], 9),
        ),
    ),
    "counts": Bug(
        "def counts(text):\n    found = {}\n    for word in text.lower().split():\n       "
        " found[word] = found.get(word, 0) + 1\n    return found\n",
        "text.lower()",
        "text",
        "Words that differ in case are counted apart.",
        (("a b a",), ("A a",), ("",), ("To be or not to be",), ("x X x X",)),
    ),
    "transpose": Bug(
        "def transpose(rows):\n    return [list(column) for column in zip(*rows)]\n",
        "zip(*rows)",
        "zip(*rows[: len(rows[0])])",
        "Matrices with more rows than columns lose numbers, and an empty one raises.",
        (([[1, 2], [3, 4]],), ([[1], [2]],), ([],), ([[1, 2, 3]],), ([[1, 2], [3, 4], [5, 6]],)),
    ),
    "leap": Bug(
        "def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
        "(year % 100 != 0 or year % 400 == 0)",
        "year % 100 != 0",
        "2000 was a leap year.",
        ((2024,), (2000,), (1900,), (2023,), (1600,)),
    ),
    "rotate": Bug(
        "def rotate(items, by):\n    by = by % (len(items) or 1)\n    return items[by:] +"
        " items[:by]\n",
        "by % (len(items) or 1)",
        "by",
        "Turning by more than the length gives the same list.",
        (([1, 2, 3], 1), ([1, 2, 3], 4), ([], 3), ([1, 2], -1), ([1, 2, 3], 302)),
    ),
    "balanced": Bug(
        "def balanced(text):\n    opened, pairs = [], {')': '(', ']': '['}\n    for sign in text:\n"
        "        if sign in pairs.values():\n            opened.append(sign)\n        elif sign in"
        " pairs and (not opened or opened.pop() != pairs[sign]):\n            return False\n   "
        " return not opened\n",
        "not opened\n",
        "True\n",
        "Brackets that stay open count as balanced.",
        (("()",), ("((",), ("[()",), ("([)]",), (")(",)),
    ),
}


def wrong(bug: Bug) -> str:
    """The module with its bug."""
    head, found, tail = bug.source.rpartition(bug.right)
    assert found, bug.right
    return f"{head}{bug.wrong}{tail}"


def task(number: int, name: str, bug: Bug) -> dict[str, object]:
    """One task; what the hidden calls give is what the right module gives."""
    scope: dict[str, Any] = {}
    exec(bug.source, scope)
    cases = [{"args": args, "expected": scope[name](*args)} for args in bug.calls]
    shown = [
        f"{name}({', '.join(map(repr, args))}), {scope[name](*args)!r}" for args in bug.calls[:2]
    ]
    checks = "".join(f"        self.assertEqual({each})\n" for each in shown)
    tests = (
        f"import unittest\n\nfrom {name} import {name}\n\n\nclass Tests(unittest.TestCase):\n   "
        f" def test_{name}(self):\n{checks}"
    )
    return {
        "id": name,
        "split": "test" if number % 3 == 2 else "train",
        "prompt": f"{bug.said} Mend {name}.py; the function keeps its name.",
        "files": {f"{name}.py": wrong(bug), f"test_{name}.py": tests},
        "tests": {"kind": "function", "entry_point": name, "cases": cases, "golden": bug.source},
    }


def written() -> str:
    """The text of tasks.jsonl."""
    rows = [task(number, name, bug) for number, (name, bug) in enumerate(BUGS.items())]
    return "".join(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    (HERE / "tasks.jsonl").write_text(written(), "ascii")
