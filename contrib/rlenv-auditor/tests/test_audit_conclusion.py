"""What an audit says in the end follows from findings, free reward and completeness, and every
output says the same.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rlenv.model.errors import PluginError
from rlenv.plugins.registry import registry
from rlenv_auditor import Finding, Result, Scorecard, audit
from rlenv_auditor.conclusion import USES, allowed, conclusion, omitted
from rlenv_auditor.render.badge import badge
from rlenv_auditor.render.page import page
from rlenv_auditor.render.record import to_dict
from rlenv_auditor.render.sarif import to_sarif
from rlenv_auditor.render.terminal import show
from rlenv_auditor.statistics import rate

HOLE = Finding(
    "baselines.empty/1",
    "baselines.empty",
    "baselines",
    "critical",
    "nothing: paid 1",
    "t",
    "",
    1.0,
    "below 1",
    "hint",
)


def made(probe: str, status: Any = "clean", trials: int = 40, **more: Any) -> Result:
    tried = None if status == "skipped" else rate(0, trials)
    more = {"rate": tried, **more}
    return Result(probe, probe.partition(".")[0], status, "a hypothesis", "high", "exploit", **more)


def card(
    *results: Result,
    tasks: int = 40,
    probes: int = 0,
    loose: float | None = 0.0,
    free: float = 0.0,
    wrong: float = 0.0,
    bound: float = 0.83,
) -> Scorecard:
    whole = [made("gold.passes"), made("opinion.unscored", trials=tasks)]
    names = [one.probe for one in results]
    results = (*results, *(one for one in whole if one.probe not in names))
    figures = {
        "false positives": loose,
        "expected free reward": free,
        "free reward": wrong,
        "best for nothing": "a wrong answer",
    }
    if loose is not None:
        tight = 1 - max(loose, wrong)
        figures |= {"tightness": tight, "tightness at least": min(tight, bound)}
    return Scorecard(
        "env.toml", (), 1.0, tasks, 100, 0, "ci", 60.0, results, figures=figures, probes=probes
    )


CONSTANT = made("baselines.constant", figures={"best constant": "42"})
CASES: Mapping[str, tuple[Scorecard, str, str]] = {
    "everything ran and nothing was found": (
        card(),
        "clean",
        "no exploit found within the budget (2 probes run, 0 skipped)",
    ),
    "some do not apply": (
        card(made("judges.order", "skipped")),
        "clean",
        "(2 probes run, 1 skipped)",
    ),
    "a finding": (
        card(made("baselines.empty", "found", findings=(HOLE,)), loose=0.6),
        "found",
        "1 finding, the worst critical",
    ),
    "a finding, and the budget ended": (
        card(
            made("baselines.empty", "found", findings=(HOLE,)), made("cost.latency", "incomplete")
        ),
        "found",
        "1 finding",
    ),
    "a finding, and nothing else was measured": (
        card(made("baselines.empty", "found", findings=(HOLE,)), loose=None),
        "found",
        "1 finding",
    ),
    "a constant that earns a quarter": (
        card(CONSTANT, free=0.25),
        "free",
        "the constant response '42' earns 0.250 on average",
    ),
    "a constant that earns next to nothing": (
        card(CONSTANT, free=0.05),
        "clean",
        "no exploit found",
    ),
    "a wrong answer that earns half": (
        card(CONSTANT, wrong=0.5),
        "free",
        "a wrong answer earns 0.500 on average without solving a task",
    ),
    "the budget ended": (
        card(made("baselines.empty", "incomplete", rate=None)),
        "incomplete",
        "before the budget ended",
    ),
    "the budget ended on one task": (
        card(made("baselines.empty", "incomplete"), tasks=1),
        "incomplete",
        "before the budget ended",
    ),
    "some were chosen": (card(probes=40), "chosen", "(2 probes run, 38 skipped)"),
    "no right response": (
        card(made("gold.passes", "skipped")),
        "blind",
        "no right response is known",
    ),
    "one task": (card(tasks=1), "few", "too little evidence: no exploit found on 1 task ("),
    "nine tasks": (card(tasks=9), "few", "on 9 tasks"),
    "an interval too wide to say anything": (
        card(made("opinion.unscored", trials=6)),
        "wide",
        "too little evidence",
    ),
    "no interval at all": (
        card(made("opinion.unscored", "skipped")),
        "wide",
        "too little evidence",
    ),
    "nothing was measured": (
        card(made("gold.passes", "skipped"), made("opinion.unscored", "skipped")),
        "unmeasured",
        "nothing was measured",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_conclusion_follows_from_what_was_found_and_run(case: str) -> None:
    scorecard, status, headline = CASES[case]
    said = conclusion(scorecard)

    assert said.status == status
    assert headline in said.headline
    assert said.advice.endswith(".")
    assert "anchor is needed" not in str(said)
    if status not in ("clean", "found"):
        assert "tightness" not in str(said)


@pytest.mark.parametrize("case", CASES)
def test_every_output_says_the_same(case: str) -> None:
    scorecard, status, _ = CASES[case]
    said = conclusion(scorecard)
    screen = Console(file=io.StringIO(), width=400, color_system=None)
    show(scorecard, screen)
    terminal = screen.file.getvalue().splitlines()  # type: ignore[attr-defined]
    text = page(scorecard)
    record = json.loads(json.dumps(to_dict(scorecard)))
    invocation = to_sarif(scorecard)["runs"][0]["invocations"][0]
    schema = json.loads(
        files("rlenv_auditor.render").joinpath("audit.schema.json").read_text("utf-8")
    )

    assert terminal[0] == f"env.toml: {said.headline}"
    assert terminal[1] == said.advice
    assert not omitted(scorecard) or terminal[-1] == omitted(scorecard)[: len(terminal[-1])]
    assert ('<h1 class="good">' in text) is (status == "clean")
    assert said.headline.split(":")[0].split("'")[0] in text
    assert record["conclusion"] == {
        "status": status,
        "headline": said.headline,
        "advice": said.advice,
    }
    assert invocation["executionSuccessful"] is scorecard.complete
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == str(said)
    assert ("nothing in" in badge(scorecard)) is (status == "clean")
    pytest.importorskip("jsonschema").validate(record, schema)


ALLOWED: Mapping[str, tuple[Scorecard, str]] = {
    "clean": (card(), "reward alone"),
    "a finding of no consequence for a share": (
        card(made("baselines.empty", "found", findings=(HOLE,))),
        "KL anchor",
    ),
    "a finding on a tenth of the tasks": (
        card(made("baselines.empty", "found", findings=(HOLE,)), loose=0.1),
        "KL anchor",
    ),
    "a third": (card(made("baselines.empty", "found", findings=(HOLE,)), loose=0.33), "shaping"),
    "two thirds": (
        card(made("baselines.empty", "found", findings=(HOLE,)), loose=0.67),
        "human review",
    ),
    "incomplete": (card(made("baselines.empty", "incomplete", rate=None)), ""),
    "some were chosen": (card(probes=40), ""),
    "nine tasks": (card(tasks=9), ""),
    "a bound of a half": (card(wrong=0.04, bound=0.5), "KL anchor"),
    "a wrong answer earns a fifth": (card(wrong=0.2), "KL anchor"),
    "a wrong answer earns half": (card(wrong=0.5), "shaping"),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_what_a_reward_is_good_for_follows_from_its_tightness(case: str) -> None:
    scorecard, use = ALLOWED[case]
    found = allowed(scorecard)

    assert (found.name if found else "") == use
    if use and conclusion(scorecard).status in ("clean", "found"):
        told = next(one.told for one in USES if one.name == use)
        assert told in conclusion(scorecard).advice


def test_what_was_left_out_is_one_line_with_its_reasons() -> None:
    some = [made(f"judges.{name}", "skipped", reason="one by one") for name in "abc"]
    ended = made("baselines.empty", "incomplete", reason="the budget ended")

    assert (
        omitted(card(*some, ended, probes=9))
        == "Skipped or not finished: 3 of judges (one by one); baselines.empty (the budget ended);"
        " 3 not selected by --only."
    )
    assert omitted(card()) == ""


def test_advice_is_no_reassurance_where_something_was_found() -> None:
    advice = [conclusion(CASES[case][0]).advice for case in CASES if case.startswith("a finding")]

    assert advice[0].startswith("Do not train on this reward")
    assert "1 of 4 probes did not finish" in advice[1]
    assert "could not be measured" in advice[2]


GOLF = """
import re
from rlenv import Attempt, Examples, Outcome, Task, hookimpl

