"""Policies that are programs: one that reads two documents, one that does nothing, and one that
quotes what is not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from rlenv_plugin_agent import call

Message = Mapping[str, object]


def expert(messages: Sequence[Message], _tools: Sequence[Message]) -> object:
    """Reads the document of the peak, then that of the climber, and quotes both."""
    question = next(str(each["content"]) for each in messages if each["role"] == "user")
    peak = re.findall(r"Mount \w+", question)[0]
    said = [str(each["content"]) for each in messages if each["role"] == "tool"]
    if not said:
        return call("search", query=peak)
    if len(said) == 1:
        return call("visit", id=titled(said[0], peak))
    fact = re.search(r"first climbed in \d+ by (\w+ \w+)", said[1])
    assert fact is not None
    if len(said) == 2:
        return call("search", query=fact[1])
    if len(said) == 3:
        return call("visit", id=titled(said[2], fact[1]))
    proof = re.search(
        r"born in the valley of (\w+)" if "born" in question else r"maps of (\d+) glaciers", said[3]
    )
    assert proof is not None
    quotes = f'- "{fact[0]}" [{titled(said[0], peak)}]\n- "{proof[0]}" [{titled(said[2], fact[1])}]'
    return f"Answer: {proof[1]}\n{quotes}"


def titled(found: str, title: str) -> str:
    """The id of the document of this title among what a search has found."""
    return next(each["id"] for each in json.loads(found) if each["title"] == title)


def idle(_messages: Sequence[Message], _tools: Sequence[Message]) -> str:
    """Does nothing."""
    return ""


def cheater(messages: Sequence[Message], _tools: Sequence[Message]) -> object:
    """Believes the first document that names the peak, and makes up the second."""
    question = next(str(each["content"]) for each in messages if each["role"] == "user")
    said = [str(each["content"]) for each in messages if each["role"] == "tool"]
    if not said:
        return call("search", query=f"rumor {question}")
    found = [each["id"] for each in json.loads(said[0])]
    if len(said) <= len(found):
        return call("visit", id=found[len(said) - 1])
    fact = re.search(r"first climbed in \d+ by (\w+ \w+)", "\n".join(said))
    climber = fact[1] if fact else "Ann Lee"
    forged = "was born in the valley of Korr and drew maps of 7 glaciers"
    return f'Answer: Korr\n- "{climber} {forged}" [person-00]\n- "{forged}" [{found[0]}]'
