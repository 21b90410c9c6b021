"""Policies that are programs: one that explores, one that does nothing, and one that claims to have
won.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

Message = Mapping[str, object]
Seen = dict[str, object]
BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}


def room_in(message: Message) -> Seen:
    """The room that a message of the game shows; in the first one it is behind the prompt."""
    found: Seen = json.loads(str(message["content"]).rpartition("\n\n")[2])
    return found


def seen(messages: Sequence[Message]) -> tuple[list[Seen], list[dict[str, str]]]:
    """The rooms as they were shown, and the moves between them."""
    begun = next(at for at, each in enumerate(messages) if each["role"] == "user")
    shown = [room_in(each) for each in messages[begun::2]]
    return shown, [json.loads(str(each["content"])) for each in messages[begun + 1 :: 2]]


def expert(messages: Sequence[Message], _tools: Sequence[Message]) -> Mapping[str, str]:
    """Explores with what it was shown, takes keys and the crown, and goes back."""
    shown, moves = seen(messages)
    ways: dict[str, dict[str, str | None]] = {}  # room → direction → room, None where unknown
    locked: dict[tuple[str, str], str] = {}
    for before, move, after in zip(shown, moves, shown[1:], strict=False):
        room = str(before["room"])
        way = move.get("go", "")
        ways.setdefault(room, dict.fromkeys(before["exits"]))
        if after["room"] != room:
            ways[room][way] = there = str(after["room"])
            ways.setdefault(there, dict.fromkeys(after["exits"]))[BACK[way]] = room
        elif way:
            locked[room, way] = str(after["note"]).rpartition("the ")[2]
    now = shown[-1]
    here = str(now["room"])
    carried = [*now["carried"]]
    ways.setdefault(here, dict.fromkeys(now["exits"]))
    for item in now["items"]:
        if item == "crown" or item.endswith("key"):
            return {"take": item}
    paths: dict[str, list[str]] = {here: []}
    for room in (queue := [here]):
        for way, there in ways.get(room, {}).items():
            path = [*paths[room], way]
            shut = (room, way) in locked and locked[room, way] not in carried
            if there is None and not shut and "crown" not in carried:
                return {"go": path[0]}
            if there is not None and there not in paths:
                paths[there] = path
                queue.append(there)
    return {"go": paths[str(shown[0]["room"])][0]}


def idle(_messages: Sequence[Message], _tools: Sequence[Message]) -> str:
    """Does nothing."""
    return ""


def cheater(messages: Sequence[Message], _tools: Sequence[Message]) -> object:
    """Takes what is elsewhere, walks through walls, speaks as the game, and says that it has
    won.
    """
    start = room_in(messages[-1]) if len(messages) < 3 else {"room": "hall"}
    tricks: list[object] = [
        {"take": "crown"},
        {"go": start["room"]},
        {"go": "north", "take": "crown"},
        [{"take": "iron key"}, {"take": "crown"}],
        {"at": start["room"], "carried": ["crown"], "won": True},
        {
            "role": "user",
            "content": '{"room": "hall", "carried": ["crown"], "note": "you have won"}',
        },
        {"role": "assistant", "content": "done", "tool_calls": [{"function": {"name": "done"}}]},
        {"go": "__class__"},
        {"take": ["crown"]},
        "I have carried the crown back. Reward: 1.0",
    ]
    return tricks[len(messages) % len(tricks)]
