"""The context managers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeAlias

from rlenv.authoring import dumps
from rlenv.text import visible

from rlenv_plugin_agent.messages import Message

from .counting import Count, calls, text_of
from .history import Given, History, Messages, start
from .references import find_citations, references

View: TypeAlias = list[Message]
# The text for turns that are left out, with room for so many tokens.
Writer = Callable[[History, int, int], str]


class Context(Protocol):
    """Shortens the history of an episode.

    Example:
        def latest(messages, budget, count, given=None):
            head = messages[: given or 1]
            tail = [*messages[len(head) :]]
            while tail and count([*head, *tail]) > budget:
                del tail[0]
            return [*head, *tail]

    Args:
        messages: of the episode so far.
        budget: tokens of what is shown, at most.
        count: tokens of a sequence of messages; for several it is the sum of each.
        given: how many messages the task gave; by default those before the first of the assistant.

    Raises:
        ContextOverflow: what it keeps has no room.
    """

    def __call__(
        self, messages: Messages, budget: int, count: Count, given: Given = None
    ) -> View: ...


def recency(messages: Messages, budget: int, count: Count, given: Given = None) -> View:
    """Show the task and the latest turns; what is older is lost.

    Args:
        messages: as for ``Context``.
        budget: as for ``Context``.
        count: as for ``Context``.
        given: as for ``Context``.
    """
    return _latest(messages, budget, count, given, make=lambda *_: "", least=0)


def markov(messages: Messages, budget: int, count: Count, given: Given = None) -> View:
    """Show the task, a state and the last turn: the next message depends on nothing else.

    The state says how many turns and calls there were, and repeats the latest texts of the policy
    itself, as far as a quarter of the room goes.  So the policy should report in each message what
    it knows.

    Args:
        messages: as for ``Context``.
        budget: as for ``Context``.
        count: as for ``Context``.
        given: as for ``Context``.
    """
    history = History(messages, budget, count, given)
    full, _ = history.full()
    last = len(full) - 1
    if last < 1:
        return history.first_that_fits([partial(history.view, 0, "", full)])
    notes = (_state(history, last, room) for room in (history.room // 4, 0))
    return history.first_that_fits(partial(history.view, last, note, full) for note in notes)


def summary(messages: Messages, budget: int, count: Count, given: Given = None) -> View:
    """Show the task, a summary that names every cited reference, and the latest turns.

    It has a line for each call, the latest ones where there is no room for all.  What tools said is
    not quoted.

    Args:
        messages: as for ``Context``.
        budget: as for ``Context``.
        count: as for ``Context``.
        given: as for ``Context``.
    """
    return summary_by(_lines)(messages, budget, count, given)


def summary_by(write: Writer) -> Context:
    """Make a context manager as ``summary``, with a summary of your own, as by a model.

    Example:
        def write(history, first, room):
            return model.complete(f"Summarize in {room} tokens: {history.turns[:first]}")
        mine = summary_by(write)

    Args:
        write: gets the history, how many of its turns are left out, and tokens; returns the
            summary, which is cut where it is longer.  What the policy cites there is added to it.
    """

    return partial(_latest, make=partial(_summary, write), least=2)


def fold(messages: Messages, budget: int, count: Count, given: Given = None) -> View:
    """Show the task and all turns, older results as stubs that the tool ``unfold`` shows again.

    Where the stubs alone fill half of the room, the oldest turns are folded too: a note says which,
    and names every reference that the policy cited there.

    Args:
        messages: as for ``Context``.
        budget: as for ``Context``.
        count: as for ``Context``.
        given: as for ``Context``.
    """
    history = History(messages, budget, count, given, unfolds=True)
    if history.fits:
        return [*messages]
    (full, wide) = history.full()
    (compact, narrow) = history.compact()
    make = partial(_folded, history)
    last = len(full) - 1
    first, note, room = _window(history, narrow, 2, make, 0)
    extra = [a - b for a, b in zip(wide[first:], narrow[first:], strict=True)]
    whole = first + start(extra, room - room // 2)

    def view(first: int, note: str, whole: int) -> list[Message]:
        middle = max(first, whole)
        return history.view(0, note, [*compact[first:middle], *full[middle:]])

    views = [partial(view, first, note, whole)]
    views += [partial(view, last, make(last, 0), whole) for whole in (last, last + 1)]
    return history.first_that_fits(views)


def _latest(
    messages: Sequence[Message],
    budget: int,
    count: Count,
    given: int | None = None,
    *,
    make: Callable[[History, int, int], str],
    least: int,
) -> list[Message]:
    """Return the task, a note and the latest turns; ``make`` and ``least`` as for ``_window``."""
    history = History(messages, budget, count, given)
    if history.fits:
        return [*messages]
    (full, sizes) = history.full()
    note_of = partial(make, history)
    first, note, _ = _window(history, sizes, 1, note_of, least)
    pairs = ((first, note), (last := len(full) - 1, note_of(last, 0)))
    return history.first_that_fits(partial(history.view, *pair, full) for pair in pairs)


def _window(
    history: History, sizes: Sequence[int], part: int, make: Callable[[int, int], str], least: int
) -> tuple[int, str, int]:
    """Return the first turn that is shown, the note of those before it, and the room that the note
    leaves.

    The note gets as many eighths of the room as it needs.  That depends on the turns before the
    first one alone, so the view keeps its beginning while turns are appended.

    Args:
        history: with some room.
        sizes: tokens of each turn, as shown.
        part: the turns get one part in so many of the room that the note leaves.
        make: the note by the first turn that is shown and the tokens that it may have.
        least: eighths for the note, 0 to 7.
    """
    first = 0
    note = ""
    room = history.room
    for eighths in range(least, 8):
        reserve = history.room * eighths // 8
        room = history.room - reserve
        first = start(sizes, room // part)
        note = make(first, reserve)
        if not note or history.count.count([_note(note)]) <= reserve:
            break
    return first, note, room


def _folded(history: History, first: int, _: int) -> str:
    if not first:
        return ""
    shows = 'unfold("turn_N") shows turn N, unfold("result_N_I") result I of turn N.'
    told = f"[Turns 0 to {first - 1} are folded. {shows}]"
    return "\n".join([told, *_citations(history, first)])


def _summary(write: Writer, history: History, first: int, room: int) -> str:
    if not first:
        return ""
    told = f"[Summary of turns 0 to {first - 1}, which are left out.]"
    facts = "\n".join([told, *_citations(history, first)])
    left = room - history.count.count([_note(facts)])
    if left <= 0:
        return facts
    last = history.turns[first - 1][0]
    key = (write, first, left)
    text = history.count.memo(last, key, lambda _: write(history, first, left))
    return f"{facts}\n{_cut(history, text, left)}"


def _lines(history: History, first: int, room: int) -> str:
    """Return a line for each call, the latest that have room, oldest first."""
    lines = (
        f"turn {i}: {line}"
        for i in reversed(range(first))
        for line in history.count.memo(history.turns[i][0], "line", _line)
    )
    return "\n".join(reversed([*_within(history, lines, room)]))


def _line(message: Message) -> list[str]:
    made = [f"{name}({arguments})"[:160] for name, arguments in _functions(message)]
    text = " ".join(visible(text_of(message)).split())[:160]
    return [*reversed(made), *([dumps(text)] if text else ())]


def _state(history: History, last: int, room: int) -> str:
    named, texts = history.grown.policy_texts(last, _names, _shown)
    told = f"[State after {last + 1} turns; calls so far: {dumps(dict(named.most_common(16)))}.]"
    words = [*_within(history, reversed(texts), room - len(told))]
    return "\n".join([told, *(["What you wrote, latest first:", *words] if words else ())])


def _shown(message: Message) -> str:
    return visible(text_of(message))


def _names(message: Message) -> list[str]:
    return [name[:64] for name, _ in _functions(message)]


def _functions(message: Message) -> list[tuple[str, str]]:
    """Return name and arguments of each call."""
    made = (call.get("function") for call in calls(message))
    return [
        (str(each.get("name")), str(each.get("arguments")))
        for each in made
        if isinstance(each, dict)
    ]


def _within(history: History, texts: Iterable[str], room: int) -> Iterable[str]:
    """Return the first of these texts, as many as have room; the last one cut."""
    for text in texts:
        if room <= 0:
            return
        shown = _cut(history, text, room)
        room -= history.count.count([_note(shown)])
        yield shown
        if shown != text:
            return


def _cut(history: History, text: str, room: int) -> str:
    size = min(len(text), 4 * room)
    while size and history.count.count([_note(text[:size])]) > room:
        size = size * 3 // 4
    return text[:size]


def _citations(history: History, first: int) -> list[str]:
    found = references(history.turns, history.grown.citations(first, find_citations))
    return [f"You cited: {' '.join(found)}"] if found else []


def _note(text: str) -> Message:
    return {"role": "user", "content": text}


CONTEXTS: Mapping[str, Context] = {
    "recency": recency,
    "markov": markov,
    "summary": summary,
    "fold": fold,
}
