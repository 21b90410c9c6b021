"""Rewrites of a response's text that keep its meaning, and such as change it; hook
``rlenv_rewrites``.

They touch the last box only, and apply where the response has exactly one outside its thinking, so
that what they do to the meaning is sure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from attrs import evolve
from rlenv import Task
from rlenv.hooks import Rewrite
from rlenv.text import read

from .extract.boxes import boxes, is_placeholder
from .extract.found import Claim

_Edit = Callable[[str], "str | None"]

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_WIDE = {ord(digit): 0xFF10 + int(digit) for digit in "0123456789"}


def rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Rewrites for ``equal``; the changing ones turn a right response into a wrong one."""
    keep = [Rewrite(name, _within(edit), keeps=True) for name, edit in _SAME_CONTENT.items()]
    keep += [Rewrite(name, _around(form), keeps=True) for name, form in _SAME_FRAME.items()]
    change = [Rewrite(name, _within(edit), keeps=False) for name, edit in _OTHER_CONTENT.items()]
    change += [Rewrite(name, _around(form), keeps=False) for name, form in _OTHER_FRAME.items()]
    return {"equal": [*keep, *change]}


def _only_box(response: str) -> Claim | None:
    found = read(response)
    every, is_open = boxes(found.text, 0, len(found.text))
    if len(every) != 1 or is_open or is_placeholder(every[0].text):
        return None
    start, end = found.span(every[0].start, every[0].end)
    return evolve(every[0], start=start, end=end)


def _within(edit: _Edit) -> Callable[[Task, str], str | None]:
    """Rewrite what is in the box."""

    def apply(_task: Task, response: str) -> str | None:
        box = _only_box(response)
        content = None if box is None else edit(box.text)
        if box is None or content is None:
            return None
        return f"{response[: box.start]}\\boxed{{{content}}}{response[box.end :]}"

    return apply


def _around(form: str) -> Callable[[Task, str], str | None]:
    """Give the box in another sentence."""

    def apply(_task: Task, response: str) -> str | None:
        box = _only_box(response)
        return None if box is None else form.replace("ANSWER", box.text)

    return apply


def _thousands(text: str) -> str | None:
    return f"{int(text):,}" if re.fullmatch(r"[1-9]\d{3,14}", text) else None


def _where(pattern: str, replacement: str) -> _Edit:
    """Replace every match; None where there is none."""

    def edit(text: str) -> str | None:
        changed = re.sub(pattern, replacement, text)
        return None if changed == text else changed

    return edit


def _number(change: Callable[[str], str]) -> _Edit:
    return lambda text: change(text) if _NUMBER.fullmatch(text) else None


def _drop_item(text: str) -> str | None:
    match = re.fullmatch(r"(\\\{)([^{}\\]+),[^,{}\\]+(\\\})", text)
    return f"{match[1]}{match[2]}{match[3]}" if match else None


def _swap(text: str) -> str | None:
    match = re.fullmatch(r"\((-?\d+), ?(-?\d+)\)", text)
    return f"({match[2]},{match[1]})" if match and match[1] != match[2] else None


_SAME_CONTENT: Mapping[str, _Edit] = {
    "spaces": lambda text: f"  {text} ",
    "thin spaces": lambda text: rf"\,{text}\;",
    "display style": lambda text: rf"\displaystyle {text}",
    "dfrac": _where(r"\\frac(?=\{)", r"\\dfrac"),
    "tfrac": _where(r"\\frac(?=\{)", r"\\tfrac"),
    "sized brackets": _where(r"^\((.*)\)$", r"\\left(\1\\right)"),
    "bold font": lambda text: rf"\mathbf{{{text}}}" if _NUMBER.fullmatch(text) else None,
    "roman font": lambda text: rf"\mathrm{{{text}}}" if _NUMBER.fullmatch(text) else None,
    "text": lambda text: rf"\text{{{text}}}" if _NUMBER.fullmatch(text) else None,
    "dollars inside": lambda text: f"${text}$" if "$" not in text else None,
    "full-width digits": lambda text: text.translate(_WIDE) if _NUMBER.fullmatch(text) else None,
    "zero-width space": lambda text: f"\u200b{text}\u200b",
    "unicode minus": _where(r"^-(?=\d)", "−"),
    "plus sign": lambda text: f"+{text}" if re.fullmatch(r"[1-9]\d*", text) else None,
    "trailing zeros": lambda text: f"{text}.00" if re.fullmatch(r"-?[1-9]\d*", text) else None,
    "thousands": _thousands,
    "over one": lambda text: rf"\frac{{{text}}}{{1}}" if re.fullmatch(r"[1-9]\d*", text) else None,
    "parentheses": lambda text: f"({text})" if re.fullmatch(r"-?\d+", text) else None,
    "double negative": lambda text: f"-(-{text})" if re.fullmatch(r"[1-9]\d*", text) else None,
    "full stop inside": lambda text: f"{text}." if re.fullmatch(r"-?\d+", text) else None,
}

_SAME_FRAME: Mapping[str, str] = {
    "display math": "Hence\n\\[\n\\boxed{ANSWER}\n\\]",
    "dollars": "$\\boxed{ANSWER}$",
    "sentence": "So, putting it all together, the final answer is $\\boxed{ANSWER}$.",
    "bold heading": "**Final Answer**\n\n$$\\boxed{ANSWER}$$",
    "thinking before": "<think>Perhaps \\boxed{12345}? No.</think>\n\n\\boxed{ANSWER}",
    "courtesy after": "\\boxed{ANSWER}\n\nI hope this helps!",
    "fbox": "\\fbox{ANSWER}",
    "repeated": "We get \\boxed{ANSWER}.\n\nThe answer is \\boxed{ANSWER}.",
    "answer tag": "<answer>\\boxed{ANSWER}</answer>",
    "markdown": "The answer is **$\\boxed{ANSWER}$**",
}

_OTHER_CONTENT: Mapping[str, _Edit] = {
    "plus one": lambda text: f"{text}+1",
    "negated": _number(
        lambda text: text[1:] if text[0] == "-" else f"-{text}" if float(text) else "1"
    ),
    "a digit more": _number(lambda text: f"{text}7" if "." not in text else f"9{text.lstrip('-')}"),
    "times ten": _number(lambda text: f"10 \\cdot {text} + 3"),
    "an item dropped": _drop_item,
    "coordinates swapped": _swap,
    "a second answer": lambda text: f"{text} \\text{{ or }} 987654",
    "a list": lambda text: f"{text}, 987654",
    "a tautology": lambda _: "x = x",
    "withdrawn": lambda text: rf"\text{{not }} {text}",
}

_OTHER_FRAME: Mapping[str, str] = {
    "another box": "\\boxed{ANSWER}\n\nIt could also be \\boxed{987654}.",
    "two boxes": "\\boxed{ANSWER} or \\boxed{987654}",
    "denied": "The answer is not \\boxed{ANSWER}.",
    "contradicted": "\\boxed{ANSWER}\n\nThe answer is 987654.",
    "only thought": "<think>\\boxed{ANSWER}</think> I do not know.",
    "never closed": "<think>The answer is \\boxed{ANSWER}",
    "cut off": "The answer is \\boxed{ANSWER",
}
