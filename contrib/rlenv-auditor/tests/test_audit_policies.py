"""Policies that solve nothing are played in every environment with a harness: paid ones are
findings, a sound one is clean.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rlenv_auditor import audit
from rlenv_auditor.cli import command

ENV = """
name = "desk"
[tasks]
path = "tasks.jsonl"
id = "id"
prompt = "prompt"
answer = "answer"
info = {{ floor = "floor" }}
[harness]
kind = "tool-use"
tools = ["./desk.py:close"]
turn_limit = 8
[[stage]]
use = "./desk.py:{verifier}"
"""
DESK = '''
def close(ticket: str) -> str:
    """Close a ticket."""
    return f"closed {ticket}"


def sound(trajectory, answer):
    return any(
        m["role"] == "tool" and m["content"] == f"closed {answer}"
        for m in trajectory.messages
    )


def idle(trajectory, answer):
    """Counts what went wrong: nothing does where nothing is done."""
    wrong = any(
        m["role"] == "tool" and m["content"] != f"closed {answer}"
        for m in trajectory.messages
    )
    return 0.0 if wrong else 0.75


'''


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [
        {"id": f"t{n}", "prompt": f"Close T-{n}.", "answer": f"T-{n}", "floor": 0.0}
        for n in range(6)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "desk.py").write_text(DESK)
    for verifier in ("sound", "idle"):
        (tmp_path / f"{verifier}.toml").write_text(ENV.format(verifier=verifier))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_sound_environment_is_clean(desk: Path) -> None:
    (result,) = audit("sound.toml", only=["policies"]).results

    assert result.status == "clean"
    assert set(result.figures.values()) == {0.0}


def test_the_scorecard_says_what_they_earn_and_a_finding_replays(desk: Path) -> None:
    rows = (desk / "tasks.jsonl").read_text().replace('"floor": 0.0', '"floor": 0.75', 1)
    (desk / "tasks.jsonl").write_text(rows)
    run = CliRunner().invoke(command, ["idle.toml", "--only", "policies", "--json", "a.json"])
    (result,) = json.loads((desk / "a.json").read_text())["results"]
    found = next(one for one in result["findings"] if one["more"]["policy"] == "no-op")
    again = CliRunner().invoke(command, ["idle.toml", "--json", "a.json", "--replay", found["id"]])

    assert run.exit_code == 1
    assert "What do policies earn that solve nothing?  no-op 0.75" in run.output
    assert result["figures"]["no-op"] == 0.75
    assert result["rate"]["hits"], result["rate"]["trials"] == (5, 6)  # one declares its floor
    assert (
        f"the policy no-op earns 0.75 on task {found['task']}, whose floor is 0" == found["title"]
    )
    assert "then 0.75, now 0.75" in again.output


def test_what_has_no_harness_says_so(desk: Path) -> None:
    text = (desk / "sound.toml").read_text()
    (desk / "plain.toml").write_text(
        text[: text.index("[harness]")] + '[[stage]]\nuse = "core/equal"\n'
    )
    (result,) = audit("plain.toml", only=["policies"]).results
    (other,) = audit("desk:sound", tasks_from="tasks.jsonl", only=["policies"]).results

    assert result.reason == "it has no [harness], so a policy can do nothing but answer"
    assert other.reason == "a function has no episodes"


STATEFUL = """
name = "shop"
[harness]
kind = "stateful-tool-use"
tools = ["./shop.py:sql"]
[state]
schema = "shop.sql"
[[stage]]
use = "{stage}"
[[task]]
id = "refund"
prompt = "Refund order 2."
answer = {{ tables = {{ orders = {{ changed = [{{ id = 2, state = "refunded" }}] }} }} }}
[[task.info.gold.calls]]
name = "sql"
arguments = {{ statement = "UPDATE orders SET state = 'refunded' WHERE id = 2" }}
"""
SHOP = '''
from rlenv_plugin_agent import Database, ToolContext


def sql(statement: str, context: ToolContext) -> list[dict[str, object]]:
    """Run one SQL statement."""
    return context.get(Database).query(statement, role=context.role).records()


def lax(visible):
    """Takes any words for a deed."""
    return visible != ""
'''


@pytest.mark.parametrize(
    ("stage", "status"), [("agent/state", "clean"), ("./shop.py:lax", "found")]
)
def test_a_verifier_of_a_final_state_is_asked_by_episodes(
    desk: Path, stage: str, status: str
) -> None:
    (desk / "shop.py").write_text(SHOP)
    (desk / "shop.sql").write_text(
        "CREATE TABLE orders(id INTEGER PRIMARY KEY, state TEXT); INSERT INTO orders VALUES (1,"
        " 'paid'), (2, 'paid');"
    )
    (desk / "shop.toml").write_text(STATEFUL.format(stage=stage))
    only = ["policies", "gold.passes", "episodes", "robustness.total", "opinion.unscored"]
    card = audit("shop.toml", only=only)
    found = {result.probe: result for result in card.results}

    assert found["policies.nothing"].status == status
    if stage == "agent/state":
        assert card.findings == ()
        # The gold calls of the task are its right response, and every response is played.
        for probe in (
            "gold.passes",
            "episodes.near",
            "episodes.cut",
            "robustness.total",
            "opinion.unscored",
        ):
            assert found[probe].status == "clean", found[probe].reason
    else:
        assert card.findings[0].task == ""  # without the final state nothing would replay
        assert found["robustness.total"].status == "clean"
