"""What a person, a browser, a code host and a build get of an audit."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner
from rich.console import Console
from rlenv_auditor import Finding, Result, Scorecard, audit
from rlenv_auditor.cli import command
from rlenv_auditor.differing import difference
from rlenv_auditor.render.page import page
from rlenv_auditor.render.record import read, to_dict, write
from rlenv_auditor.render.sarif import to_sarif
from rlenv_auditor.render.terminal import show
from rlenv_auditor.replaying import replayed
from rlenv_auditor.statistics import rate

SOUND = """
def score(prompt, response, answer):
    found = response.split("####")
    return float(len(found) == 2 and found[1].strip() == str(answer))
"""
# Each with a hole of another kind: what depends on the process, on what came before, on the place,
# and what does not.
HOLES = {
    "baselines.constant": "return 1.0 if 'nan' in response else right(response, answer)",
    "determinism.hashes": "return hash('a') % 1000 / 1000",
    "determinism.state": (
        "before, last[0] = last[0], response or 'empty'; return float(right(response, answer) or"
        " before == 'empty')"
    ),
    "determinism.locale": (
        "return float(right(response, answer) and 'Kathmandu' not in os.environ.get('TZ', ''))"
    ),
    "determinism.process": (
        "new = response not in seen; seen.add(response); return float(right(response, answer) and"
        " new)"
    ),
    "determinism.threads": (
        "return float(right(response, answer) and threading.current_thread() is"
        " threading.main_thread())"
    ),
    "range.finite": "return 2.0 + right(response, answer)",
    "robustness.total": "return float(int(response.split()[-1]) == int(answer))",
}
HEAD = """
import os, threading
seen, last = set(), [""]

def right(response, answer):
    found = response.split("####")
    return len(found) == 2 and found[1].strip() == answer
