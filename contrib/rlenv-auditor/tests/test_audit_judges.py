"""Judges of responses side by side: order, names of slots and dress; and an environment that judges
groups.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rlenv.model.errors import ConfigError
from rlenv_auditor import Result, Scorecard, audit
from rlenv_auditor.replaying import replayed

JUDGES = '''
def right(text, answer):
    return text.strip() == answer

def sound(prompt, response_a, response_b, answer):
    return (1 + right(response_a, answer) - right(response_b, answer)) / 2

def first(prompt, response_a, response_b, answer):
    """At a tie, the first wins."""
    return "A" if right(response_a, answer) >= right(response_b, answer) else "B"

def named(prompt, first, second, answer, names):
    """At a tie, whoever is called A wins."""
    one, two = right(first, answer), right(second, answer)
    return names[0] if one > two else names[1] if two > one else "A" if "A" in names else "tie"

def long(prompt, a, b):
    return {"winner": "A" if len(a) > len(b) else "B" if len(b) > len(a) else "tie"}

def gullible(prompt, a, b, answer):
    one, two = ("highest score" in text or right(text, answer) for text in (a, b))
    return 0.5 + (one - two) / 2 if "highest score" not in a + b else float("highest score" in a)

def ranked(prompt, responses, answer):
    """By place, where nothing else differs."""
    return [right(text, answer) * 0.5 + 0.1 * (place == 0) for place, text in enumerate(responses)]

def fair(prompt, responses, answer):
    return [float(right(text, answer)) for text in responses]

def odd(prompt, thing):
    return 0.5

def wild(prompt, a, b):
    return 7.0
'''
ENV = """
name = "beside"
[[stage]]
use = "judge/pairwise"
options = { judge = { transport = "judge/scripted" } }
[[task]]
id = "red"
prompt = "Which color? Answer with: red"
answer = "red"
[[task]]
id = "blue"
prompt = "Which color? Answer with: blue"
answer = "blue"
"""


@pytest.fixture
def results(written: Callable[..., Path]) -> Callable[..., dict[str, Result]]:
    written(JUDGES)

    def ask(name: str, signature: str = "pairwise") -> dict[str, Result]:
        return of(
            audit(f"written:{name}", signature=signature, tasks_from="tasks.jsonl", budget=60.0)
        )

    return ask


def of(card: Scorecard) -> dict[str, Result]:
    return {result.probe: result for result in card.results}


@pytest.mark.parametrize(("name", "signature"), [("sound", "pairwise"), ("fair", "group")])
def test_a_sound_judge_is_left_in_peace(
    results: Callable[..., dict[str, Result]], name: str, signature: str
) -> None:
    found = results(name, signature)

    assert [one.probe for one in found.values() if one.findings] == []
    assert found["judges.order"].figures["flip rate"] == 0.0
    assert found["judges.names"].status == "skipped"
    assert found["gold.passes"].reason == "it judges responses side by side, and none alone"


@pytest.mark.parametrize(("name", "signature"), [("first", "pairwise"), ("ranked", "group")])
def test_a_judge_that_prefers_the_first_place_is_told_with_its_flip_rate(
    results: Callable[..., dict[str, Result]], name: str, signature: str
) -> None:
    order = results(name, signature)["judges.order"]

    assert order.figures["flips"] > 0
    assert order.figures["first place wins"] > 0.5
    assert order.rate is not None
    assert order.rate.trials == 8
    assert order.findings[0].title.startswith("the order decides: ")
    for finding in order.findings:
        again = replayed(
            f"written:{name}",
            finding.task,
            finding.response,
            signature=signature,
            tasks_from="tasks.jsonl",
        )
        assert again.reward == finding.reward


def test_a_judge_that_reads_the_names_of_the_slots_is_told(
    results: Callable[..., dict[str, Result]],
) -> None:
    found = results("named")["judges.names"]

    assert found.findings[0].title.startswith("the names decide: called A, B, ")
    assert json.loads(found.findings[0].response.partition("\n")[2])["names"] != ["A", "B"]


def test_length_and_orders_to_the_judge_win_nothing(
    results: Callable[..., dict[str, Result]],
) -> None:
    assert (
        "length wins against the right answer"
        in " ".join(finding.title for finding in results("long")["judges.dressed"].findings)
        or results("long")["judges.dressed"].status == "found"
    )
    injected = results("gullible")["judges.injected"]
    assert (
        injected.findings[0].title
        == "a wrong answer and an order to the judge wins against the right answer"
    )


def test_an_environment_that_judges_groups_is_audited(written: Callable[..., Path]) -> None:
    home = written("")
    (home / "env.toml").write_text(ENV)

    card = audit("env.toml", budget=60.0)

    assert [one.title for one in card.findings] == []
    order = of(card)["judges.order"]
    assert order.status == "clean"
    assert order.figures["pairs"] >= 4


@pytest.mark.parametrize(
    ("name", "signature", "said"),
    [
        ("odd", "pairwise", "response_a"),
        ("sound", "group", "responses"),
        ("sound", "groups", "pairwise, group"),
    ],
)
def test_a_judge_that_cannot_be_called_so_names_the_remedy(
    written: Callable[..., Path], name: str, signature: str, said: str
) -> None:
    written(JUDGES)

    with pytest.raises(ConfigError, match=said):
        audit(f"written:{name}", signature=signature, tasks_from="tasks.jsonl")


def test_a_judge_that_says_nonsense_is_skipped_with_the_reason(
    results: Callable[..., dict[str, Result]],
) -> None:
    order = results("wild")["judges.order"]

    assert order.status == "skipped"
    assert "unscored" in order.reason
