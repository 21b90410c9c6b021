"""References that a policy cites, and ``unfold``, which shows again what a reference stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import define
from rlenv.authoring import dumps
from rlenv.text import visible

from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool

from .counting import text_of
from .growing import Turn
from .history import split

# A turn or result of this episode, an address, or a name in brackets as [doc-12]; not an index as
# in a[0].
OWN = r"(?:turn_\d{1,6}|result_\d{1,6}_\d{1,6})(?!\w)"
NAME = r"(?<![\w\])])\[[\w.:/#-]{1,64}\](?!\()"
URL = r"https?://[^\s<>\"'`\])}]+"
REFERENCE = re.compile(rf"(?<!\w){OWN}|{URL}|{NAME}")
LONGEST = 16_000  # characters that one call of unfold shows


def find_citations(message: Message) -> tuple[str, ...]:
    """Return the references in what the policy shows of a message, in order; those in hidden
    reasoning are not cited.

    What a tool said is never a citation, so no tool can make the episode keep anything.
    """
    if message.get("role") != "assistant":
        return ()
    found = REFERENCE.findall(visible(text_of(message)))
    return tuple(dict.fromkeys(each.rstrip(".,;:") for each in found))


@define
class Record:
    """Holds what ``unfold`` reads: the episode's own messages, not any text about them.

    Args:
        messages: of the episode; the list itself, which grows.
        given: how many of them the task gave.
    """

    messages: Sequence[Message]
    given: int = 0

    def find(self, reference: str) -> str:
        """Return the whole of a result, or of a turn as lines of JSON.

        Raises:
            ToolError: nothing has this name.
        """
        found = locate(split(self.messages, self.given)[1], reference)
        if not found:
            raise ToolError(f"there is no {reference[:64]!r}; turn_N and result_N_I count from 0")
        return "\n".join(map(dumps, found)) if reference.startswith("turn") else text_of(found[0])


def locate(turns: Sequence[Turn], reference: str) -> Turn:
    """Return the messages that a reference stands for; no messages where it stands for nothing.

    Args:
        turns: of the episode.
        reference: result_N_I or turn_N, as of ``unfold``.
    """
    if not re.fullmatch(OWN, reference, re.ASCII):
        return ()
    kind, *numbers = reference.split("_")
    place, *rest = map(int, numbers)
    turn = turns[place] if place < len(turns) else ()
    results = [message for message in turn if message.get("role") == "tool"]
    return turn if kind == "turn" else results[rest[0] : rest[0] + 1]


@tool(category="episode", deterministic=True, stateful=False, where="inline")
def unfold(context: ToolContext, ref: str, offset: int = 0, length: int = 4_000) -> str:
    """Show again a result or a turn that is no longer in the conversation.

    Args:
        context: of the episode; the policy does not give it.
        ref: result_N_I for result I of turn N, turn_N for a whole turn; both count from 0.
        offset: characters to leave out first.
        length: characters to show, 16,000 at most.
    """
    text = context.get(Record).find(ref)
    if offset < 0 or length < 1:
        raise ToolError("offset is 0 or more, and length 1 or more")
    end = offset + min(length, LONGEST)
    more = f"\n[characters {offset:,} to {end:,} of {len(text):,}]" if end < len(text) else ""
    return text[offset:end] + more


def references(turns: Sequence[Turn], found: Sequence[str]) -> list[str]:
    """Return what the policy cites, without turns and results that do not exist.

    Args:
        turns: of the history.
        found: what it cites, each once.
    """
    return [each for each in found if not re.fullmatch(OWN, each) or locate(turns, each)]
