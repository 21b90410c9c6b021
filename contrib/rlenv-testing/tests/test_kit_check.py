"""``rlenv check`` on plugins of a folder: what it says, writes and ends with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rlenv_testing.launch import _followed

HEAD = """
from attrs import frozen
from rlenv import Attempt, Examples, Outcome, Task, hookimpl

RLENV_API = 1
FRANCE, ITALY = Task("Capital of France?", "Paris"), Task("Capital of Italy?", "Rome")


@frozen
class City:
    phase = "diff"
    where = "inline"
    uses = ("answer",)

    def check(self, attempt):
        return Outcome.passed() if attempt.response == attempt.task.answer else Outcome.failed()


@hookimpl
def rlenv_stages():
    return {"city": City}

"""
EXAMPLES = """
@hookimpl
def rlenv_examples():
    return {"city": Examples([(FRANCE, "Paris"), (ITALY, "Rome")], [(FRANCE, "London")])}
"""
Check = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Install a plugin ``demo`` with this source and run ``rlenv check`` on it."""

    def run(source: str, *options: str) -> subprocess.CompletedProcess[str]:
        site = tmp_path / "site"
        info = site / "rlenv_demo-1.5.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rlenv-demo\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text("[rlenv]\ndemo = kit_demo\n")
        (site / "kit_demo.py").write_text(source)
        return subprocess.run(
            [sys.executable, "-m", "rlenv", "check", "demo", *options],
            env={**os.environ, "PYTHONPATH": str(site)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def test_each_law_is_told_on_standard_error_as_it_ends(check: Check) -> None:
    laws = ["--law", "range", "--law", "total", "--law", "right-passes"]
    ran = check(HEAD + EXAMPLES.replace('"Rome"', '"Milan"'), *laws, "--examples", "5")

    title, *lines = ran.stderr.splitlines()
    assert title == "holding demo to the laws"
    told = {line.partition(",")[0] for line in lines}
    assert told == {"range: ok", "total: ok", "right-passes: BROKEN (demo/city)"}
    assert "holding" not in ran.stdout


WAITS_UNTIL_TOLD = """
import sys, time
from pathlib import Path
progress, told = map(Path, sys.argv[1:])
progress.write_text('{"law": "first"}\\n{"law": ')
while not told.exists():
    time.sleep(0.01)
with progress.open("a") as file:
    file.write('"second"}\\n')
print("the end", file=sys.stderr)
"""


def test_a_law_is_told_while_the_others_run(tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    told = tmp_path / "told"
    seen: list[str] = []

    def note(row: dict[str, str]) -> None:
        seen.append(row["law"])
        told.touch()

    argv = [sys.executable, "-c", WAITS_UNTIL_TOLD, str(progress), str(told)]
    assert _followed(argv, tmp_path, progress, note) == (0, "the end\n")
    assert seen == ["first", "second"]


def test_a_sound_plugin_gets_its_certificate_and_its_badge(check: Check, tmp_path: Path) -> None:
    wanted = ["--certificate", "cert.json", "--badge", "badge.svg", "--examples", "10"]
    ran = check(HEAD + EXAMPLES, *wanted)
    record = json.loads((tmp_path / "cert.json").read_text())
    laws = {law["law"]: law for law in record["plugins"][0]["stages"][0]["laws"]}

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert record["schema"] == "rlenv.certificate/1"
    assert record["certified"] is True
    assert record["failed"] == 0
    assert record["plugins"][0]["version"] == "1.5"
    assert record["plugins"][0]["content"].startswith("sha256:")
    assert laws["range"]["result"] == "passed"
    assert laws["range"]["examples"] > 10
    assert laws["group"] == {**laws["group"], "result": "skipped", "reason": "it judges no groups"}
    assert len(laws) == record["passed"] + record["skipped"] >= 40
    assert f"{record['passed']} hold" in (tmp_path / "badge.svg").read_text()
    assert "skipped: group: it judges no groups" in ran.stdout
    assert not list(tmp_path.glob(".*"))


def test_a_broken_law_is_told_with_its_smallest_example_and_how_to_see_it_again(
    check: Check,
) -> None:
    loose = HEAD.replace(
        "attempt.response == attempt.task.answer", "attempt.task.answer in attempt.response"
    )
    ran = check(loose + EXAMPLES, "--law", "hedging", "--law", "right-passes", "--seed", "7")

    assert ran.returncode == 1
    assert "demo/city breaks the law 'hedging': One response is not right for two" in ran.stdout
    assert "response: 'Paris, Rome'" in ran.stdout or "response: 'Paris or Rome'" in ran.stdout
    assert "reproduce: rlenv check demo --law hedging --stage city --seed 7" in ran.stdout
    assert "1 passed, 0 skipped, 1 broken" in ran.stdout


PAIRS = "Examples([(FRANCE, 'Paris')], [(FRANCE, 'London')])"
MISTAKES = {
    "no examples": (
        "",
        "stage 'demo/city' has no examples, and nothing is certified silently: add to kit_demo",
    ),
    "nothing wrong": (
        EXAMPLES.replace('[(FRANCE, "London")]', "[]"),
        "wrong is empty: add a (task, response)",
    ),
    "a contradiction": (
        EXAMPLES.replace('"London"', '"Paris"'),
        "the response 'Paris' is both right and wrong: drop one",
    ),
    "two sets that contradict": (
        (
            f"@hookimpl\ndef rlenv_examples():\n    return {{'city': [{PAIRS},"
            f" {PAIRS.replace('London', 'x').replace('Paris', 'London')}]}}\n"
        ),
        "contradict each other: for the task 'Capital of France?' the response 'London'",
    ),
    "no pair": (
        EXAMPLES.replace('(ITALY, "Rome")', '"Rome"'),
        "right[1] is a pair (Task, text), not 'Rome'",
    ),
    "another stage": (
        EXAMPLES.replace('"city"', '"citty"'),
        "plugin 'demo' has no stage 'citty'; did you mean \"city\"?",
    ),
    "no Examples": (
        EXAMPLES.replace("return", "return {'city': 3} #"),
        "gives for 'city' no Examples",
    ),
    "a wrong option": (
        EXAMPLES.replace('"London")]', '"London")], {"cas": True}'),
        "give the option 'cas', and it has none",
    ),
    "no answer": (EXAMPLES + "FRANCE = Task('Capital of France?')\n", "cannot be worked with"),
    "it does not load": ("import nowhere_to_be_found\n", "failed to load: ModuleNotFoundError"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_before_anything_runs(check: Check, mistake: str) -> None:
    more, said = MISTAKES[mistake]
    ran = check(HEAD + more)

    assert ran.returncode == 2, ran.stdout
    assert said in ran.stderr.replace("\n", " ")
    assert "Traceback" not in ran.stderr


def test_a_stage_that_needs_options_says_where_they_go(check: Check) -> None:
    ran = check(HEAD.replace('    phase = "diff"', '    most: int\n    phase = "diff"') + EXAMPLES)

    assert ran.returncode == 2
    assert 'write Examples(..., options={"most": ...}) in kit_demo' in ran.stderr


def test_what_cannot_be_had_here_is_skipped_and_not_certified(check: Check, tmp_path: Path) -> None:
    source = HEAD.replace('    phase = "diff"', '    requires = ("network",)\n    phase = "diff"')
    ran = check(source + EXAMPLES, "--certificate", "cert.json")
    record = json.loads((tmp_path / "cert.json").read_text())

    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "needs network: tests stay offline unless RLENV_TEST_NETWORK=1" in ran.stdout
    assert (record["certified"], record["passed"]) == (False, 0)


def test_what_the_kit_cannot_load_is_not_checked(check: Check, tmp_path: Path) -> None:
    source = (
        "import sys\nif sys.argv[0] == '-c': raise ImportError('no display')\n" + HEAD + EXAMPLES
    )
    ran = check(source, "--law", "time-zone", "--law", "right-passes")

    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "demo/city: could not check the law 'time-zone'" in ran.stdout
    assert "no display" in ran.stdout
    assert "1 passed, 0 skipped, 0 broken, 1 not checked" in ran.stdout
    assert "breaks the law" not in ran.stdout


def test_unscored_verdicts_of_its_own_making_are_counted(check: Check) -> None:
    raising = HEAD.replace(
        "        return", "        if '[' in attempt.response: return None\n        return"
    )
    ran = check(raising + EXAMPLES, "--law", "swap", "--law", "limits")

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (
        "demo/city: 4 verdicts unscored, 4 by its own exception or by returning None" in ran.stdout
    )


def test_a_certificate_speaks_of_all_laws(check: Check) -> None:
    ran = check(HEAD + EXAMPLES, "--law", "range", "--certificate", "cert.json")

    assert ran.returncode == 2
    assert "remove --stage and --law" in ran.stderr


def test_a_place_that_is_not_there_is_told_before_anything_runs(check: Check) -> None:
    ran = check(HEAD + EXAMPLES, "--certificate", "nowhere/cert.json")

    assert ran.returncode == 2
    assert "nowhere/cert.json: there is no folder nowhere; create it first" in ran.stderr


def test_an_unknown_law_is_told(check: Check) -> None:
    ran = check(HEAD + EXAMPLES, "--law", "rage")

    assert ran.returncode == 2
    assert "there is no law 'rage'; did you mean \"range\"?" in ran.stderr


def test_a_stage_that_runs_what_it_is_given_is_warned_of(check: Check) -> None:
    runs = HEAD.replace(
        "attempt.response == attempt.task.answer",
        "eval(repr(attempt.response == attempt.task.answer))",
    )
    ran = check(runs + EXAMPLES, "--law", "right-passes")

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "warning: demo/city: its source calls eval (kit_demo.py:" in ran.stdout
    assert "code/run" in ran.stdout
