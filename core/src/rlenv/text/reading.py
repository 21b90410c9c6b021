"""What of a response is visible: without thinking, channels other than final, and end-of-turn marks."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import accumulate
from typing import Literal, TypeAlias

from attrs import frozen

from .fences import FENCE

Thinking: TypeAlias = Literal["hide", "closed", "keep"]
_TAGS = [p + n for p in ("", "seed:") for n in ("think", "thinking", "reasoning", "thought", "thoughts")]  # fmt: skip
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
    "<|im_end|>", "<|im_start|>", "<|im_start|>user", "<|im_start|>assistant", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<|return|>", "<|end|>", "<|call|>", "</s>", "<eos>", "<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<|end_of_solution|>", "<|END_RESPONSE|>",
    "<|END_OF_TURN_TOKEN|>", "<|user|>", "<|observation|>", "<seed:eos>", "[EOS]", "[EOT]",
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
        pieces: where the text stands in the response, as (start, end) pairs of character offsets.
    """

    text: str
    hidden: int
    pieces: tuple[tuple[int, int], ...]

    @cached_property
    def _starts(self) -> list[int]:
        """Where the pieces begin in ``text``."""
        return list(accumulate((end - start for start, end in self.pieces), initial=0))

    def place(self, offset: int) -> int:
        """Where a character of ``text`` stands in the response; its end for the end of the text."""
        if not self.pieces:
            return 0
        piece = min(bisect_right(self._starts, offset), len(self.pieces)) - 1
        return self.pieces[piece][0] + offset - self._starts[piece]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the response that holds ``text[start:end]``.

        Args:
            start, end: offsets in ``text``, in characters.
        """
        if end <= start:
            return self.place(start), self.place(start)
        return self.place(start), self.place(end - 1) + 1


def visible(response: str, thinking: Thinking = "hide") -> str:
    """The visible text of a response.

    Args:
        response: any text.
        thinking: "hide", "closed" or "keep", as ``read`` explains.
    """
    return read(response, thinking).text


def read(response: str, thinking: Thinking = "hide") -> VisibleText:
    """Leave out what a chat's reader would not see: thinking, channels other than final, end-of-turn marks.

    ``<think>…</think>`` and its variants are hidden with their marks; a block that is never closed reaches
    to the end.  Once a Harmony channel is opened, only what stands in ``final`` is visible.  A mark in a
    closed fence, in a code span or alone in quotes is text.  Inside of thinking only its end counts, and
    not where that stands alone in quotes or backticks.

    Args:
        response: any text.
        thinking: "hide"; "closed", which leaves a ``</think>`` alone that nothing opened, where "hide"
            takes the first for the end of thinking that the prompt's template began; "keep", which
            hides nothing but end-of-turn marks.
    """
    end = _before_trailers(response)
    if thinking == "keep" or _marks(response).search(response) is None:
        pieces = [(0, end)]
    else:
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
    while bare:
        if text[bare - 1].isspace() or text[bare - 1] == "\0":
            bare -= 1
            continue
        mark = next((mark for mark in marks if text.endswith(mark, 0, bare)), None)
        if mark is None:
            break
        end = bare = bare - len(mark)
    return end


def _pieces(text: str, end: int, thinking: Thinking) -> list[tuple[int, int]]:
    """The visible stretches, in order; some may be empty."""
    pieces: list[tuple[int, int]] = []
    quotes = _Quotes(text, end)
    place = at = 0  # where the stretch begins, and how far its marks are read
    opened, channels, fresh = thinking == "hide", False, True  # fresh: at the beginning of a line
    while (mark := quotes.live_mark(place, at)) is not None:
        word, begin, at = mark[0].lower(), mark.start(), mark.end()
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
                opened, fresh, pieces = False, True, []
                place = at = _after(text, at)
        elif channels or (word == "<|channel|>" and _HEADER.match(text, begin, end)):
            if channels:
                _keep(pieces, text, place, begin)
            else:
                channels, pieces = True, []
            header = _final(text, begin, end)
            if header is None:
                return pieces
            place, at, fresh = header.end(), header.end(), True
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
    """Whether a mark stands alone in quotes or backticks; what follows a letter, or a fence, opens none."""
    place, end = mark.span()
    if text[place - 1 : place] + text[end : end + 1] not in _QUOTES:
        return False
    before = text[place - 2 : place - 1]
    return not (before.isalnum() or before in tuple(".,;!?)]}`"))


def _final(text: str, place: int, end: int) -> re.Match[str] | None:
    """The next header that opens the final channel."""
    headers = _HEADER.finditer(text, place, end)
    return next((header for header in headers if header[1] == "final" and header[2]), None)


class _Quotes:
    """Finds marks that are no quotation.

    A fence counts as closed where the next one of its kind, as long at least, has no label: where it has,
    the first was left open.  Which one that is does not depend on where reading begins.
    """

    def __init__(self, text: str, end: int) -> None:
        self._text = text
        self._end = end
        self._marks = _marks(text)
        self._starts, self._closes = array("q"), array("q")  # of fences; 0 where one stays open
        if "```" in text or "~~~" in text:
            self._pair()
        self._fence = self._fenced = 0  # the next fence, and the end of the last closed one
        self._line_end = -1
        self._ticks: Iterator[re.Match[str]] = iter(())
        self._tick: re.Match[str] | None = None
        self._left: Counter[int] = Counter()  # runs of backticks ahead in the line, by length
        self._spanned = 0

    def _pair(self) -> None:
        waiting: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}  # (its place, its length)
        for fence in FENCE.finditer(self._text, 0, self._end):
            if fence[2][0] == "`" and "`" in fence[3]:
                continue  # it is a code span
            stack, length = waiting[fence[2][0]], len(fence[2])
            while stack and stack[-1][1] <= length:
                opening, _ = stack.pop()
                if not (fence[1] + fence[3]).strip():
                    self._closes[opening] = fence.end()
            stack.append((len(self._starts), length))
            self._starts.append(fence.start())
            self._closes.append(0)

    def live_mark(self, start: int, at: int) -> re.Match[str] | None:
        """The first mark from ``at`` on that counts, in a stretch of text that begins at ``start``."""
        for mark in self._marks.finditer(self._text, at, self._end):
            place = mark.start()
            if not (
                _is_quoted(self._text, mark)
                or self._in_fence(start, place)
                or self._in_span(start, place)
            ):
                return mark
        return None

    def _in_fence(self, start: int, place: int) -> bool:
        while self._fence < len(self._starts) and self._starts[self._fence] < place:
            if self._starts[self._fence] >= max(start, self._fenced):
                self._fenced = max(self._closes[self._fence], self._fenced)
            self._fence += 1
        return place < self._fenced

    def _in_span(self, start: int, place: int) -> bool:
        """Whether a run of backticks before ``place`` has its like behind it, in one line."""
        if place >= self._line_end:
            self._begin_line(max(start, self._text.rfind("\n", start, place) + 1), place)
        while self._tick is not None and self._tick.start() < place:
            length = len(self._tick[0])
            self._left[length] -= 1
            begin = self._tick.start()
            if begin >= max(start, self._spanned) and self._left[length]:
                self._spanned = self._span_end(length)
            else:
                self._tick = next(self._ticks, None)
        return place < self._spanned

    def _begin_line(self, begin: int, place: int) -> None:
        end = self._text.find("\n", place, self._end)
        self._line_end = self._end if end < 0 else end
        self._left = Counter(map(len, _TICKS.findall(self._text, begin, self._line_end)))
        self._ticks = _TICKS.finditer(self._text, begin, self._line_end)
        self._tick = next(self._ticks, None)

    def _span_end(self, length: int) -> int:
        """The end of the next run of this length; there is one."""
        for tick in self._ticks:
            self._left[len(tick[0])] -= 1
            if len(tick[0]) == length:
                self._tick = next(self._ticks, None)
                return tick.end()
        raise AssertionError
