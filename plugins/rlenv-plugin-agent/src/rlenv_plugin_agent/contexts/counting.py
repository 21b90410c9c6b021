"""Counts of the tokens that messages have: an estimate that is never too low, or a tokenizer of
your own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from rlenv_plugin_agent.messages import Message

from .growing import GrowingHistory

T = TypeVar("T")
Count: TypeAlias = Callable[[Sequence[Message]], int]

# tokens that a template puts around a message, at most: role, marks of begin and end, new lines
FRAME = 24
CALL = 32  # and around one call of a tool
MEDIA = 16_384  # tokens of an image at most, as of Qwen2-VL
TEXTS = ("content", "reasoning_content", "name", "tool_call_id")


def utf8(text: str) -> int:
    """Return the number of bytes of a text in UTF-8; a lone surrogate has three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def counter(length: Callable[[str], int]) -> Count:
    """Make a count of messages from a count of texts.

    Example:
        count = counter(lambda text: len(tokenizer.encode(text, add_special_tokens=False)))

    Args:
        length: tokens of a text.
    """

    def count(messages: Sequence[Message]) -> int:
        return sum(_tokens(message, length) for message in messages)

    return count


# A token of a byte-level BPE, or of SentencePiece with byte fallback, stands for one byte or more;
# so no text has more tokens than bytes.  A normalization that makes texts longer, as NFKC, is not
# covered.
estimate = counter(utf8)


def _tokens(message: Message, length: Callable[[str], int]) -> int:
    total = FRAME
    for key in TEXTS:
        value = message.get(key)
        if isinstance(value, str):
            total += length(value)
        elif isinstance(value, (list, tuple)):
            total += sum(_part(part, length) for part in value)
    return total + sum(CALL + _call(call, length) for call in calls(message))


def _part(part: object, length: Callable[[str], int]) -> int:
    text = text_of_part(part)
    return MEDIA if text is None else FRAME + length(text)


def _call(call: Mapping[str, object], length: Callable[[str], int]) -> int:
    """A template may write the arguments again, with a space after each comma and colon."""
    function = call.get("function")
    made = cast("Mapping[str, object]", function) if isinstance(function, Mapping) else {}
    arguments = made.get("arguments")
    text = arguments if isinstance(arguments, str) else repr(arguments)
    words = (str(call.get("id", "")), str(made.get("name", "")), text)
    return text.count(",") + text.count(":") + sum(map(length, words))


def text_of_part(part: object) -> str | None:
    """Return the text of one part of a content that is a list; None for an image and the like."""
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None


def text_of(message: Message) -> str:
    """Return the content as one text; an image is its type in brackets."""
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        return "\n".join(map(_shown, content))
    return content if isinstance(content, str) else ""


def _shown(part: object) -> str:
    text = text_of_part(part)
    if text is not None:
        return text
    kind = part.get("type") if isinstance(part, Mapping) else None
    return f"[{str(kind)[:32]}]"


def calls(message: Message) -> Iterator[Mapping[str, object]]:
    """Yield the calls of a message of the assistant; whatever is not one is passed over."""
    found = message.get("tool_calls")
    for call in found if isinstance(found, (list, tuple)) else ():
        if isinstance(call, Mapping):
            yield call


def guard_count(count: Count | None) -> Count:
    """Return the count, or the estimate where it raises, as tokenizers do for texts that look like
    their special tokens.

    Args:
        count: None for the estimate.
    """

    def safe(messages: Sequence[Message]) -> int:
        try:
            return estimate(messages) if count is None else count(messages)
        except Exception:  # noqa: BLE001 - what a policy writes must not end its episode
            return estimate(messages)

    return safe


class CountMemo:
    """A count that remembers: each message of an episode is counted once, so 600 turns cost no 600²
    counts.

    Messages are taken by identity, and kept.  Make one for each episode and pass it as ``count``.

    Args:
        count: of a sequence; for a sequence of several it is the sum of each.
    """

    def __init__(self, count: Count = estimate) -> None:
        self.count = count
        self._found: dict[tuple[int, Hashable], tuple[Message, object]] = {}
        self._grown: dict[int | None, GrowingHistory] = {}
        self._history: Sequence[Message] = ()
        # messages of the history, and their tokens
        self._known = 0
        self._total = 0

    def __call__(self, messages: Sequence[Message]) -> int:
        return sum(self.memo(message, "tokens", self._one) for message in messages)

    def total(self, history: Sequence[Message]) -> int:
        """Count a history that only grows: what is known of it is not looked at again.

        Args:
            history: the same list each time.
        """
        if history is not self._history or len(history) < self._known:
            self._history = history
            self._known = 0
            self._total = 0
        self._total += self(history[self._known :])
        self._known = len(history)
        return self._total

    def grown(self, history: Sequence[Message], given: int | None) -> GrowingHistory:
        """Return what is remembered of a history that only grows.

        Args:
            history: the same list each time.
            given: how many messages of it the task gave.
        """
        found = self._grown.setdefault(given, GrowingHistory(given))
        found.grow(history)
        return found

    def memo(self, message: Message, key: Hashable, make: Callable[[Message], T]) -> T:
        """Return what ``make`` returned for this message the first time.

        Args:
            message: taken by identity.
            key: of ``make`` and what else its result depends on.
            make: a function of the message.
        """
        found = self._found.get((id(message), key))
        if found is None:
            found = self._found[id(message), key] = (message, make(message))
        return cast("T", found[1])

    def _one(self, message: Message) -> int:
        return self.count([message])


def count_memo(count: Count) -> CountMemo:
    """Return the count itself if it remembers, else one that does."""
    return count if isinstance(count, CountMemo) else CountMemo(count)