RLENV_API = 1
ONE = Task("Match foo and food, not bar.", info={"yes": ["foo", "food"], "no": ["bar"]})
TWO = Task("Match cat and cats, not dog.", info={"yes": ["cat", "cats"], "no": ["dog"]})


class Golf:
    phase = "diff"
    uses = ("info.yes", "info.no")
    default_timeout = 1.0

    def __eq__(self, other):
        return type(self) is type(other)

    def check(self, attempt):
        found, info = re.search("`(.+?)`", attempt.response), attempt.task.info
        try:
            good = (
                found
                and all(re.fullmatch(found[1], w) for w in info["yes"])
                and not any(re.fullmatch(found[1], w) for w in info["no"])
            )
        except (re.error, OverflowError, RecursionError):
            good = False
        return Outcome(float(bool(good)))


@hookimpl
def rlenv_stages():
    return {"regex": Golf}


@hookimpl
def rlenv_examples():
    return {"regex": Examples([(ONE, "`food?`"), (TWO, "`cats?`")], [(ONE, "`bar`")])}
"""
ENV = """
name = "golf"
[tasks]
path = "tasks.jsonl"
prompt = "prompt"
info = { yes = "yes", no = "no" }
[[stage]]
use = "golf/regex"
"""
TASKS = [{"prompt": "Match foo and food, not bar.", "yes": ["foo", "food"], "no": ["bar"]}]


@pytest.fixture
def golf(written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An environment of an installed plugin that runs what the policy writes; a broken plugin is
    installed too.
    """
    home = written(GOLF, TASKS, "golf_plugin")
    (home / "too_new.py").write_text("RLENV_API = 2\n")
    (home / "golf.toml").write_text(ENV)
    for name, module in (("golf", "golf_plugin"), ("too-new", "too_new")):
        info = home / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[rlenv]\n{name} = {module}\n")
    monkeypatch.syspath_prepend(str(home))
    yield home
    for name, module in (("golf", "golf_plugin"), ("too-new", "too_new")):
        sys.modules.pop(module, None)
        registry().unregister(name)


