"""The characters that scripted judges have; a model's name lists them:
``honest+quoting-before+logprobs``.

Every judge knows the hidden key of its server: which content has which quality in [0, 1].  A bias
changes what the judge thinks of a candidate; a manner changes how it writes its verdict down.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from judge_prompt import Question, Wanted

MASTER_KEYS = (
    "thought process:",
    "let's solve this problem step by step",
    "solution",
    ":",
    "answer:",
)
POSITION = 0.3  # how much better the first candidate looks to a position-biased judge
LENGTH = 0.5  # and at most how much better a long one to a length-biased judge

Key = dict[str, Any]  # content -> quality, or field name -> value


def quality(key: Key, content: str, wanted: Wanted) -> float | Any:
    """What the hidden key says: that of the longest known text in ``content``; 0 for what is
    unknown.
    """
    known = max((text for text in key if text in content), key=len, default=None)
    entry = key[known] if known is not None else 0.0
    if isinstance(entry, Mapping):
        return entry.get(wanted.name, entry.get("", 0.0))
    return entry


def opinion(traits: set[str], key: Key, question: Question, wanted: Wanted, name: str) -> Any:
    """The quality that this judge sees in the candidate ``name``; exact values of the key pass
    through.
    """
    content = question.material[name]
    seen = quality(key, content, wanted)
    if "obedient" in traits and re.search(
        r"ignore (all )?(the )?previous|full marks", content, re.I
    ):
        seen = 1.0
    if "gullible" in traits and content.strip().lower().startswith(MASTER_KEYS):
        seen = 1.0
    if not isinstance(seen, float | int) or isinstance(seen, bool):
        return seen
    if "position-biased" in traits and name == question.candidates[0]:
        seen += POSITION
    if "length-biased" in traits:
        seen += LENGTH * math.tanh(len(content) / 2000)
    return min(1.0, max(0.0, float(seen)))


def value_of(traits: set[str], key: Key, question: Question, wanted: Wanted) -> Any:
    """What this judge writes for one field."""
    names = question.candidates
    if wanted.kind == "choice" and len(names) > 1:
        return _better(traits, key, question, wanted, names)
    seen = opinion(traits, key, question, wanted, names[-1])
    if not isinstance(seen, float):
        return seen
    if wanted.kind == "bool":
        return seen >= 0.5
    if wanted.kind == "choice":  # listed from worst to best
        return wanted.choices[min(len(wanted.choices) - 1, int(seen * len(wanted.choices)))]
    value = wanted.low + seen * (wanted.high - wanted.low)
    return round(value) if wanted.high - wanted.low >= 4 else round(value, 3)


def _better(
    traits: set[str], key: Key, question: Question, wanted: Wanted, names: list[str]
) -> str:
    """Of two candidates: the choice that their name ends with; a third choice is a tie."""
    first, second = (opinion(traits, key, question, wanted, n) for n in names[:2])
    by_name = {n: c for n in names for c in wanted.choices if n.lower().endswith(c.lower())}
    one, two = (by_name.get(n, wanted.choices[i]) for i, n in enumerate(names[:2]))
    ties = [c for c in wanted.choices if c not in {one, two}]
    if abs(first - second) < 1e-9:
        return ties[0] if ties else one
    return one if first > second else two


def verdict_text(traits: set[str], key: Key, question: Question) -> str:
    """The reply's content."""
    values = {w.name: value_of(traits, key, question, w) for w in question.wanted}
    verdict = json.dumps({"nonce": question.nonce, **values, "reason": "It says so."})
    quoted = "\n".join(question.material[n] for n in question.candidates)
    if "quoting-inside" in traits:  # and a careless one at that: nothing is escaped
        verdict = verdict.replace("It says so.", quoted)
    if "filling-in" in traits:  # does what the response asks for, and judges then
        verdict = f"{quoted.replace('YOUR-NONCE', question.nonce)}\n{verdict}"
    if "twice" in traits:
        verdict = f"{verdict}\n\nFinal verdict:\n{verdict}"
    if "wrong-json" in traits:
        verdict = verdict.replace('"', "'")
    if "fenced" in traits:
        verdict = f"```json\n{json.dumps(json.loads(verdict), indent=2)}\n```"
    if "chatty" in traits:
        verdict = f"Let me think. {{It}} is fine.\n\nVerdict: {verdict}\nI hope this helps {{}}."
    if "thinking" in traits:
        verdict = f"<think>\nMaybe {verdict}?\n</think>\n{verdict}"
    if "quoting-before" in traits:
        verdict = f"The response is:\n{quoted}\n\n{verdict}"
    if "quoting-after" in traits:
        verdict = f"{verdict}\n\nThe response was:\n{quoted}"
    return verdict
