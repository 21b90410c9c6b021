"""The dungeon: what a move does, the user that answers moves, and the stage that plays them
again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from attrs import define, field
from rlenv import Task, Trajectory, stage
from rlenv.authoring import dumps
from rlenv.text import visible
from rlenv_plugin_agent import End, ToolContext

MOVES = 60  # the turn limit of env.toml
LONGEST = 1_000  # characters of a move


@define
class Game:
    """One game.

    Args:
        rooms: by name the ``exits`` (direction → room), the ``items``, and for the vault the item
            that opens it (``needs``).
        start: the room to begin in and to come back to.
    """

    rooms: Mapping[str, Mapping[str, object]]
    start: str
    at: str = field(init=False)
    carried: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.at = self.start

    @property
    def won(self) -> bool:
        return self.at == self.start and "crown" in self.carried

    def exits(self) -> dict[str, str]:
        return dict(self.rooms[self.at]["exits"])

    def items(self) -> list[str]:
        return [item for item in self.rooms[self.at]["items"] if item not in self.carried]

    def seen(self, note: str = "") -> dict[str, object]:
        """What the policy is shown."""
        shown = {"room": self.at, "exits": [*self.exits()], "items": self.items()}
        return {**shown, "carried": [*self.carried], "note": note}

    def act(self, move: object) -> dict[str, object]:
        """Do what a move says, if it may be done."""
        match move:
            case {"go": str(way)} if len(move) == 1 and way in self.exits():
                there = self.exits()[way]
                needed = self.rooms[there].get("needs")
                if needed is not None and needed not in self.carried:
                    return self.seen(f"the door is locked; it needs the {needed}")
                self.at = there
            case {"take": str(item)} if len(move) == 1 and item in self.items():
                self.carried.append(item)
            case _:
                return self.seen(
                    'no such move; write {"go": one of exits} or {"take": one of items}'
                )
        return self.seen()


def read(action: object) -> object:
    """The move that an action is, without hidden reasoning; None for what is no JSON."""
    text = visible(action) if isinstance(action, str) else dumps(action)
    try:
        return json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return None


def play(action: object, task: Task, context: ToolContext) -> object:
    """The user of the episode: shows the room, and ends when the crown is back."""
    if action is None:
        context.parts[Game] = Game(**task.info["map"])
        return context.get(Game).seen()
    game = context.get(Game)
    shown = game.act(read(action))
    return End(shown) if game.won else shown


@stage(budget=2.0)
def crown(trajectory: Trajectory | None, task: Task) -> float:
    """1 where the moves that the policy made bring the crown back.  What the other messages say
    does not count.
    """
    game = Game(**task.info["map"])
    messages = trajectory.messages if trajectory else ()
    moves = [m for m in messages if m.get("role") == "assistant" and not m.get("tool_calls")]
    for message in moves[:MOVES]:
        game.act(read(message.get("content")))
        if game.won:
            return 1.0
    return 0.0
