"""Which part of a response counts: what stands after the thinking and before the end-of-text marks."""

from __future__ import annotations

import re
from functools import cache

_HINTS = ("hink", "HINK", "easoning", "EASONING", "hought", "HOUGHT", "channel|>")
_TRAILERS = (
    "<|im_end|>", "<|im_start|>", "<|im_start|>user", "<|im_start|>assistant", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|return|>", "<|end|>", "</s>", "<eos>",
    "<end_of_turn>", "<|end_of_solution|>", "<｜end▁of▁sentence｜>",
)  # fmt: skip
_ORDINARY = frozenset("0123456789.$)}]*")  # what ends most responses and no mark
_TURNS = ("<|im_start|>user", "<|im_start|>assistant")
_FINAL_CHANNEL = "<|channel|>final<|message|>"


@cache
def _thinking() -> re.Pattern[str]:
    name = r"(?:seed:)?(?:think|thinking|reasoning|thought|thoughts)"
    closers = (rf"</{name}>", r"◁/think▷", r"\[/THINK\]", r"<\|end_of_thought\|>", r"<\|/think\|>")
    openers = (rf"<{name}>", r"◁think▷", r"\[THINK\]", r"<\|begin_of_thought\|>", r"<\|think\|>")
    return re.compile(f"(?P<close>{'|'.join(closers)})|{'|'.join(openers)}", re.IGNORECASE)


def visible(response: str) -> tuple[int, int] | None:
    """(start, end) of the part outside thinking; None when a thinking block is never closed."""
    start = 0
    if _may_think(response):
        opened = _after_thinking(response)
        if opened is None:
            return None
        start = opened
    return start, _before_trailers(response, start)


def _may_think(response: str) -> bool:
    """A quick look that spares most responses the search for marks."""
    if "<" in response:
        return any(map(response.__contains__, _HINTS))
    return "◁" in response or "THINK]" in response


def _after_thinking(response: str) -> int | None:
    start, is_open = 0, False
    for mark in _thinking().finditer(response):
        is_open = mark["close"] is None
        if not is_open:
            start = mark.end()
    if is_open:
        return None
    channel = response.rfind(_FINAL_CHANNEL)
    if channel >= start:
        return channel + len(_FINAL_CHANNEL)
    if "<|channel|>analysis" in response[start:]:  # never reached its final channel
        return None
    return start


def _before_trailers(response: str, start: int) -> int:
    """Where the text ends once end-of-text marks and white space are cut off."""
    end = len(response)
    if response[-1:] in _ORDINARY:
        return end
    while end > start:
        if response[end - 1].isspace() or response[end - 1] == "\x00":
            end -= 1
            continue
        if response[end - 1] != ">" and not response.endswith(_TURNS, start, end):
            break
        mark = next((t for t in _TRAILERS if response.endswith(t, start, end)), None)
        if mark is None:
            break
        end -= len(mark)
    return end
