"""``Ledger``: what an episode has used, of which budgets, and its log."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from rlenv import Tokens

from rlenv_plugin_agent.tools.observations import Call

from .config import Budgets
from .steps import Marks, Stop, Turn

NO_LIMIT = 1 << 62


class Ledger:
    """Counts turns, tokens, calls and seconds of one episode.

    ``trace`` has a Turn for each message of the policy, and ``calls_left`` falls below 0 when too
    many were made.

    Args:
        budgets: of the episode.
        turn_limit: messages that the policy may write.
    """

    def __init__(self, budgets: Budgets, turn_limit: int) -> None:
        self.trace: list[Turn] = []
        self.calls_left = NO_LIMIT if budgets.calls is None else budgets.calls
        self._tokens_left = budgets.tokens or NO_LIMIT
        self._seconds = budgets.seconds
        self._turn_limit = turn_limit
        self._told: list[Tokens | None] = []
        self._started = self._observed = self._acted = perf_counter()

    @property
    def seconds_left(self) -> float | None:
        """Return the wall seconds that are left; None where there is no limit."""
        if self._seconds is None:
            return None
        return self._seconds - (perf_counter() - self._started)

    @property
    def tokens(self) -> tuple[Tokens, ...]:
        """Return the tokens of the last calls of the policy, as far back as all are known."""
        return known_tokens(self._told)

    def record_action(self, tokens: Tokens | None) -> None:
        """Note that the policy has acted.

        Args:
            tokens: of this call, None where it does not tell.
        """
        self._acted = perf_counter()
        self._told.append(tokens)

    def record_turn(self, estimate: int, calls: tuple[Call, ...], marks: Marks = ()) -> None:
        """Note that the turn is over.

        Args:
            estimate: tokens of the policy's message, where it does not tell.
            calls: of tools.
            marks: of what was done to them.
        """
        now = perf_counter()
        told = self._told[-1]
        tokens = estimate if told is None else len(told.ids)
        waited = self._acted - self._observed
        seconds = now - self._acted
        self.trace.append(
            Turn(
                waited=waited,
                seconds=seconds,
                tokens=tokens,
                exact=told is not None,
                calls=calls,
                marks=marks,
            )
        )
        self._tokens_left -= tokens
        self._observed = now

    @property
    def limit(self) -> Stop | None:
        """Return the limit that is reached."""
        if self.seconds_left is not None and self.seconds_left <= 0:
            return "timeout"
        if self._tokens_left <= 0 or self.calls_left < 0:
            return "budget"
        return "turn_limit" if len(self.trace) >= self._turn_limit else None


def known_tokens(told: Sequence[Tokens | None]) -> tuple[Tokens, ...]:
    """Return the tokens of the last calls, as far back as all are known; a Trajectory takes these.

    Args:
        told: of each call, None where it omitted them.
    """
    unknown = max((place for place, each in enumerate(told, 1) if each is None), default=0)
    return tuple([each for each in told[unknown:] if each is not None])
