"""``Views``: what a policy is given of an episode, within the budget."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from rlenv import ConfigError
from rlenv.authoring import dumps, suggest

from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.tools.tool import FunctionRef

from .counting import Count, CountMemo, count_memo, guard_count
from .history import ContextOverflow, Given, Messages
from .managers import CONTEXTS, Context, View

logger = logging.getLogger("rlenv_plugin_agent")


class Views:
    """Makes a view at each turn.

    Args:
        context: the name of a context manager, one of your own, or "" to show all.
        count: of tokens, None for an estimate.

    Raises:
        ConfigError: no context manager has this name.
        Exception: whatever the file of a context manager raises.
    """

    def __init__(self, context: Callable[..., object] | str, count: Count | None) -> None:
        self._manage = _context_called(context) if isinstance(context, str) else _own(context)
        self._plain = guard_count(count)
        self.begin(0, ())

    def begin(self, given: int, tools: Sequence[Message]) -> None:
        """Begin another episode.

        Args:
            given: how many messages it begins with; they are always shown.
            tools: as the policy is offered them; their schemas take room too.
        """
        self._count = CountMemo(self._plain)
        self._given = given
        self._tools = tools
        self._schemas: int | None = None

    def __call__(self, messages: Sequence[Message], budget: int) -> Sequence[Message]:
        """Return what is shown, empty where nothing that is promised has room.

        Args:
            messages: of the episode so far.
            budget: tokens, those of the tools' schemas included.
        """
        if self._schemas is None:  # and a template writes the role of the reply
            text = dumps(self._tools) if self._tools else ""
            self._schemas = self._plain([{"role": "system", "content": text}])
        room = budget - self._schemas
        if self._manage is None:
            return messages if self._count.total(messages) <= room else ()
        try:
            return self._manage(messages, room, self._count, self._given)
        except ContextOverflow:
            return ()
        except Exception:
            logger.warning("the context manager failed: the episode ends", exc_info=True)
            return ()


def _context_called(name: str) -> Context | None:
    """Return the context manager of a name, None for ""."""
    if name and name not in CONTEXTS:
        hint = suggest(name, CONTEXTS, what="they are")
        raise ConfigError(f'no context manager is called "{name}"; {hint}')
    return CONTEXTS.get(name)


def _own(context: Callable[..., object]) -> Context:
    """Return a context manager that is a function; what it returns is checked, too."""
    found: Context = FunctionRef.of(context).implementation  # type: ignore[assignment] # as its docs say

    def checked(messages: Messages, budget: int, count: Count, given: Given = None) -> View:
        shown = found(messages, budget, count, given=given)
        return shown if count_memo(count).count(shown) <= budget else []

    return checked
