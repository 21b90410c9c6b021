"""The history of an episode in turns, and which of them are shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import TypeAlias

from rlenv_plugin_agent.messages import Message, user_said

from .counting import Count, count_memo, text_of
from .growing import Sizes, Turn

Messages: TypeAlias = Sequence[Message]
Given: TypeAlias = int | None  # how many messages the task gave
Shown: TypeAlias = tuple[list[Turn], Sizes]  # turns as they are shown, and the tokens of each


Make: TypeAlias = Callable[..., Message]  # what is shown of a result


class ContextOverflow(Exception):
    """No view that keeps what the context manager promises has room in the budget."""


class History:
    """Holds messages as the task and turns, with room for the turns.

    Args:
        messages: of the episode so far.
        budget: tokens that may be shown.
        count: of tokens.
        given: how many of the messages the task gave; by default those before the first of the
            assistant.
        unfolds: a result that is cut names its reference.

    Raises:
        ContextOverflow: the task alone has no room.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        budget: int,
        count: Count,
        given: int | None,
        *,
        unfolds: bool = False,
    ) -> None:
        self.messages = messages
        self.budget = budget
        self.count = count_memo(count)
        self.grown = self.count.grown(messages, given)
        self.head = self.grown.head
        self.turns = self.grown.turns
        self.room = budget - self.count(self.head)
        self.unfolds = unfolds
        if self.room < 0:
            raise ContextOverflow(f"the task alone has more than {budget:,} tokens")

    @property
    def fits(self) -> bool:
        plain = self.grown.show_turns("plain", lambda _, turn: (turn, self.count(turn)))
        return plain.sizes.passed[-1] <= self.room

    def full(self) -> Shown:
        """Return the turns with long results cut: a quarter of the room is the most that the
        results of a turn take.
        """
        return self._shown(self._cut)

    def compact(self) -> Shown:
        """Return the turns with a stub for each result that is longer than its stub."""
        return self._shown(self._stub)

    def view(self, first: int, note: str, turns: Sequence[Turn]) -> list[Message]:
        """Return the task, the note at the end of its last message, and of these turns those from
        ``first``.

        Args:
            first: the index of the first turn that is shown.
            note: is added to the last message of the task; "" adds nothing.
            turns: all of them, as they are to be shown.
        """
        head = user_said(self.head, note) if note else self.head
        return [*head, *(message for turn in turns[first:] for message in turn)]

    def first_that_fits(self, views: Iterable[Callable[[], list[Message]]]) -> list[Message]:
        """Return the first of these views within the budget, by a count of the whole.

        Raises:
            ContextOverflow: each of them is beyond it.
        """
        for make in views:
            shown = make()
            known = shown[len(self.head) :]
            new = shown[: len(self.head)]
            if self.count.count(new) + self.count(known) <= self.budget:
                return shown
        raise ContextOverflow(f"the last turn has no room in {self.budget:,} tokens")

    def _shown(self, make: Make) -> Shown:
        """Return each turn with its results as ``make`` has them, and its tokens."""
        key = (make.__name__, self.unfolds, self.room)
        found = self.grown.show_turns(key, partial(self._turn, make))
        return found.turns, found.sizes

    def _turn(self, make: Make, index: int, turn: Turn) -> tuple[Turn, int]:
        places = [i for i, message in enumerate(turn) if message.get("role") == "tool"]
        share = self.room // 4
        if places and self.count([turn[i] for i in places]) > share:
            share //= len(places)
        shown = [*turn]
        for i, place in enumerate(places):
            shown[place] = make(turn[place], share=share, name=f"result_{index}_{i}")
        return shown, self.count(shown)

    def _cut(self, message: Message, share: int, name: str) -> Message:
        """Return the result, or as much of its beginning as has room."""
        if self.count([message]) <= share:
            return message
        text = text_of(message)
        size = min(len(text), 4 * share)  # a token has four characters or so
        while size:
            more = f'; unfold("{name}", {size}) shows more' if self.unfolds else ""
            told = f"{text[:size]}\n[{size:,} of {len(text):,} characters{more}]"
            shown = {**message, "content": told}
            if self.count.count([shown]) <= share:
                return shown
            size = size * 3 // 4
        return self._stub(message, name=name)

    def _stub(self, message: Message, *, name: str, **_: int) -> Message:
        more = f', unfold("{name}") shows them' if self.unfolds else ""
        stub = {**message, "content": f"[{len(text_of(message)):,} characters{more}]"}
        return stub if self.count.count([stub]) < self.count([message]) else message


def split(messages: Messages, given: Given = None) -> tuple[list[Message], list[Turn]]:
    """Return the task's messages, and the turns.

    Args:
        messages: of an episode.
        given: as for ``History``.
    """
    starts = [
        i
        for i, message in enumerate(messages)
        if message.get("role") == "assistant" and i >= (given or 0)
    ]
    places = [*starts, len(messages)]
    return [*messages[: places[0]]], [messages[a:b] for a, b in pairwise(places)]


def start(sizes: Sequence[int], room: int) -> int:
    """Return the first of the turns that are shown; the last one always is.

    When the turns have outgrown the room, those shown take half of it, and the next ones are
    appended until it is full again.  So the prompt of a call begins with that of the call before,
    but for a few calls: servers keep their prefix caches, and a trainer gets few samples of an
    episode, not one for each turn.

    Args:
        sizes: tokens of each turn.
        room: tokens for all.
    """
    passed = sizes.passed if isinstance(sizes, Sizes) else [*accumulate(sizes, initial=0)]
    total = passed[-1]
    step = max(1, room // 2)
    if total <= room or not sizes:
        return 0
    cut = -(-(total - room) // step) * step
    return min(bisect_left(passed, cut), len(sizes) - 1)
