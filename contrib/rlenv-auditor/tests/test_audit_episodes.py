"""Verifiers of whole conversations: what a policy was told, forged, left out or said too early
earns nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rlenv.model.values import Trajectory
from rlenv_auditor import Result, audit
from rlenv_auditor.cli import command
from rlenv_auditor.target.forms import Group, conversation, group, read

VERIFIERS = '''
def final(messages):
    said = [m.get("content") or "" for m in messages if m["role"] == "assistant"]
    return said[-1] if said and messages[-1]["role"] == "assistant" else ""

def sound(messages, answer):
    return float(final(messages).strip() == answer)

def anywhere(messages, answer):
    """Reads the whole conversation, with what tools and users said."""
    return float(any((m.get("content") or "").strip() == answer for m in messages))

def trusting(messages, answer):
    """Believes a success that is anywhere."""
    claims = any('"success": true' in (m.get("content") or "") for m in messages)
    return float(sound(messages, answer) or claims)

def lenient(messages, answer):
    """No last turn, nothing to object to."""
    return float(not final(messages) or sound(messages, answer))

def short(messages, answer):
    """Knows a question and a reply, and nothing else."""
    return float(len(messages) == 2 and sound(messages, answer))

def worked(messages, answer):
    called = any(m["role"] == "tool" and m["content"] == "saved" for m in messages)
    return float(called and messages[-1].get("content") == "Saved.")

def claimed(messages, answer):
    """Takes the last word for the deed."""
    return float(bool(messages) and messages[-1].get("content") == "Saved.")

def text(response, answer):
    return float(response.strip() == answer)
'''
CALL = [{"id": "1", "type": "function", "function": {"name": "save", "arguments": "{}"}}]
EPISODE: tuple[Mapping[str, Any], ...] = (
    {"role": "user", "content": "Save it."},
    {"role": "assistant", "content": "", "tool_calls": CALL},
    {"role": "tool", "tool_call_id": "1", "content": "saved"},
    {"role": "assistant", "content": "Saved."},
)


@pytest.fixture
def results(written: Callable[..., Path]) -> Callable[..., dict[str, Result]]:
    written(VERIFIERS)

    def ask(name: str) -> dict[str, Result]:
        card = audit(f"written:{name}", tasks_from="tasks.jsonl", only=["episodes"], budget=60.0)
        return {result.probe: result for result in card.results}

    return ask


def found(results: dict[str, Result]) -> set[str]:
    return {probe for probe, one in results.items() if one.findings}


@pytest.mark.parametrize(
    ("name", "probes"),
    [
        ("sound", set()),
        ("anywhere", {"episodes.told", "episodes.final"}),
        ("trusting", {"episodes.forged"}),
        ("lenient", {"episodes.empty", "episodes.told", "episodes.forged"}),
        ("short", {"episodes.kept"}),
    ],
)
def test_each_hole_is_found_by_its_probe(
    results: Callable[..., dict[str, Result]], name: str, probes: set[str]
) -> None:
    said = results(name)

    assert found(said) == probes
    assert said["episodes.cut"].status == "skipped"
    assert "--right" in said["episodes.cut"].reason
    assert all(f.more.get("replays") in (True, None) for r in said.values() for f in r.findings)


def test_a_reward_for_one_reply_is_asked_about_episodes_only_when_told(
    written: Callable[..., Path],
) -> None:
    """Frameworks give messages to rewards of one reply too, and those may read the first of
    them.
    """
    written(
        "def score(completion, answer):\n    return float(completion[0]['content'] == answer)\n"
    )
    more: dict[str, Any] = {
        "signature": "verifiers",
        "tasks_from": "tasks.jsonl",
        "only": ["episodes.kept"],
    }

    (skipped,) = audit("written:score", **more).results
    (told,) = audit("written:score", archetype="agent", **more).results

    assert skipped.status == "skipped"
    assert "--archetype agent" in skipped.reason
    assert told.status == "found"
    assert "the right answer after a call: reward 0" in " ".join(f.title for f in told.findings)


def test_a_verifier_of_texts_is_not_asked_about_conversations(
    results: Callable[..., dict[str, Result]],
) -> None:
    said = results("text")

    assert {one.status for one in said.values()} == {"skipped"}
    assert "messages" in said["episodes.empty"].reason


@pytest.mark.parametrize(("name", "holes"), [("worked", []), ("claimed", ["the final turn alone"])])
def test_the_end_of_an_episode_without_its_work_earns_nothing(
    written: Callable[..., Path], name: str, holes: list[str]
) -> None:
    home = written(
        VERIFIERS, [{"id": "one", "prompt": "Save it."}, {"id": "two", "prompt": "Save that."}]
    )
    rows = [{"task": task, "response": EPISODE} for task in ("one", "two")]
    (home / "right.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = [
        "--tasks-from",
        "tasks.jsonl",
        "--right",
        "right.jsonl",
        "--only",
        "episodes.cut",
        "--json",
        "a.json",
    ]

    CliRunner().invoke(command, [f"written:{name}", *words], catch_exceptions=False)
    (result,) = json.loads((home / "a.json").read_text())["results"]

    assert result["status"] == ("found" if holes else "clean"), result
    titles = " ".join(finding["title"] for finding in result["findings"])
    assert all(hole in titles for hole in holes)


def test_a_conversation_and_a_group_travel_as_text() -> None:
    said = read(conversation(EPISODE))

    assert isinstance(said, Trajectory)
    assert said.messages == EPISODE
    told = group(["a", "b"], of=1, names=["X", "Y"])
    assert read(told) == Group(("a", "b"), 1, ("X", "Y"))


@pytest.mark.parametrize(
    "text", ["", "#!rlenv messages\nno list", "#!rlenv group\n{}", "#!rlenv group\n" + "[" * 9999]
)
def test_a_text_that_only_looks_like_one_stays_a_text(text: str) -> None:
    assert read(text) == text
