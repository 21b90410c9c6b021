"""What of a response is visible: without thinking, other channels and end-of-turn marks."""

from __future__ import annotations

import re
from array import array
from functools import cache
from typing import Literal, TypeAlias

from attrs import frozen

from .fences import fences

Thinking: TypeAlias = Literal["hide", "closed", "keep"]
_TAGS = [
    p + n for p in ("", "seed:") for n in ("think", "thinking", "reasoning", "thought", "thoughts")
]
_PAIRS = {  # what opens thinking, in small letters -> what closes it
    **(_TAG_MARKS := {f"<{tag}>": f"</{tag}>" for tag in _TAGS}),
    "[think]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|think|>": "<|/think|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "<|channel>thought": "<channel|>",
}
_CLOSERS = frozenset(closer.lower() for closer in _PAIRS.values())
_TRAILERS = (
    "<|im_end|>", "<|im_start|>", "<|im_start|>user", "<|im_start|>assistant", "<|endoftext|>",
    "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|return|>", "<|end|>", "<|call|>", "</s>",
    "<eos>", "<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<|end_of_solution|>",
    "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>", "<|user|>", "<|observation|>", "<seed:eos>",
    "[EOS]", "[EOT]",
)  # fmt: skip
_ANGLED = re.compile(  # tags in any case; the others are single tokens, and have one spelling
    r"<(?:/?(?i:(?:seed:)?(?:think(?:ing)?|reasoning|thoughts?))>|channel\|>"
    r"|\|(?:channel(?:\|>|>thought)|/?think\|>|(?:begin|end)_of_thought\|>|(?:START|END)_THINKING\|>"
    r"|inner_(?:pre|suf)fix\|>|(?:end|return|call|start)\|>))",
    re.ASCII,
)
_MARK = re.compile(rf"{_ANGLED.pattern}|\[/?THINK\]|◁/?think▷", re.ASCII)  # ten times slower
_HEADER = re.compile(r"<\|channel\|>(\w++)[^<\n]*+(?:<\|constrain\|>[^<\n]*+)?+(<\|message\|>)?+")
_BEGINS = re.compile(r"\s*(?:<\|begin_of_solution\|>|<\|START_RESPONSE\|>)[\r\n]*|[\r\n]*")
_QUOTES = ('""', "''", "``", "“”", "‘’")
_TICKS = re.compile("``*")  # faster than "`+", since it begins with a letter


