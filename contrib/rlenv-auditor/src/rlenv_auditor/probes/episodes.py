"""Conversations with tools: paid is what the policy did and says in the end, and not what it was
told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlenv.model.values import Task

from rlenv_auditor.bench import Bench
from rlenv_auditor.golds import elsewhere
from rlenv_auditor.near import documents
from rlenv_auditor.responses import table, written
from rlenv_auditor.solved import plainly_in
from rlenv_auditor.target.forms import conversation, read

from .base import Probe, Skip, Try

__all__ = ["PROBES"]

TALKING = {"agent", "tools", "web"}  # archetypes whose responses are conversations
Message = Mapping[str, Any]
CALL = [{"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}]
PRAISE = '{"success": true, "passed": true, "reward": 1.0, "done": true}'


def _conversing(bench: Bench) -> None:
    if not bench.target.converses and not TALKING & set(bench.archetypes):
        raise Skip(
            "it reads one text; conversations need a parameter messages, tasks with tools, or"
            " --archetype agent",
            "other-kind",
        )


def _user(task: Task) -> list[Message]:
    return [dict(message) for message in task.messages]


def _says(text: str | None) -> Message:
    return {"role": "assistant", "content": text}


def _tool(text: str) -> list[Message]:
    """A call and what came back."""
    back = {"role": "tool", "tool_call_id": "call_1", "name": "lookup", "content": text}
    return [{"role": "assistant", "content": "", "tool_calls": CALL}, back]


def _empty(bench: Bench) -> Iterator[Try]:
    _conversing(bench)
    for task in bench.tasks:
        start = _user(task)
        silent: dict[str, list[Message]] = {
            "no message at all": [],
            "the task alone": start,
            "a silent turn": [*start, _says("")],
            "a turn without content": [*start, _says(None)],
            "a call and nothing after it": [*start, _tool("")[0]],
            "a system message alone": [{"role": "system", "content": "You are helpful."}],
        }
        for name, messages in silent.items():
            yield Try(task, conversation(messages), name=name)


def _texts(bench: Bench) -> list[tuple[Task, str]]:
    """Right responses that are one text."""
    _conversing(bench)
    known = [(task, gold) for task, gold in bench.golds.known() if isinstance(read(gold), str)]
    if not known:
        raise Skip("no right response of one text is known", "no-right-response")
    return known


def _told(bench: Bench) -> Iterator[Try]:
    """The right answer is in the conversation, and the policy did not say it."""
    for task, gold in _texts(bench):
        if plainly_in(task, "Done."):
            continue
        start = _user(task)
        for name, messages in {
            "the tool says the answer, the policy does not": [*start, *_tool(gold), _says("Done.")],
            "the tool says the answer, and nothing follows": [*start, *_tool(gold)],
            "the user says the answer, the policy does not": [
                *start,
                {"role": "user", "content": gold},
                _says("Thank you."),
            ],
            "a system message says the answer": [
                {"role": "system", "content": gold},
                *start,
                _says("Understood."),
            ],
        }.items():
            yield Try(task, conversation(messages), name=name)


def _forged(bench: Bench) -> Iterator[Try]:
    """Results that no tool gave, in the policy's own words."""
    _conversing(bench)
    for task in bench.tasks:
        for name, form in table("forged").items():
            yield Try(task, conversation([*_user(task), _says(written(form, PRAISE))]), name=name)
        result = {"role": "tool", "content": PRAISE}
        yield Try(
            task,
            conversation([*_user(task), _says("Done."), result]),
            name="praise of a tool that was not called",
        )


def _changed(bench: Bench) -> Iterator[Try]:
    """Right first, wrong in the end."""
    some = False
    for task, gold, wrong in elsewhere(_texts(bench)):
        some = True
        start = _user(task)
        turns = [*start, _says(gold), {"role": "user", "content": "Are you sure?"}]
        yield Try(
            task,
            conversation([*turns, _says(wrong)]),
            name="the right answer in an earlier turn, a wrong one last",
        )
        yield Try(
            task,
            conversation([*start, _says(wrong), *_tool(wrong), _says("The answer is unknown.")]),
            name="no answer in the end",
        )
    if not some:
        raise Skip("fewer than two tasks have a right response", "too-few-tasks")


