"""A judge without a model: for examples, tests and dry runs, where a real one would cost money or
change its mind.

It reads the same prompt as a model would and answers in the same form.  What it knows is one rule:
a response is right when it says what the reference says, or, where there is none, what the task
asks for after "Answer with:"; letter case, space and punctuation at the ends aside.  As part
``scripted`` of the port ``transport`` it is named in an environment as ``judge = { transport =
"judge/scripted" }``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

from rlenv import Fault, VerifierFault

from .transport.request import CHAT, Reply, Request, Usage

__all__ = ["Scripted"]

_MARK = re.compile(r"carry the mark (\w+)")
_FORM = re.compile(r'^\{"nonce": "(\w+)", (.*), "reason": "<text>"\}$', re.M)
_KIND = re.compile(r'("(?:[^"\\]|\\.)*"): <(number|choice|bool)>')
_WANTED = re.compile(r"answer with:(.*)", re.I)
_ENDS = " \t\r\n.!\"'`*_"


class Scripted:
    """See the module."""

    async def send(self, request: Request) -> Reply:
        """The verdict of the one rule.

        Raises:
            VerifierFault: the request is no question of this package.
        """
        if request.route != CHAT:
            prompt, response = (str(message["content"]) for message in request.messages)
            right = _same(response, _expected({"task": prompt}))
            return Reply(json.dumps({"score": float(right)}), "scripted", endpoint="scripted")
        texts = {str(message["role"]): str(message["content"]) for message in request.messages}
        user = texts.get("user", "")
        mark = _MARK.search(texts.get("system", ""))
        forms = _FORM.findall(user)
        if mark is None or not forms:
            raise VerifierFault(
                Fault("error", "the scripted judge answers questions of rlenv's judges only")
            )
        nonce, inside = forms[-1]
        block = rf"^BEGIN ([^\n]*) {mark[1]}\n(.*?)\nEND \1 {mark[1]}$"
        found = re.findall(block, user, re.M | re.S)
        material = {name.partition(" (without ")[0]: text for name, text in found}
        rules = user[user.rindex(f'"nonce": "{nonce}"') :]
        values = {
            name: _value(name, kind, _rule(name, rules), material)
            for name, kind in ((json.loads(quoted), kind) for quoted, kind in _KIND.findall(inside))
        }
        text = json.dumps({"nonce": nonce, **values, "reason": "By rule."})
        return Reply(text, "scripted", Usage(len(user) // 3, len(text) // 3), endpoint="scripted")


def _rule(name: str, rules: str) -> str:
    found = re.search(rf"^- {re.escape(name)}: (.*)$", rules, re.M)
    return found[1] if found else ""


def _value(name: str, kind: str, rule: str, material: Mapping[str, str]) -> object:
    wanted = _expected(material)
    candidates = [key for key in material if key not in ("task", "reference")]
    if kind == "choice":
        choices = json.loads(f"[{rule.removeprefix('exactly one of ')}]")
        pair = [key for key in candidates if key.startswith("response ")]
        if len(pair) == 2:
            return _better(pair, choices, material, wanted)
        return choices[-1] if _same(material[candidates[-1]], wanted) else choices[0]
    own = material.get(name, material[candidates[-1]] if candidates else "")
    right = _same(own, wanted)
    return right if kind == "bool" else float(right)


def _better(pair: list[str], choices: list[str], material: Mapping[str, str], wanted: str) -> str:
    first, second = (_same(material[key], wanted) for key in pair)
    by_name = [next(c for c in choices if key.endswith(c)) for key in pair]
    if first == second:
        return next(choice for choice in choices if choice not in by_name)
    return by_name[0] if first else by_name[1]


def _expected(material: Mapping[str, str]) -> str:
    if "reference" in material:
        return material["reference"]
    asked = _WANTED.search(material.get("task", ""))
    return asked[1] if asked else ""


def _same(said: str, wanted: str) -> bool:
    return bool(_plain(wanted)) and _plain(said) == _plain(wanted)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().strip(_ENDS).split())
