"""Memory of context managers for a history that only grows, so that a turn costs what is new and
what is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

from rlenv_plugin_agent.messages import Message

Turn: TypeAlias = Sequence[
    Message
]  # of the assistant and what answered it: no call is without its result
Make: TypeAlias = Callable[[int, Turn], tuple[Turn, int]]  # a turn as it is shown, and its tokens


class Sizes(list[int]):
    """Tokens of turns, and before each of them the tokens of all earlier ones; the last item is
    their sum.
    """

    def __init__(self) -> None:
        super().__init__()
        self.passed = [0]

    def cut(self, length: int) -> None:
        """Keep so many turns."""
        del self[length:]
        del self.passed[length + 1 :]

    def add(self, size: int) -> None:
        """Add a turn."""
        self.append(size)
        self.passed.append(self.passed[-1] + size)


class ShownTurns:
    """Turns as one way to show them has them."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.sizes = Sizes()

    def grow(self, turns: Sequence[Turn], make: Make) -> None:
        """Take in what is new; the last turn that was known may have grown.

        Args:
            turns: of the history.
            make: shows one of them.
        """
        known = max(0, len(self.turns) - 1)
        del self.turns[known:]
        self.sizes.cut(known)
        for index in range(known, len(turns)):
            shown, size = make(index, turns[index])
            self.turns.append(shown)
            self.sizes.add(size)


class GrowingHistory:
    """Holds the task's messages and the turns of one history.

    Args:
        given: how many of the messages the task gave, None for those before the first of the
            assistant.
    """

    def __init__(self, given: int | None) -> None:
        self._given = given or 0
        self._begin(())

    def _begin(self, messages: Sequence[Message]) -> None:
        """Begin another history."""
        self._messages = messages
        self._seen = 0
        self._last: Message | None = None
        self._starts: list[int] = []
        self.head: list[Message] = []
        self.turns: list[Turn] = []
        self._shown: dict[Hashable, ShownTurns] = {}
        self._cited: dict[str, int] = {}  # by reference, the turn that cites it first
        self._scanned = 0  # turns whose citations are known
        self._names = Counter[str]()
        self._texts = list[str]()
        self._read = 0

    def grow(self, messages: Sequence[Message]) -> None:
        """Take in what is new.

        Args:
            messages: the same list each time, which only grows; any other is another history.
        """
        seen = self._seen
        same = messages is self._messages and len(messages) >= seen
        if not same or (seen and messages[seen - 1] is not self._last):
            self._begin(messages)
        for i in range(self._seen, len(messages)):
            if messages[i].get("role") == "assistant" and i >= self._given:
                self._starts.append(i)
        known = max(0, len(self.turns) - 1)
        ends = [*self._starts[known + 1 :], len(messages)]
        pairs = zip(self._starts[known:], ends, strict=False)
        self.turns[known:] = [messages[start:end] for start, end in pairs]
        self.head = [*messages[: self._starts[0] if self._starts else len(messages)]]
        self._seen = len(messages)
        self._last = messages[-1] if messages else None

    def show_turns(self, key: Hashable, make: Make) -> ShownTurns:
        """Return the turns as ``make`` shows them.

        Args:
            key: of ``make``, and what else its result depends on.
            make: shows one turn.
        """
        found = self._shown.setdefault(key, ShownTurns())
        found.grow(self.turns, make)
        return found

    def citations(self, first: int, of: Callable[[Message], Iterable[str]]) -> list[str]:
        """Return what is cited in the turns before ``first``, each once and in order.

        Args:
            first: at most the number of the last turn.
            of: the citations of a message.
        """
        for index in range(self._scanned, first):
            for message in self.turns[index]:
                for each in of(message):
                    self._cited.setdefault(each, index)
        self._scanned = max(self._scanned, first)
        return [each for each, index in self._cited.items() if index < first]

    def policy_texts(
        self, last: int, names: Callable[[Message], Iterable[str]], text: Callable[[Message], str]
    ) -> tuple[Counter[str], list[str]]:
        """Return the calls and the texts of the policy in the turns before ``last``, which never
        falls.

        Args:
            last: the number of the last turn.
            names: of the calls of a message.
            text: of a message; those that are empty are left out.
        """
        for index in range(self._read, last):
            message = self.turns[index][0]
            self._names.update(names(message))
            if found := text(message):
                self._texts.append(found)
        self._read = max(self._read, last)
        return self._names, self._texts
