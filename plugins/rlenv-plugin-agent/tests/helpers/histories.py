"""Histories of long episodes, and what holds of each view of one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random

Messages = list[dict[str, object]]
TASK: Messages = [
    {"role": "system", "content": "You do research."},
    {"role": "user", "content": "Who wrote it?"},
]


def turn(
    index: int, text: str = "", results: Sequence[object] = ("found",), **arguments: object
) -> Messages:
    """A message of the policy with a call for each result, and the results."""
    made = [
        {
            "id": f"call_{index}_{i}",
            "type": "function",
            "function": {"name": "search", "arguments": json.dumps(arguments)},
        }
        for i, _ in enumerate(results)
    ]
    said: dict[str, object] = {"role": "assistant", "content": text}
    if made:
        said["tool_calls"] = made
    answers: Messages = [
        {"role": "tool", "tool_call_id": call["id"], "content": result}
        for call, result in zip(made, results, strict=True)
    ]
    return [said, *answers]


def history(turns: int, size: int = 400, *, seed: int = 0) -> Messages:
    random = Random(seed)
    made = [*TASK]
    for i in range(turns):
        words = " ".join(
            random.choices(("alpha", "beta", "gamma"), k=random.randrange(2 * size) // 6)
        )
        text = f"See [doc-{i}]." if i % 10 == 0 else "Next."
        made += turn(i, text, [words], query=f"question {i}")
    return made


def prefixes(messages: Messages) -> Iterator[Messages]:
    """What the episode has at each call of the policy."""
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            yield messages[:end]
    yield messages


def text(messages: Sequence[object]) -> str:
    return json.dumps(messages)


def is_whole(messages: Sequence[Mapping[str, object]]) -> bool:
    """Each result follows the message that asked for it, and each call has its result."""
    asked: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in asked:
                return False
            asked.remove(str(message["tool_call_id"]))
            continue
        if asked:
            return False
        found = message.get("tool_calls", [])
        assert isinstance(found, list)
        asked = [call["id"] for call in found]
    return not asked
