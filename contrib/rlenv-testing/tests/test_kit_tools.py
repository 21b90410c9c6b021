"""Strategies, isolation, marks and the pytest side of the kit."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from kit_sound import EXAMPLES, Sound
from rlenv import PluginError, Task, Verdict, hookimpl
from rlenv.model.record import dumps
from rlenv.plugins.registry import registry
from rlenv_cli.scores.verdicts import verdict_from_dict, verdict_to_dict
from rlenv_testing import failing_laws, nasty_text, only, responses, rewrites, tasks, verdicts
from rlenv_testing.capabilities import lacking
from rlenv_testing.law import LAWS
from rlenv_testing.laws import __doc__ as table
from rlenv_testing.laws import load

few = settings(max_examples=30, deadline=None)
SEEN: list[str] = []


@few
@given(nasty_text(), responses(["Paris"]))
def test_texts_are_texts(nasty: str, response: str) -> None:
    SEEN.append(nasty)
    assert isinstance(nasty, str)
    assert isinstance(response, str)


@few
@given(tasks())
def test_tasks_travel(task: Task) -> None:
    assert pickle.loads(pickle.dumps(task)) == task


@few
@given(verdicts())
def test_verdicts_survive_json(verdict: Verdict) -> None:
    assert (verdict.value is None) == (verdict.fault is not None)
    assert verdict_from_dict(json.loads(dumps(verdict_to_dict(verdict)))) == verdict


@few
@given(rewrites(), nasty_text())
def test_the_generic_rewrites_add_only_blanks(rewrite: Any, text: str) -> None:
    assert rewrite.apply(Task("?"), text).strip() == text.strip()


def test_a_test_sees_only_the_plugins_it_names(only_plugins: Any) -> None:
    plugin = SimpleNamespace(RLENV_API=1, rlenv_stages=hookimpl(lambda: {"sound": Sound}))
    found = only_plugins(mine=plugin)

    assert registry() is found
    assert [info.name for info in found.infos()] == ["core", "mine"]
    assert found.stage_type("mine/sound") is Sound
    with pytest.raises(PluginError, match="no plugin 'math' is installed"):
        found.load("math")


def test_afterwards_everything_is_there_again() -> None:
    before = registry()
    with pytest.raises(PluginError), only("there-is-none"):
        pass

    assert registry() is before


def test_a_capability_that_nobody_knows_is_lacking() -> None:
    assert lacking([]) is None
    assert "which nobody knows how to find" in (lacking(["luck"]) or "")


def test_every_law_stands_in_the_table_of_properties() -> None:
    load()

    assert [name for name in LAWS if name not in (table or "")] == []


def test_every_law_is_explained() -> None:
    page = Path(__file__).parents[3] / "docs" / "laws.md"
    load()

    assert [name for name in LAWS if f"| {name} |" not in page.read_text("utf-8")] == []


def test_an_unknown_law_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="there is no law 'rage'"):
        failing_laws(Sound(), EXAMPLES, laws=["rage"])


def pytest_run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "rlenv_testing.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-rs",
    ]
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(folder)}
    environ |= {"HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis")}
    environ.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(
        [*argv, *options], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


def test_pytest_runs_the_laws_on_a_plugin(tmp_path: Path) -> None:
    laws = ["--pyargs", "rlenv_testing.laws", "--rlenv-law", "right-passes", "--rlenv-law", "group"]
    ran = pytest_run(tmp_path, *laws, "--rlenv-plugin", "core", "--rlenv-stage", "equal")

    assert ran.returncode == 0, ran.stdout
    assert "1 passed, 1 skipped" in ran.stdout
    assert "it judges no groups" in ran.stdout


def test_pytest_asks_for_a_plugin(tmp_path: Path) -> None:
    ran = pytest_run(tmp_path, "--pyargs", "rlenv_testing.laws")

    assert ran.returncode != 0
    assert "--rlenv-plugin NAME" in ran.stdout + ran.stderr


def test_a_marked_test_is_skipped_with_the_reason(tmp_path: Path) -> None:
    source = "import pytest\n\n@pytest.mark.needs_network\ndef test_far(): raise SystemExit(1)\n"
    (tmp_path / "test_marked.py").write_text(source)
    ran = pytest_run(tmp_path, "--strict-markers", "test_marked.py")

    assert "1 skipped" in ran.stdout
    assert "needs network: tests stay offline unless RLENV_TEST_NETWORK=1" in ran.stdout


def test_the_pytest_plugin_imports_nothing_of_rlenv() -> None:
    code = (
        "import sys, rlenv_testing.pytest_plugin; print([m for m in sys.modules if m.split('.')[0]"
        " == 'rlenv'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"


def test_a_public_name_is_no_module_of_the_same_name():
    import rlenv_testing

    assert all(callable(getattr(rlenv_testing, name)) for name in rlenv_testing.__all__)
    homes = Path(rlenv_testing.__file__).parent.glob("*.py")
    assert set(rlenv_testing.__all__).isdisjoint(path.stem for path in homes)