@frozen
class VisibleText:
    """The part of a response that counts.

    Args:
        text: what is visible.
        hidden: how many characters of thinking were left out.
        pieces: where the text is in the response, as (start, end) pairs of character offsets.
    """

    text: str
    hidden: int
    pieces: tuple[tuple[int, int], ...]

    def place(self, offset: int) -> int:
        """Where a character of ``text`` is in the response; its end for the end of the text."""
        for start, end in self.pieces:
            if offset < end - start:
                return start + offset
            offset -= end - start
        return self.pieces[-1][1] if self.pieces else 0

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the response that holds ``text[start:end]``.

        Args:
            start, end: offsets in ``text``, in characters.
        """
        first = self.place(start)
        return first, self.place(end - 1) + 1 if end > start else first


def visible(response: str, thinking: Thinking = "hide") -> str:
    """The visible text of a response.

    Args:
        response: any text.
        thinking: "hide", "closed" or "keep", as ``read`` explains.
    """
    return read(response, thinking).text


def read(response: str, thinking: Thinking = "hide") -> VisibleText:
    """Leave out what a chat's reader would not see: thinking, other channels, end-of-turn marks.

    ``<think>…</think>`` and its variants are hidden with their marks; a block that is never closed
    reaches to the end.  Once a Harmony channel is opened, only what is in ``final`` is visible.  A
    mark in a closed fence, in a code span or alone in quotes is text.  Inside of thinking only its
    end counts, and not where that stands alone in quotes or backticks.  A byte order mark at the
    very beginning is not visible; elsewhere it is a character as any other.

    Args:
        response: any text.
        thinking: "hide"; "closed", which leaves a ``</think>`` alone that nothing opened, where
            "hide" takes the first for the end of thinking that the prompt's template began; "keep",
            which hides nothing but end-of-turn marks.
    """
    end = _before_trailers(response)
    if thinking == "keep" or _marks(response).search(response) is None:
        start = min(end, int(thinking != "keep" and response.startswith("\ufeff")))
        return VisibleText(response[start:end], 0, ((start, end),))
    pieces = [piece for piece in _pieces(response, end, thinking) if piece[0] < piece[1]]
    text = "".join([response[start:stop] for start, stop in pieces])
    return VisibleText(text, end - len(text), tuple(pieces))


def _marks(text: str) -> re.Pattern[str]:
    return _MARK if "THINK]" in text or "◁" in text else _ANGLED


def _before_trailers(text: str) -> int:
    """Where the text ends once end-of-turn marks, and white space behind them, are cut off."""
    end = bare = len(text)
    if not text or text[-1] in "0123456789.$)}*":  # what ends most responses and no mark
        return end
    marks = [mark for mark in _TRAILERS if mark != "</s>" or "<s>" not in text]  # struck through
    while True:
        while bare and (text[bare - 1].isspace() or text[bare - 1] == "\0"):
            bare -= 1
        mark = next((mark for mark in marks if text.endswith(mark, 0, bare)), None)
        if mark is None:
            return end
        end = bare = bare - len(mark)


def _pieces(text: str, end: int, thinking: Thinking) -> list[tuple[int, int]]:
    """The visible stretches, in order; some may be empty."""
    pieces: list[tuple[int, int]] = []
    marks = _marks(text)
    quoted = (_fenced(text, end), _spans(text, end))
    # Where the stretch begins, and how far its marks are read; a byte order mark is no part of it.
    place = at = int(text.startswith("\ufeff"))
    # fresh: at the beginning of a line
    opened = thinking == "hide"
    channels = False
    fresh = True
    while mark := marks.search(text, at, end):
        word = mark[0].lower()
        begin = mark.start()
        at = mark.end()
        if _is_quoted(text, mark) or any(each.hold(place, begin) for each in quoted):
            continue
        if word in _PAIRS:
            closers = _closing(word).finditer(text, at, end)
            closer = next((each for each in closers if not _is_quoted(text, each)), None)
            before = text[place:begin].rstrip(" \t")
            fresh = before[-1] in "\r\n" if before else fresh
            _keep(pieces, text, place, place + len(before) if fresh else begin)
            if closer is None:
                return pieces
            place = at = _after(text, closer.end()) if fresh else closer.end()
        elif word in _CLOSERS:
            if opened:
                opened = False
                fresh = True
                pieces = []
                place = at = _after(text, at)
        elif channels or (word == "<|channel|>" and _HEADER.match(text, begin, end)):
            if channels:
                _keep(pieces, text, place, begin)
            else:
                channels = True
                pieces = []
            headers = _HEADER.finditer(text, begin, end)
            header = next((each for each in headers if each[1] == "final" and each[2]), None)
            if header is None:
                return pieces
            place = header.end()
            at = header.end()
            fresh = True
    pieces.append((place, end))
    return pieces


def _keep(pieces: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    if pieces or not text[start:end].isspace():
        pieces.append((start, end))


def _after(text: str, end: int) -> int:
    """Where the text goes on behind thinking that began a line: in the next line."""
    found = _BEGINS.match(text, end)
    return end if found is None else found.end()


@cache
def _closing(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(_PAIRS[word]), re.ASCII | (re.I if word in _TAG_MARKS else 0))


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark stands alone in quotes or backticks; what follows a letter, or a fence, opens
    none.
    """
    place, end = mark.span()
    if text[place - 1 : place] + text[end : end + 1] not in _QUOTES:
        return False
    before = text[place - 2 : place - 1]
    return not (before.isalnum() or before in tuple(".,;!?)]}`"))


class _Stretches:
    """Stretches of a text, each from a place where it may begin; one that begins within another
    does not count.
    """

    def __init__(self) -> None:
        self._starts = array("q")  # in order
        self.ends = array("q")  # 0 for one that does not end
        self._next = self._until = 0  # the next one, and the end of the last that counts

    def begin(self, start: int) -> int:
        """Add one that begins here; its number."""
        self._starts.append(start)
        self.ends.append(0)
        return len(self.ends) - 1

    def hold(self, start: int, place: int) -> bool:
        """Whether one that begins at ``start`` or behind holds ``place``, which only grows."""
        while self._next < len(self._starts) and self._starts[self._next] < place:
            if self._starts[self._next] >= max(start, self._until):
                self._until = max(self.ends[self._next], self._until)
            self._next += 1
        return place < self._until


def _fenced(text: str, end: int) -> _Stretches:
    """From each fence to the one that closes it.

    That is where the next one of its kind, as long at least, has no label: where it has, the first
    was left open.
    """
    found = _Stretches()
    waiting: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}  # (its number, its length)
    for fence in fences(text, end):
        stack = waiting[fence[2][0]]
        length = len(fence[2])
        while stack and stack[-1][1] <= length:
            opening, _ = stack.pop()
            if not (fence[1] + fence[3]).strip():
                found.ends[opening] = fence.end()
        stack.append((found.begin(fence.start()), length))
    return found


def _spans(text: str, end: int) -> _Stretches:
    """From each run of backticks to the end of the next that is as long, in the same line."""
    found = _Stretches()
    # length → the number of the last run in this line
    line_end = -1
    last = dict[int, int]()
    for run in _TICKS.finditer(text, 0, end):
        if run.start() > line_end:
            line_end = text.find("\n", run.start()) % (len(text) + 1)
            last = {}
        length = len(run[0])
        if length in last:
            found.ends[last[length]] = run.end()
        last[length] = found.begin(run.start())
    return found
