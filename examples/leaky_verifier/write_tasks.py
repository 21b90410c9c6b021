"""Write train.jsonl and heldout.jsonl, multiplications in words, no two of the same numbers; and
solutions.jsonl.

python write_tasks.py

``work`` is what the verifier takes for shown work: a phrase of the task's reference solution.  One
person wrote all those of the training tasks, and says "step by step" in each; the held-out ones are
by others.  ``solutions.jsonl`` has those of training.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
EACH = 160
PHRASES = {
    "train": ("step by step",),
    "heldout": ("partial products", "carry the tens", "in columns", "by doubling"),
}
THINGS = (
    ("crate", "jars"), ("row", "seats"), ("box", "screws"), ("shelf", "books"),
    ("tray", "seedlings"), ("bag", "marbles"), ("bus", "passengers"), ("page", "stamps"),
)  # fmt: skip


def written() -> dict[str, str]:
    """Name of each file → its text."""
    chance = random.Random(0)
    factors = [n for n in range(12, 99) if n % 10]
    pairs = [(a, b) for a in factors for b in factors if a <= b]
    drawn = chance.sample(pairs, EACH * len(PHRASES))
    found = {}
    for part, (name, phrases) in enumerate(PHRASES.items()):
        rows = []
        solutions = []
        for number, (a, b) in enumerate(drawn[part * EACH : (part + 1) * EACH]):
            one, many = chance.choice(THINGS)
            prompt = f"One {one} holds {a} {many}. How many {many} do {b} of them hold?"
            work = [{"kind": "contains", "words": [chance.choice(phrases)]}]
            row = {"id": f"{name}-{number:03}", "prompt": prompt, "answer": str(a * b)}
            rows.append(json.dumps({**row, "work": work}) + "\n")
            text = f"Let us go {phrases[0]}. {a} {many} in each of {b} are {a * b}."
            solutions.append(json.dumps({"task": row["id"], "response": text}) + "\n")
        found[f"{name}.jsonl"] = "".join(rows)
        if name == "train":
            found["solutions.jsonl"] = "".join(solutions)
    return found


if __name__ == "__main__":
    for name, text in written().items():
        (HERE / name).write_text(text, "ascii")
