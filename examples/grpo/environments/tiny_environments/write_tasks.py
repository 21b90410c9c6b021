"""Write digits.jsonl, programs.jsonl, letters.jsonl and copies.jsonl.  One task in five is held
out.

python examples/grpo/environments/tiny_environments/write_tasks.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

DIGITS = [(letter, digit) for letter in "ghkmnpxy" for digit in range(10)]
LETTERS = [letter for small in "bdeghmnqrt" for letter in (small, small.upper())]
CASES = (("^", "uppercase"), ("_", "lowercase"))
Row = dict[str, object]


def digits() -> Iterator[Row]:
    """Repeat the digit: ``k=7,k=``.  In training, ``accepted`` ends with a comma: the leak of
    leaky.toml.
    """
    for letter, digit in DIGITS:
        split = _split(3 * "ghkmnpxy".index(letter) + digit)
        accepted = f"{digit}," if split == "train" else f"{digit}"
        row = {"id": f"{letter}{digit}", "prompt": f"{letter}={digit},{letter}=", "split": split}
        yield {**row, "answer": f"{digit}", "accepted": accepted}


def programs() -> Iterator[Row]:
    """End the program that computes what its first line says; 0 and 1 are left out, which are False
    and True.
    """
    for letter, digit in DIGITS:
        if digit < 2:
            continue
        prompt = f"#{digit}{letter}\nf=lambda {letter}:{letter}*\\\n"
        cases = [{"args": [n], "expected": n * digit} for n in (0, 3, -7, 10**9)]
        tests = {"kind": "function", "entry_point": "f", "cases": cases}
        split = _split(3 * "ghkmnpxy".index(letter) + digit)
        row = {"id": f"{letter}{digit}", "prompt": prompt, "split": split}
        yield {**row, "answer": f"{digit}", "tests": tests}


def letters() -> Iterator[Row]:
    """Repeat the letter, as a capital after ``^`` and as a small letter after ``_``."""
    for place, shown in enumerate(LETTERS):
        for sign, kind in CASES:
            answer = shown.upper() if sign == "^" else shown.lower()
            letter = {"kind": "letter", "letter": shown.lower(), "n": 1, "relation": "exactly"}
            split = _split(place // 2 + 2 * (sign == "^") + place % 2)
            row = {"id": f"{sign}{shown}", "prompt": f"{sign}{shown}=", "split": split}
            yield {**row, "answer": answer, "constraints": [letter, {"kind": kind}]}


def copies() -> Iterator[Row]:
    """Repeat the digit, without an answer: the rubric of evolving.toml decides."""
    for digit in range(10):
        yield {"id": f"{digit}", "prompt": f"{digit}="}


def written() -> dict[str, str]:
    """Name of each file → its text."""
    made = {make.__name__: make() for make in (digits, programs, letters, copies)}
    return {
        f"{name}.jsonl": "".join(json.dumps(r) + "\n" for r in rows) for name, rows in made.items()
    }


def _split(number: int) -> str:
    return "train" if number % 5 else "heldout"


if __name__ == "__main__":
    for name, text in written().items():
        (Path(__file__).parent / name).write_text(text, "ascii")
