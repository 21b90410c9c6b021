"""The tools that search the corpus, and the stages that check answer and quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from rlenv import stage
from rlenv_plugin_agent import ToolError

# Written by write_tasks.py, so that the fingerprint of the environment covers the corpus.
CORPUS = "8d3cd9920a9ffa18d89c9b54f80a114301514557e4301b704c764b02381eb745"
QUOTE = re.compile(r'- "(.{15,200})" \[([a-z]+-\d\d)\]')
MOST = 4  # quotes


@cache
def corpus() -> Mapping[str, Mapping[str, str]]:
    """The documents by id."""
    content = Path(__file__).with_name("corpus.jsonl").read_bytes()
    if sha256(content).hexdigest() != CORPUS:
        raise RuntimeError("corpus.jsonl is not what write_tasks.py has written; run it again")
    return {row["id"]: row for row in map(json.loads, content.decode().splitlines())}


def words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text.lower())} - {"the", "of", "in", "was", "who", "a", "by"}


def search(query: str) -> list[dict[str, str]]:
    """Search the corpus; the five documents that share most words with the query.

    Args:
        query: a few words.
    """
    wanted = words(query[:1000])
    ranked = sorted(
        corpus().values(),
        key=lambda d: -2 * len(wanted & words(d["title"])) - len(wanted & words(d["text"])),
    )
    return [{"id": each["id"], "title": each["title"]} for each in ranked[:5]]


def visit(id: str) -> str:  # noqa: A002 - what the policy calls it
    """Read a document.

    Args:
        id: as search gives it.
    """
    if id not in corpus():
        raise ToolError("there is no document of this id; search gives those that there are")
    return corpus()[id]["text"]


def lines(visible: str) -> list[str]:
    """The lines of the final message that are not empty."""
    return [line.strip() for line in visible.splitlines() if line.strip()]


@stage(phase="parse", budget=2.0)
def answered(visible: str, answer: str) -> bool:
    """Whether the one line with an answer is right."""
    given = [line for line in lines(visible) if "answer" in line.lower()]
    return (
        len(given) == 1 and given[0].removesuffix(".").casefold() == f"answer: {answer}".casefold()
    )


@stage(budget=2.0)
def cited(visible: str, info: Mapping[str, object]) -> float:
    """The share of the sources that are quoted; 0 where a line is neither answer nor quote, or a
    quote is not in its document.
    """
    notes = [line for line in lines(visible) if "answer" not in line.lower()]
    quotes = [found.groups() for found in map(QUOTE.fullmatch, notes) if found]
    if len(quotes) < len(notes) or len(notes) > MOST:
        return 0.0
    if any(name not in corpus() or text not in corpus()[name]["text"] for text, name in quotes):
        return 0.0
    sources = info["sources"]
    assert isinstance(sources, Mapping)
    proved = [
        name
        for name, fact in sources.items()
        if any(fact in text for text, at in quotes if at == name)
    ]
    return len(proved) / len(sources)
