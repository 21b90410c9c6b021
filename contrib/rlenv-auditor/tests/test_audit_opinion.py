"""A second verifier's opinion, what style adds to a reward, and what a response can force to be
unscored.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from rlenv.model.errors import ConfigError
from rlenv_auditor import Result, Scorecard, audit
from rlenv_auditor.cli import command

VERIFIERS = '''
def strict(prompt, response, answer):
    found = response.split("####")
    return float(len(found) == 2 and found[1].strip() == str(answer))

def loose(prompt, response, answer):
    """Reads a decimal, too, and pays what strict refuses."""
    try:
        return float(float(response.split("####")[-1]) == float(answer))
    except ValueError:
        return 0.0

def long(prompt, response, answer):
    return 1.0 if strict(prompt, response, answer) else min(0.9, len(response) / 10_000)

def picky(prompt, response, answer):
    if "{" in response:
        raise ValueError("a brace")
    return strict(prompt, response, answer)

def silent(prompt, response, answer):
    return None

def pairs(prompt, a, b):
    return 0.5
'''


@pytest.fixture
def card(written: Callable[..., Path]) -> Callable[..., Scorecard]:
    written(VERIFIERS)

    def ask(name: str, *only: str, **more: str) -> Scorecard:
        return audit(f"written:{name}", tasks_from="tasks.jsonl", only=only, budget=60.0, **more)  # type: ignore[arg-type]

    return ask


def of(card: Scorecard, probe: str) -> Result:
    return next(result for result in card.results if result.probe == probe)


def test_the_same_verifier_twice_agrees_with_itself(card: Callable[..., Scorecard]) -> None:
    found = of(card("strict", "gold", "opinion.second", second="written:strict"), "opinion.second")

    assert found.status == "clean"
    assert found.figures["responses"] > 20
    assert found.figures["disagreements"] == 0
    assert found.figures["kappa"] == 1.0
    assert str(found.rate) == "0 of 8: ≤ 36.9 %"


def test_disagreements_are_listed_with_both_rewards_and_the_smallest_response_first(
    card: Callable[..., Scorecard],
) -> None:
    audited = card("strict", "gold", "meaning.kept", "opinion.second", second="written:loose")
    found = of(audited, "opinion.second")
    listed = found.figures["listed"]
    finding = found.findings[0]

    assert found.measure == "disagree"
    assert found.rate is not None
    assert (found.rate.hits, found.rate.trials) == (8, 8)
    assert [len(one["response"]) for one in listed] == sorted(
        len(one["response"]) for one in listed
    )
    assert {(one["reward"], one["second"]) for one in listed} == {(0.0, 1.0)}
    assert finding.title.startswith("refused here and paid by the second: 0 and 1 (and ")
    assert finding.response == listed[0]["response"]
    assert finding.more["replays"] is True
    assert "8 of 8 tasks" in dict(audited.asides)["What does another verifier say?"]


def test_without_a_second_verifier_the_probe_says_why_it_was_skipped(
    card: Callable[..., Scorecard],
) -> None:
    found = of(card("strict", "opinion.second"), "opinion.second")

    assert found.status == "skipped"
    assert "--second TARGET" in found.reason


def test_a_second_verifier_that_never_gives_a_reward_is_no_agreement(
    card: Callable[..., Scorecard],
) -> None:
    found = of(card("strict", "gold", "opinion.second", second="written:silent"), "opinion.second")

    assert found.status == "skipped"
    assert "no reward" in found.reason


def test_an_environment_gives_a_second_opinion_of_a_function(
    card: Callable[..., Scorecard], tmp_path: Path
) -> None:
    (tmp_path / "env.toml").write_text(
        'name = "other"\n[[stage]]\nuse = "math/equal"\n[[task]]\nid = "x"\nprompt = "1 +'
        ' 1?"\nanswer = "2"\n'
    )
    found = of(card("strict", "gold", "opinion.second", second="env.toml"), "opinion.second")

    assert found.figures["responses"] > 20
    assert found.figures["second"].endswith("env.toml")


def test_a_limit_on_disagreement_ends_a_build(written: Callable[..., Path]) -> None:
    written(VERIFIERS)
    words = [
        "written:strict",
        "--tasks-from",
        "tasks.jsonl",
        "--only",
        "gold",
        "--only",
        "opinion.second",
    ]

    other = [*words, "--second", "written:loose", "--second-as", "plain"]
    let = CliRunner().invoke(command, other)
    ended = CliRunner().invoke(command, [*other, "--fail-on", "disagree>0"])

    assert let.exit_code == 0, let.output
    assert ended.exit_code == 1
    assert "exceeded disagree > 0" in ended.output


def test_a_judge_of_pairs_has_no_opinion_of_one_response(card: Callable[..., Scorecard]) -> None:
    with pytest.raises(ConfigError, match="side by side"):
        card("strict", "opinion.second", second="written:pairs", second_signature="pairwise")


def test_what_length_buys_is_a_slope_with_an_interval(card: Callable[..., Scorecard]) -> None:
    audited = card("long", "opinion.style")
    figures = of(audited, "opinion.style").figures

    assert figures["length slope"]["per 1,000 characters"] == pytest.approx(0.1, abs=0.01)
    assert 0.09 < figures["length slope"]["low"] <= figures["length slope"]["high"] < 0.11
    assert figures["styles"]["length"]["delta"] == pytest.approx(0.28, abs=0.02)
    assert figures["styles"]["bullets"]["rises"].startswith("8 of 8")
    assert "+0.272" in dict(audited.asides)["What does style add to a wrong answer?"]


def test_style_adds_nothing_to_what_a_sound_verifier_refuses(
    card: Callable[..., Scorecard],
) -> None:
    figures = of(card("strict", "opinion.style"), "opinion.style").figures

    assert {one["delta"] for one in figures["styles"].values()} == {0.0}
    assert {one["rises"] for one in figures["styles"].values()} == {"0 of 8: ≤ 36.9 %"}
    assert figures["length slope"]["per 1,000 characters"] == 0.0


def test_what_a_response_can_force_to_be_unscored_is_a_figure_of_its_own(
    card: Callable[..., Scorecard],
) -> None:
    audited = card("picky", "baselines.skeleton", "opinion.unscored")
    found = of(audited, "opinion.unscored")

    assert found.measure == "fault"
    assert found.figures["tasks"] == 8
    assert found.figures["kinds"] == {"error": found.figures["responses"]}
    assert "{" in found.figures["worst"]
    assert found.findings[0].expected == "a reward"
    assert "8 of 8 tasks" in dict(audited.asides)["Which responses can force a fault?"]


def test_a_hole_that_another_probe_told_is_not_told_twice(card: Callable[..., Scorecard]) -> None:
    audited = card("picky", "robustness", "opinion.unscored")

    assert of(audited, "opinion.unscored").status == "found"
    assert of(audited, "robustness.total").findings
    told = [(one.task, one.response) for one in audited.findings]
    assert len(told) == len(set(told))


def test_dress_that_is_paid_below_the_pass_mark_is_a_finding_too(
    card: Callable[..., Scorecard],
) -> None:
    audited = card("long", "gold.passes", "opinion.style", "opinion.lift")
    found = of(audited, "opinion.lift")

    assert of(audited, "opinion.style").status == "clean"
    assert found.measure == "lift"
    assert found.findings[0].title.startswith("length: adds 0.27 to a wrong answer")
    assert found.findings[0].more["replays"] is True
    assert audited.crossed[0].startswith("lift > 0: opinion.lift, 8 of 8")
    assert of(card("strict", "opinion.lift"), "opinion.lift").status == "clean"


def test_an_audit_that_measured_nothing_is_no_clean_one(written: Callable[..., Path]) -> None:
    written(VERIFIERS)
    words = ["written:pairs", "--as", "pairwise", "--tasks-from", "tasks.jsonl", "--only", "gold"]

    result = CliRunner().invoke(command, words)

    assert result.exit_code == 3
    assert "nothing was measured" in result.output
    assert "Tight" not in result.output
