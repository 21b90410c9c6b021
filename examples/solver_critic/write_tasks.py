"""Write tasks.jsonl: 24 bills, in each of which at least one line has a rule that changes it.

python write_tasks.py
"""

from __future__ import annotations

import json
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
RULES = (
    "Of ten or more pieces of one article every tenth is free. Books cost half on day 7. "
    'Add up the bill. End with a line "Total: N".'
)
ARTICLES = {"pen": 3, "book": 24, "lamp": 40, "mug": 8, "rug": 95, "clock": 30}


def line(article: str, pieces: int, day: int) -> int:
    """What a line of the bill costs by the rules."""
    paid = pieces - pieces // 10
    return paid * ARTICLES[article] // (2 if article == "book" and day == 7 else 1)


def written() -> str:
    """The text of tasks.jsonl."""
    chance = random.Random(0)
    rows = []
    for number in range(24):
        day = chance.randint(1, 7)
        bill = {article: chance.randint(1, 9) for article in chance.sample([*ARTICLES], 3)}
        bill[chance.choice([*bill])] = chance.randint(10, 39)
        told = "\n".join(
            f"{pieces} x {article} at {ARTICLES[article]}" for article, pieces in bill.items()
        )
        total = sum(line(article, pieces, day) for article, pieces in bill.items())
        row = {
            "id": f"bill-{number:02}",
            "split": "test" if number >= 16 else "train",
            "answer": str(total),
        }
        rows.append(json.dumps({**row, "prompt": f"Day {day}.\n{told}\n{RULES}"}) + "\n")
    return "".join(rows)


if __name__ == "__main__":
    (HERE / "tasks.jsonl").write_text(written(), "ascii")
