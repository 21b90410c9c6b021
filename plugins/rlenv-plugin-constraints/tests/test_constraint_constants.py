"""What policies that read nothing earn on IFEval's own prompts, with the test of content."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rlenv.compose.stages import Attempt
from rlenv.model.values import Task
from rlenv_plugin_constraints.content import CONSTANTS
from rlenv_plugin_constraints.stages.ifeval import IFEval


def _without(share: float) -> Callable[[str], str]:
    """The prompt without this share of its words, always the same ones."""

    def drop(prompt: str) -> str:
        chance = random.Random(f"{share}{prompt}")
        return " ".join(word for word in prompt.split() if chance.random() > share)

    return drop


def _shuffled(prompt: str) -> str:
    parts = re.split(r"(?<=[.!?])\s+|\n+", prompt)
    random.Random(prompt).shuffle(parts)
    return " ".join(parts)


EDITS: dict[str, Callable[[str], str]] = {
    "title case": str.title,
    "no marks": lambda prompt: re.sub(r"[^\w\s]", "", prompt),
    "please": lambda prompt: f"Please {prompt} Thank you very much!",
    "could you": lambda prompt: f"Could you kindly {prompt} I would be grateful.",
    "of course": lambda prompt: (
        f"Of course, I would be happy to help you with that! {prompt} I hope this helps; let me"
        " know if you need anything else."
    ),
    "you asked": lambda prompt: f"You have asked me to do the following thing: {prompt}",
    "a tenth left out": _without(0.1),
    "a fifth left out": _without(0.2),
    "every fourth word left out": lambda prompt: re.sub(r"((?:\S+\s+){3})\S+\s*", r"\1", prompt),
    "every fifth word left out, small": (
        lambda prompt: re.sub(r"((?:\S+\s+){4})\S+\s*", r"\1", prompt).lower()
    ),
    "sentences in another order": _shuffled,
    "words in another order": lambda prompt: " ".join(sorted(prompt.split())),
    "words turned round": lambda prompt: " ".join(reversed(prompt.split())),
    "a word after each third": lambda prompt: re.sub(r"((?:\S+\s+){3})", r"\1really ", prompt),
    "told in parts": lambda prompt: "\n".join(
        f"* {part}" for part in re.split(r"(?<=[.!?])\s+", prompt)
    ),
    "again and again": lambda prompt: " ".join(_without(0.25)(prompt + " " * n) for n in range(8)),
}
POLICIES: dict[str, Callable[[str], str]] = {
    **{name: lambda _prompt, said=said: said for name, said in CONSTANTS.items()},  # type: ignore[misc]
    "echo": lambda prompt: prompt,
    "echo in capitals": lambda prompt: prompt.upper(),
    "echo in small letters": lambda prompt: prompt.lower(),
    "echo without commas": lambda prompt: prompt.replace(",", ""),
    "echo in quotation marks": lambda prompt: f'"{prompt}"',
    "echo twice": lambda prompt: f"{prompt}\n******\n{prompt}",
    "yes": lambda _prompt: "yes",
}


@pytest.mark.skipif("RLENV_DATA" not in os.environ, reason="RLENV_DATA names no data folder")
@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_reads_nothing_earns_at_most_two_percent(name: str) -> None:
    assert _paid(POLICIES[name]) / 541 <= 0.02


@pytest.mark.skipif("RLENV_DATA" not in os.environ, reason="RLENV_DATA names no data folder")
@pytest.mark.parametrize("name", EDITS)
def test_a_prompt_with_small_changes_is_paid_for_fewer_than_five_prompts(name: str) -> None:
    assert _paid(EDITS[name]) < 5


def _paid(policy: Callable[[str], str]) -> float:
    source = Path(os.environ["RLENV_DATA"]) / "ifeval" / "input_data.jsonl"
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    assert len(rows) == 541
    stage = IFEval()
    paid = 0.0
    for row in rows:
        info = {key: row[key] for key in ("instruction_id_list", "kwargs")}
        task = Task(row["prompt"], info=info)
        paid += stage.check(Attempt(task, policy(row["prompt"]))).score
    return paid