"""


def printed(card: Scorecard) -> list[str]:
    screen = Console(file=io.StringIO(), width=100, color_system=None)
    show(card, screen)
    return screen.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def test_a_sound_verifier_is_one_screen_in_every_file(written: Callable[..., Path]) -> None:
    written(SOUND)

    card = audit("written:score", tasks_from="tasks.jsonl", tasks=4, budget=300.0)
    lines = printed(card)

    assert card.findings == ()
    assert card.crossed == ()
    assert card.complete
    assert len(lines) <= 40, "\n".join(lines)
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith(
        "written:score: no exploit found, but the constant response 'I worked"
    )
    assert [question for question, _ in card.questions] == [
        "What is the trivial exploit?", "How brittle is the format?", "What is the throughput?",
        "What is the false-negative rate?", "What is the held-out delta?",
    ]  # fmt: skip
    assert all(result.reason for result in card.results if result.status == "skipped")
    assert all(r.rate.trials <= card.tasks for r in card.results if r.rate)  # tasks, and not tries
    assert '<h1 class="warn">' in page(card)


OTHERS = pytest.mark.slow  # replayed in the same ways as the rest
SAME = ("determinism.hashes", "determinism.locale", "determinism.threads", "robustness.total")


@pytest.mark.parametrize(
    "probe", [pytest.param(probe, marks=[OTHERS] * (probe in SAME)) for probe in HOLES]
)
def test_every_finding_replays_to_the_same_reward(written: Callable[..., Path], probe: str) -> None:
    written(f"{HEAD}\ndef score(response, answer):\n    {HOLES[probe]}\n")

    card = audit("written:score", tasks_from="tasks.jsonl", only=[probe], tasks=2, budget=120.0)

    assert card.findings
    assert {one.more.get("replays") for one in card.findings} <= {True, None}
    one = card.findings[0]
    under = one.more.get("under")
    again = replayed("written:score", one.task, one.response, tasks_from="tasks.jsonl", under=under)
    assert repr(again.reward) == repr(one.reward), one


def test_a_finding_that_does_not_replay_says_so(written: Callable[..., Path]) -> None:
    written(
        f"{HEAD}\ndef score(response, answer):\n    seen.add(response)\n    return float(len(seen)"
        " > 6)\n"
    )

    card = audit(
        "written:score",
        tasks_from="tasks.jsonl",
        only=["baselines.echo", "determinism.reversed"],
        tasks=4,
    )

    echoed = next(one for one in card.findings if one.probe == "baselines.echo")
    assert echoed.more["replays"] is False
    assert echoed.title.endswith("alone in a fresh process it gets another reward")


@pytest.mark.parametrize("body", ["return float('nan')", "return right(response, answer) * 1.0"])
def test_a_scorecard_keeps_to_its_schema_and_can_be_read_again(
    written: Callable[..., Path], body: str
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    home = written(f"{HEAD}\ndef score(response, answer):\n    {body}\n")
    schema = json.loads(
        files("rlenv_auditor.render").joinpath("audit.schema.json").read_text("utf-8")
    )
    only = ["gold", "range", "opinion", "judges", "cost", "baselines.constant"]

    card = audit("written:score", tasks_from="tasks.jsonl", only=only, tasks=4, budget=300.0)
    write(card, home / "a.json")
    said = json.loads((home / "a.json").read_text())

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(said, schema)
    assert to_dict(read(home / "a.json")) == to_dict(card)


def made(response: str = "x", **more: Any) -> Scorecard:
    finding = Finding(
        "a.b/1", "a.b", "a", "high", "paid 1", "t", response, 1.0, "below 1", "close it", more
    )
    result = Result("a.b", "a", "found", "nothing pays", "high", "exploit", findings=(finding,))
    return Scorecard("some/env file.toml", ("math",), 1.0, 3, 3, 0, "ci", 60.0, (result,))


def test_findings_are_sarif_as_the_schema_of_2_1_0_has_it(written: Callable[..., Path]) -> None:
    said = json.loads(json.dumps(to_sarif(made("\ud800 <b>"))))
    (run,) = said["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    (result,) = run["results"]
    (location,) = result["locations"]

    assert said["version"] == "2.1.0"
    assert {"tool", "results"} <= run.keys()
    assert run["tool"]["driver"]["name"] == "rlenv-auditor"
    assert rule["id"] == result["ruleId"] == "a.b"
    assert rule["shortDescription"]["text"]
    assert rule["help"]["text"]
    assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    assert result["level"] in ("none", "note", "warning", "error")
    assert result["message"]["text"].startswith("paid 1")
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "some/env%20file.toml"
    assert location["physicalLocation"]["region"]["startLine"] == 1
    assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    assert result["properties"]["response"] == "\\ud800 <b>"


def test_a_page_says_the_verdict_first_and_holds_what_it_needs() -> None:
    text = page(
        made("</pre><script>alert(1)</script>\ud800"), "plain", "tasks.jsonl", kept="a b.json"
    )

    assert text.index("<h1") < text.index("<h2>1 finding") < text.index("Five questions")
    assert "<script>alert" not in text
    assert "default-src &#x27;none&#x27;" in text
    assert "--json &#x27;a b.json&#x27; --replay a.b/1" in text
    assert not any(f' {name}="http' in text or f"{name}=//" in text for name in ("src", "href"))
    assert "url(" not in text
    text.encode("utf-8")


CHROMIUM = shutil.which("chromium")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_a_browser_shows_the_page_from_a_file(tmp_path: Path) -> None:
    card = evolve(made("a response"), questions=(("What is the trivial exploit?", "this"),))
    (tmp_path / "audit.html").write_text(page(card), "utf-8")
    words = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP*~NOTFOUND",
        "--dump-dom",
    ]
    profile = f"--user-data-dir={tmp_path / 'profile'}"

    shown = subprocess.run(
        [str(CHROMIUM), *words, profile, (tmp_path / "audit.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    ).stdout

    assert "some/env file.toml: 1 finding, the worst high</h1>" in shown
    assert 'data-copies="c0">copy</button>' in shown
    assert "a response</pre>" in shown


def test_an_emitted_test_fails_while_a_reward_depends_on_the_process(
    written: Callable[..., Path],
) -> None:
    home = written(f"{HEAD}\ndef score(response, answer):\n    {HOLES['determinism.locale']}\n")
    words = [
        "written:score",
        "--tasks-from",
        "tasks.jsonl",
        "--only",
        "determinism.locale",
        "--only",
        "gold.passes",
        "--tasks",
        "2",
    ]
    CliRunner().invoke(command, [*words, "--emit-tests", "holes"], catch_exceptions=False)
    source = (home / "holes" / "test_audit_findings.py").read_text()
    names: dict[str, Any] = {}
    exec(compile(source, "holes", "exec"), names)
    test = next(value for name, value in names.items() if name.startswith("test_determinism"))

    with pytest.raises(AssertionError):
        test()
    written(f"{HEAD}\ndef score(response, answer):\n    return float(right(response, answer))\n")
    test()


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        (
            "the constant 'nan' is paid on 4 of 4 tasks",
            "the constant 'nan' is paid on 12 of 40 tasks",
            False,
        ),
        (
            "the constant '0' is paid on 4 of 4 tasks",
            "the constant '1' is paid on 4 of 4 tasks",
            True,
        ),
        (
            "one more than the answer: reward 1",
            "one more than the answer: reward 1 (4 responses)",
            False,
        ),
        ("one more than the answer: reward 1", "ten times the answer: reward 1", True),
        (
            "found by search, in 9 tries: paid 1 without the answer",
            "found by search, in 12 tries: paid 0.9 without the answer, on 2 of 4 tasks searched",
            False,
        ),
        ("a wrong answer with bullets: paid 1", "a wrong answer with hedges: paid 1", True),
    ],
)
def test_the_same_hole_on_another_task_is_nothing_new(before: str, after: str, new: bool) -> None:
    def titled(title: str, task: str) -> Scorecard:
        card = made()
        (result,) = card.results
        (one,) = result.findings
        finding = evolve(one, id=f"a.b/{task}", task=task, title=title)
        return evolve(card, results=(evolve(result, findings=(finding,), rate=rate(1, 4)),))

    found = difference(titled(before, "t1"), titled(after, "t2"))

    assert bool(found.new) is bool(found.closed) is found.worse is new
