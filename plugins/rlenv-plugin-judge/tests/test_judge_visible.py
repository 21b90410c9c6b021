"""A judge reads the visible text; it is told that text was hidden and how much, and not what."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rlenv import Environment, Task, Trajectory
from rlenv_plugin_judge.protocol.ask import after_thinking
from rlenv_plugin_judge.scripted import Scripted

JUDGE = {"transport": "judge/scripted"}
TASK = Task("What is the capital of France?", "Paris")
ASKED = Task("What is the capital of France? Answer with: Paris")
SECRET = "the grader likes flattery"
STATEMENT = ["It names the capital and nothing else."]
STAGES: dict[str, dict[str, Any]] = {
    "judge/reference": {"judge": JUDGE},
    "judge/rubric": {"judge": JUDGE, "criteria": STATEMENT},
    "judge/checklist": {"judge": JUDGE, "items": STATEMENT},
    "judge/steps": {"judge": JUDGE},
    "judge/pairwise": {"judge": JUDGE, "score": "wins"},
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What judges were sent, in order."""
    seen: list[str] = []
    send = Scripted.send

    async def noting(self: Scripted, request: Any) -> Any:
        seen.append(json.dumps(request.messages))
        return await send(self, request)

    monkeypatch.setattr(Scripted, "send", noting)
    return seen


def made(use: str, **options: Any) -> Environment:
    table = {"use": use, "options": {**STAGES[use], **options}}
    return Environment.from_dict({"name": "e", "stage": [table]})


@pytest.mark.parametrize(
    "response", [f"{SECRET}\n</think>\n\nParis", f"<think>{SECRET}</think>Paris<|im_end|>"]
)
@pytest.mark.parametrize("use", [use for use in STAGES if use != "judge/pairwise"])
def test_hidden_reasoning_is_counted_and_not_shown(
    use: str, response: str, asked: list[str]
) -> None:
    with made(use) as env:
        verdict = env.evaluate(TASK if use == "judge/reference" else ASKED, response)
    hidden = len(response) - len("Paris") - (10 if response.endswith("|>") else 0)
    assert verdict.value == 1.0
    assert verdict.results[0].outcome is not None
    assert verdict.results[0].outcome.data["hidden"] == hidden
    assert asked
    assert all(SECRET not in text for text in asked)
    assert all(f"(without {hidden} characters of hidden reasoning)" in text for text in asked)


def test_pairs_are_of_visible_texts(asked: list[str]) -> None:
    right = f"<think>{SECRET}</think>Paris"
    wrong = f"{SECRET}: Paris!</think>Rome"
    with made("judge/pairwise") as env:
        found = env.evaluate_group(ASKED, [right, wrong])
    assert [verdict.value for verdict in found] == [1.0, 0.0]
    assert len(asked) == 2
    assert all(SECRET not in text and "(without 40 characters" in text for text in asked)


def test_responses_that_look_the_same_tie_without_a_call(asked: list[str]) -> None:
    with made("judge/pairwise") as env:
        env.evaluate_group(ASKED, ["<think>a</think>Paris", "b</think>Paris"])
    assert asked == []


def episode(tool: str, final: str) -> Trajectory:
    function = {"name": tool, "arguments": "{}"}
    call = {"id": "c", "type": "function", "function": function}
    return Trajectory(
        [
            {"role": "user", "content": ASKED.prompt},
            {"role": "assistant", "content": f"<think>{SECRET}</think>", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": f"{tool} says Paris"},
            {"role": "assistant", "content": final},
        ]
    )


def test_pairs_may_be_of_whole_conversations(asked: list[str]) -> None:
    found: list[str | Trajectory] = [episode("atlas", "Paris"), episode("guess", "Paris"), "..."]
    with made("judge/pairwise") as env:
        env.evaluate_group(ASKED, found)
        assert asked == []  # the last messages are equal
    with made("judge/pairwise", scope="trajectory") as env:
        verdicts = env.evaluate_group(
            ASKED, [*found, Trajectory([{"role": "assistant", "content": ""}])]
        )
    assert len(asked) == 2
    assert all("atlas says Paris" in text and "guess says Paris" in text for text in asked)
    assert all(SECRET not in text and "hidden reasoning" in text for text in asked)
    assert [verdict.value for verdict in verdicts[2:]] == [0.0, 0.0]


def test_thinking_alone_is_worth_nothing_without_a_call(asked: list[str]) -> None:
    with made("judge/reference") as env:
        assert env.verify(TASK, "<think>Paris</think>") == 0.0
        assert env.verify(TASK, "<think>Paris") == 0.0
    assert asked == []


def test_hidden_reasoning_is_no_part_of_max_chars(asked: list[str]) -> None:
    with made("judge/reference", max_chars=100) as env:
        assert env.verify(TASK, f"<think>{'Hm. ' * 100}</think>Paris") == 1.0
    assert len(asked) == 1


@pytest.mark.parametrize("scope", ["turn", "trajectory"])
def test_no_turn_of_a_conversation_shows_its_reasoning(scope: str, asked: list[str]) -> None:
    turn = {"role": "assistant", "content": f"<think>{SECRET}</think>Paris"}
    said = [{"role": "user", "content": "<think>?"}, turn, turn]
    with made("judge/rubric", criteria=[{"text": "It is right.", "scope": scope}]) as env:
        env.evaluate(ASKED, said)
    assert asked
    assert all(SECRET not in text and "characters of hidden reasoning" in text for text in asked)


@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ('<think>{"a": 1}</think>{"a": 2}', '{"a": 2}'),
        (
            '{"reason": "it says <think> and </think>"}',
            '{"reason": "it says <think> and </think>"}',
        ),
        ('<think>x</think>{"reason": "it says <think>"}', '{"reason": "it says <think>"}'),
        ("<think>never closed", "<think>never closed"),
        (
            "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>{}",
            "{}",
        ),
    ],
)
def test_of_a_judges_reply_only_what_it_thought_first_is_left_out(reply: str, rest: str) -> None:
    assert after_thinking(reply) == rest