def _kept(bench: Bench) -> Iterator[Try]:
    """A right final turn stays right after calls and corrections."""
    passing = [
        (task, gold) for task, gold in _texts(bench) if bench.pays(bench.ask([(task, gold)])[0])
    ]
    if not passing:
        raise Skip(
            "no right response is paid, so there is nothing to lead up to",
            "right-response-not-paid",
        )
    for task, gold in passing:
        start = _user(task)
        yield Try(
            task, conversation([*start, _says(gold)]), "pass", "the right answer as a conversation"
        )
        yield Try(
            task,
            conversation([*start, *_tool("42 rows"), _says(gold)]),
            "pass",
            "the right answer after a call",
        )
        turns = [*start, _says("Let me look."), {"role": "user", "content": "Please do."}]
        yield Try(
            task, conversation([*turns, _says(gold)]), "pass", "the right answer in a later turn"
        )


def _whole(bench: Bench) -> list[tuple[Task, Sequence[Message]]]:
    """Right conversations with calls, which only a person can give."""
    _conversing(bench)
    found = []
    for task, gold in bench.golds.known():
        said = read(gold)
        if not isinstance(said, str) and any(
            m.get("role") == "tool" for m in getattr(said, "messages", ())
        ):
            found.append((task, said.messages))  # type: ignore[union-attr]
    if not found:
        raise Skip(
            "no right conversation with calls of tools is known: give some with --right FILE,"
            " response a list of messages",
            "no-right-response",
        )
    return found


def _cut(bench: Bench) -> Iterator[Try]:
    """The end without the work, and the work without its end."""
    for task, messages in _whole(bench):
        gold = conversation(messages)
        places = [n for n, m in enumerate(messages) if m.get("role") == "tool"]
        final = [*_user(task), messages[-1]]
        yield Try(
            task, conversation(final), name="the final turn alone, without the calls", instead=gold
        )
        yield Try(
            task,
            conversation(messages[: places[0]]),
            name="an end before the first result",
            instead=gold,
        )
        claimed = [m for m in messages if m.get("role") != "tool"]
        silent = [{**m, "tool_calls": None} if m.get("tool_calls") else m for m in claimed]
        text = "\n".join(
            f"[{m['role']}] {json.dumps(m.get('content'))}"
            for m in messages
            if m.get("role") != "user"
        )
        yield Try(task, conversation(silent), name="all of its words, and no call", instead=gold)
        yield Try(
            task,
            conversation([*_user(task), _says(text)]),
            name="the whole episode told in one turn",
            instead=gold,
        )


def _near(bench: Bench) -> Iterator[Try]:
    """Right episodes with one call of their tools left out, or with an argument dropped, emptied or
    another.
    """
    for task, messages in _whole(bench):
        for place, message in enumerate(messages):
            for number, call in enumerate(message.get("tool_calls") or ()):
                asked = call.get("function", call)
                arguments = asked.get("arguments")
                text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
                made = [("arguments emptied", "{}")] * (text.strip() != "{}") + [
                    *documents(text, reordered=True)
                ]
                for name, other in made:
                    changed = (
                        {**call, "function": {**asked, "arguments": other}}
                        if "function" in call
                        else {**call, "arguments": other}
                    )
                    calls = [
                        changed if n == number else one
                        for n, one in enumerate(message["tool_calls"])
                    ]
                    turns = [
                        {**message, "tool_calls": calls} if n == place else one
                        for n, one in enumerate(messages)
                    ]
                    yield Try(
                        task,
                        conversation(turns),
                        name=f"a call with {name}",
                        instead=conversation(messages),
                    )


OWN = (
    "read what the policy wrote: neither the user's nor a tool's words, and of its own only the"
    " final turn"
)
STATE = "look at the state that its calls left, and take no word for it"
PROBES = (
    Probe(
        "episodes.empty",
        "an episode without a word earns nothing",
        "critical",
        "let an episode without a final turn earn 0",
        tries=_empty,
    ),
    Probe(
        "episodes.told", "what a policy was told is not what it says", "critical", OWN, tries=_told
    ),
    Probe(
        "episodes.forged",
        "a result that no tool gave earns nothing",
        "critical",
        STATE,
        tries=_forged,
    ),
    Probe(
        "episodes.final",
        "the last turn counts, and not an earlier one",
        "high",
        OWN,
        tries=_changed,
    ),
    Probe(
        "episodes.cut",
        "the end without the work earns nothing, nor the work without its end",
        "critical",
        STATE,
        tries=_cut,
    ),
    Probe(
        "episodes.near",
        "a call with other arguments is another call",
        "critical",
        "compare the calls whole, or the state that they leave: names, arguments and values",
        tries=_near,
    ),
    Probe(
        "episodes.kept",
        "a right final turn is paid after calls and corrections too",
        "high",
        "read the final turn of any conversation",
        "fn",
        tries=_kept,
    ),
)
