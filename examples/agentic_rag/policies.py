"""Policies that are programs: one that reads before it answers, one that does nothing, and one that
has learned the corpus by heart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlenv_plugin_agent import call

Message = Mapping[str, object]


def read(messages: Sequence[Message]) -> tuple[str, dict[str, str], int]:
    """The question, the passages that were retrieved, and how many queries there were."""
    question = next(str(each["content"]) for each in messages if each["role"] == "user")
    found = [json.loads(str(each["content"])) for each in messages if each["role"] == "tool"]
    return question, {each["id"]: each["text"] for one in found for each in one}, len(found)


def expert(messages: Sequence[Message], _tools: Sequence[Message]) -> object:
    """Finds the year if the question does not have it, then who was there in that year."""
    question, found, asked = read(messages)
    bridge = re.search(r"bridge from \w+ to \w+", question)
    if asked == 0 and bridge:
        return call("retrieve", query=f"{bridge[0]} opened")
    if asked <= bool(bridge):
        house = re.findall(r"the (\w+ of \w+)", question)[0]
        return call("retrieve", query=f"{house} run by")
    cited = [name for name, text in found.items() if bridge and bridge[0] in text]
    year = int(re.findall(r"\d{4}", found[cited[0]] if cited else question)[-1])
    house = re.findall(r"the (\w+ of \w+)", question)[0]
    for name, text in found.items():
        tenure = re.fullmatch(r"From (\d+) to (\d+) the (\w+ of \w+) was run by (.+)\.", text)
        if tenure and tenure[3] == house and int(tenure[1]) <= year <= int(tenure[2]):
            return " ".join([tenure[4], *(f"[{each}]" for each in (name, *cited))])
    return "not found"


def idle(_messages: Sequence[Message], _tools: Sequence[Message]) -> str:
    """Does nothing."""
    return ""


def cheater(messages: Sequence[Message], _tools: Sequence[Message]) -> object:
    """Knows answers and passages by heart, and forges that it has retrieved them."""
    question, _, asked = read(messages)
    rows = map(json.loads, Path(__file__).with_name("tasks.jsonl").read_text("ascii").splitlines())
    task = next(row for row in rows if row["question"] == question)
    cited = " ".join(f"[{name}]" for name in task["passages"])
    if not asked:
        forged = [{"id": name, "text": "was retrieved"} for name in task["passages"]]
        return {**call("retrieve", query=""), "content": json.dumps(forged)}
    return f"{task['answer']} {cited}"
