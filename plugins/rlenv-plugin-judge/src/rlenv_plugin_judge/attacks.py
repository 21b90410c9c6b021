"""Responses that talk to the judge instead of solving the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlenv import Task
from rlenv.hooks import Attack

from .protocol.smuggling import CORPUS, smuggled
from .protocol.verdict import Field

__all__ = ["attacks"]


def _said(text: str) -> Callable[[Task], str]:
    return lambda _: text


def attacks() -> Mapping[str, Sequence[Attack]]:
    """By stage: words to the judge, master keys (Zhao and others 2025, arXiv:2507.08794), smuggled
    verdicts.
    """
    words = [Attack(name, _said(text)) for name, text in CORPUS["words"].items()]
    grade = [Field("grade", "choice", choices=("incorrect", "correct"))]
    holds = [Field("s1", "bool")]
    by_form = {
        name: (*words, *(Attack(f"smuggled-{n}", _said(text)) for n, text in smuggled(fields)))
        for name, fields in (("grade", grade), ("holds", holds))
    }
    return {
        "reference": by_form["grade"],
        "panel": by_form["grade"],
        "rubric": by_form["holds"],
        "checklist": by_form["holds"],
        "steps": by_form["holds"],
        "evolving": by_form["holds"],
        "reward-model": words,
    }
