"""The retriever, and the stage that retrieves again to see what the policy can have read."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from rlenv import Outcome, Task, Trajectory, stage

# Written by write_tasks.py, so that the fingerprint of the environment covers the passages.
PASSAGES = "357d40635422f007a390782c4b418617d5f58051684838051a32d9b243c59011"
FOUND = 4  # passages that a query gives
CALLS = 64  # that are looked at
LINE = re.compile(r"([^\[\]\n]{1,100}?)((?: ?\[p\d{3}\]){1,8})\.?")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@cache
def passages() -> Mapping[str, str]:
    """The passages by id."""
    content = Path(__file__).with_name("passages.jsonl").read_bytes()
    if sha256(content).hexdigest() != PASSAGES:
        raise RuntimeError("passages.jsonl is not what write_tasks.py has written; run it again")
    return {row["id"]: row["text"] for row in map(json.loads, content.decode().splitlines())}


@cache
def weights() -> Mapping[str, float]:
    """By word, its inverse document frequency."""
    counts = Counter(word for text in passages().values() for word in {*words(text)})
    return {word: math.log(len(passages()) / count) for word, count in counts.items()}


def ranked(query: str) -> list[str]:
    """The ids of the passages that share most with a query; ids of equal ones in order."""
    wanted = {*words(query[:1000])}
    return sorted(
        passages(),
        key=lambda name: (
            -sum(weights().get(w, 0.0) for w in wanted & {*words(passages()[name])}),
            name,
        ),
    )[:FOUND]


def retrieve(query: str) -> list[dict[str, str]]:
    """The four passages that share most with a query.

    Args:
        query: a few words.
    """
    return [{"id": name, "text": passages()[name]} for name in ranked(query)]


def read(messages: Sequence[Mapping[str, object]]) -> set[str]:
    """The passages that the policy's own queries give."""
    return {name for query in [*queries(messages)][:CALLS] for name in ranked(query)}


def queries(messages: Sequence[Mapping[str, object]]) -> Iterator[str]:
    for message in messages:
        made = message.get("tool_calls") if message.get("role") == "assistant" else None
        for each in made if isinstance(made, (list, tuple)) else ():
            try:
                query = json.loads(each["function"]["arguments"])["query"]
                name = each["function"]["name"]
            except (TypeError, KeyError, ValueError, RecursionError):
                continue
            if name == "retrieve" and isinstance(query, str):
                yield query


@stage(budget=5.0)
def grounded(visible: str, trajectory: Trajectory | None, task: Task) -> Outcome:
    """F1 of the cited passages against those that the answer rests on; 0 for a wrong answer, or one
    that was not read.
    """
    found = LINE.fullmatch(visible.strip())
    if found is None or found[1].strip().casefold() != str(task.answer).casefold():
        return Outcome(0.0, "not the answer and its passages in one line")
    cited = {*re.findall(r"p\d{3}", found[2])}
    wanted = {*task.info["passages"]}
    if not cited <= read(trajectory.messages if trajectory else ()):
        return Outcome(0.0, "a passage is cited that the policy has not retrieved")
    return Outcome(2 * len(cited & wanted) / (len(cited) + len(wanted)))
