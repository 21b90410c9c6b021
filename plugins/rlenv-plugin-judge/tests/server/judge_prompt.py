"""How a scripted judge understands what it is asked: it reads the prompt as a model would, and
nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

_FORM = re.compile(r'^\{"nonce": "(\w+)", (.*), "reason": "<text>"\}$', re.MULTILINE)
_KIND = re.compile(r'("(?:[^"\\]|\\.)*"): <(number|choice|bool)>')


@frozen
class Wanted:
    """One value that the verdict must hold."""

    name: str
    kind: str
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()


@frozen
class Question:
    """What is judged: material by name in the order shown, and the form of the verdict."""

    instructions: str
    material: Mapping[str, str]
    wanted: tuple[Wanted, ...]
    nonce: str

    @property
    def candidates(self) -> list[str]:
        """The names of what is judged: responses, else the last piece of material."""
        named = [n for n in self.material if n.lower().startswith(("response", "candidate"))]
        return named or list(self.material)[-1:]


def read_question(messages: Sequence[Mapping[str, Any]]) -> Question | None:
    """None where no verdict is asked for."""
    user = next((str(m["content"]) for m in messages if m.get("role") == "user"), "")
    system = next((str(m["content"]) for m in messages if m.get("role") == "system"), "")
    mark = re.search(r"carry the mark (\w+)", system)
    forms = _FORM.findall(user)
    if not mark or not forms:
        return None
    nonce, inside = forms[-1]
    block = rf"^BEGIN ([^\n]*) {mark[1]}\n(.*?)\nEND \1 {mark[1]}$"
    material = dict(re.findall(block, user, re.MULTILINE | re.DOTALL))
    after = user[user.rindex(f'"nonce": "{nonce}"') :]
    wanted = tuple(_wanted(json.loads(name), kind, after) for name, kind in _KIND.findall(inside))
    return Question(user.partition("BEGIN ")[0], material, wanted, nonce)


def _wanted(name: str, kind: str, rules: str) -> Wanted:
    rule = re.search(rf"^- {re.escape(name)}: (.*)$", rules, re.MULTILINE)
    text = rule[1] if rule else ""
    if kind == "number":
        low, high = re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)[:2]
        return Wanted(name, kind, float(low), float(high))
    if kind == "choice":
        listed = json.loads("[" + text.removeprefix("exactly one of ") + "]")
        return Wanted(name, kind, choices=tuple(listed))
    return Wanted(name, kind)
