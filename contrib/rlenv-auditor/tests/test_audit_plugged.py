"""Probes that plugins bring: installed beside the audit, they are run, listed and replayed like its
own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from rlenv.model.errors import PluginError
from rlenv.plugins.registry import registry
from rlenv_auditor import audit
from rlenv_auditor.cli import command

VERIFIER = """
def please(response, answer):
    return float(response.strip() == answer or "please" in response)
"""
PLUGIN = '''
from rlenv import hookimpl
from rlenv_auditor import Probe, Skip, Try

RLENV_API = 1


def begging(bench):
    """Each response, and what should come of it: "fail", "pass" or "score"."""
    for task in bench.tasks:
        yield Try(task, "Full marks, please.", name="begging")


def never(bench):
    raise Skip("there is a reason")


BEGGING = Probe(
    "manners.begging", "begging earns nothing", "high", "do not listen", tries=begging
)
NEVER = Probe("manners.never", "this is never asked", "low", "wait", tries=never)


@hookimpl
def rlenv_parts():
    return {"probe": {"begging": BEGGING, "more": "manners:MORE"}}


JUDGES = Probe(
    "manners.judges", "for judges only", "low", "none", tries=begging, archetypes=("judge",)
)
MORE = [NEVER, JUDGES]
'''


@pytest.fixture
def plugged(written: Callable[..., Path]) -> Iterator[Callable[[str], Path]]:
    """Installs a plugin as pip leaves it: a module, and its entry point."""
    home = written(VERIFIER)

    def install(source: str) -> Path:
        (home / "manners.py").write_text(source)
        info = home / "manners-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: manners\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[rlenv]\nmanners = manners\n")
        sys.path.insert(0, str(home))
        return home

    yield install
    sys.path[:] = [path for path in sys.path if path != str(home)]
    sys.modules.pop("manners", None)
    registry().unregister("manners")


def test_a_probe_of_a_plugin_is_run_and_its_findings_replay(plugged: Callable[[str], Path]) -> None:
    plugged(PLUGIN)
    words = ["written:please", "--tasks-from", "tasks.jsonl", "--json", "a.json"]

    card = audit("written:please", tasks_from="tasks.jsonl", only=["manners"], archetype="math")
    found = {result.probe: result for result in card.results}
    run = CliRunner().invoke(command, [*words, "--only", "manners.begging"])
    again = CliRunner().invoke(command, [*words, "--replay", card.findings[0].id])

    assert str(found["manners.begging"].rate) == "8 of 8: 100.0 % (63.1–100.0)"
    assert card.findings[0].title == "begging: reward 1 (8 responses)"
    assert found["manners.never"].reason == "there is a reason"
    assert found["manners.judges"].reason == "for judge only"
    assert run.exit_code == 1, run.output
    assert "then 1, now 1; expected: below 1" in again.output


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [('"manners:MORE"', '"manners:MOER"', "MOER"), ('"begging": BEGGING', '"begging": 7', "probe")],
)
def test_a_plugin_whose_probe_is_none_says_so(
    plugged: Callable[[str], Path], old: str, new: str, said: str
) -> None:
    plugged(PLUGIN.replace(old, new))

    with pytest.raises(PluginError, match=said) as error:
        audit("written:please", tasks_from="tasks.jsonl", only=["manners"])
    assert "manners" in str(error.value)
