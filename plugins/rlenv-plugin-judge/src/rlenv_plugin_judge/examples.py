"""Responses whose worth is sure, judged by the scripted judge: they try the stages, and no
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlenv import Task
from rlenv.hooks import Examples

__all__ = ["examples"]

JUDGE: Mapping[str, Any] = {"transport": "judge/scripted"}
NO_STORE = "no-such-folder"  # of versions: checks read it only, and what is not there is the seed
PLACES = {"France": "Paris", "Japan": "Tokyo", "Peru": "Lima", "Kenya": "Nairobi"}


def examples() -> Mapping[str, Sequence[Examples]]:
    """By stage."""
    known = [
        Task(f"What is the capital of {land}?", id=land, answer=city)
        for land, city in PLACES.items()
    ]
    asked = [
        Task(f"What is the capital of {land}? Answer with: {city}", id=land)
        for land, city in PLACES.items()
    ]
    statement = ["It names the capital and nothing else."]
    members = [{**JUDGE, "family": "a"}, {**JUDGE, "family": "b", "revision": "2"}]
    return {
        "reference": [
            _pairs(known, {"judge": JUDGE}),
            _pairs(known, {"judge": JUDGE, "partial": True}),
        ],
        "rubric": [_pairs(asked, {"judge": JUDGE, "criteria": statement})],
        "checklist": [_pairs(asked, {"judge": JUDGE, "items": statement, "score": "all"})],
        "panel": [_pairs(known, {"members": members, "ask": "reference", "min_families": 2})],
        "steps": [_pairs(asked, {"judge": JUDGE})],
        "evolving": [_pairs(asked, {"judge": JUDGE, "criteria": statement, "store": NO_STORE})],
        "reward-model": [_pairs(asked, {"judge": JUDGE})],
        "pairwise": [_pairs(asked, {"judge": JUDGE, "score": "wins"}, single=True)],
    }


def _pairs(tasks: Sequence[Task], options: Mapping[str, Any], *, single: bool = False) -> Examples:
    cities = list(PLACES.values())
    right = []
    wrong = []
    for task, city in zip(tasks, cities, strict=True):
        others = [other for other in cities if other != city]
        right.append((task, city))
        if not single:
            right.append((task, f"{city.upper()}."))
        wrong += [(task, others[0]), (task, f"It is not {city}."), (task, f"{city} or {others[1]}")]
    return Examples(right, wrong, options)
