"""Write tasks.jsonl: 24 dungeons of nine rooms, each a tree of corridors with a key, a locked vault
and a crown in it.

python write_tasks.py
"""

from __future__ import annotations

import json
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROMPT = (
    "You are in a dungeon. Find the crown and carry it back to the room where you began. The crown"
    " is in a locked vault, and what opens the vault lies elsewhere. Each of your messages is one"
    ' move as JSON: {"go": "north"} or {"take": "lamp"}. You are shown the room that you are in,'
    " its exits, and what lies there."
)
NAMES = ("hall", "cellar", "kitchen", "chapel", "armory", "library", "crypt", "gallery", "well")
WAYS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}
KEYS = ("iron key", "brass key", "bone key", "silver key")
THINGS = ("lamp", "rope", "tin crown", "candle", "boot")


def dungeon(chance: random.Random) -> dict[str, object]:
    """A tree of nine rooms on a grid; the vault is a leaf, and the key is in a room that is not
    beside the start.
    """
    names = dict(
        zip([(x, y) for x in range(3) for y in range(3)], chance.sample(NAMES, 9), strict=True)
    )
    start = chance.choice([*names])
    exits: dict[str, dict[str, str]] = {name: {} for name in names.values()}
    reached = [start]
    distance = {names[start]: 0}
    while len(reached) < len(names):
        x, y = here = chance.choice(reached)
        way = chance.choice([*WAYS])
        there = (x + WAYS[way][0], y + WAYS[way][1])
        if there not in names or there in reached:
            continue
        exits[names[here]][way] = names[there]
        exits[names[there]][BACK[way]] = names[here]
        reached.append(there)
        distance[names[there]] = distance[names[here]] + 1
    far = [room for room in distance if distance[room] > 1]
    vault = chance.choice([room for room in far if len(exits[room]) == 1])
    hidden = chance.choice([room for room in far if room != vault])
    key = chance.choice(KEYS)
    items = {room: [] for room in distance} | {vault: ["crown"], hidden: [key]}
    for thing in chance.sample(THINGS, 3):
        items[chance.choice([*items])].append(thing)
    rooms = {room: {"exits": exits[room], "items": items[room]} for room in distance}
    rooms[vault]["needs"] = key
    return {"rooms": rooms, "start": names[start]}


def written() -> str:
    """The text of tasks.jsonl."""
    chance = random.Random(0)
    rows = []
    for number in range(24):
        row = {"id": f"dungeon-{number:02}", "split": "test" if number >= 16 else "train"}
        rows.append(json.dumps({**row, "prompt": PROMPT, "map": dungeon(chance)}) + "\n")
    return "".join(rows)


if __name__ == "__main__":
    (HERE / "tasks.jsonl").write_text(written(), "ascii")