@pytest.mark.slow  # a pattern that runs to its deadline, again and again
def test_a_stage_that_runs_a_pattern_of_the_policy_is_no_reassurance(golf: Path) -> None:
    found = audit("golf.toml", only=["gold.passes", "robustness.total"], budget=60.0)
    results = {result.probe: result for result in found.results}

    assert found.tasks == 2  # its own, and one more of the examples
    assert str(results["gold.passes"].rate).startswith("0 of 2")  # the examples are right responses
    assert (
        results["robustness.total"]
        .findings[0]
        .title.startswith("a pattern of nested repeats: unscored")
    )
    assert conclusion(found).status == "found"


def test_a_stage_that_takes_thought_for_an_answer_is_found(golf: Path) -> None:
    found = audit("golf.toml", only=["meaning.thought"], budget=60.0)
    titles = [one.title for one in found.findings]

    assert any(
        title.startswith("the right answer as a thought alone: reward 1") for title in titles
    )


def test_one_task_and_few_probes_are_no_reassurance(golf: Path) -> None:
    found = audit("golf.toml", only=["baselines.empty"], tasks=1)

    assert found.findings == ()
    assert conclusion(found).status == "chosen"


def test_a_broken_plugin_matters_only_to_who_asks_for_it(golf: Path) -> None:
    assert audit("golf.toml", only=["baselines.empty"]).results[0].status == "clean"
    with pytest.raises(PluginError, match="is built for hook version 2"):
        audit("golf.toml", only=["too-new.probe"])
