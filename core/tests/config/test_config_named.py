"""Environments by name: what a distribution installed, else a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment, PluginError
from rlenv.compose.equal import Equal

TOML = 'name = "from file"\n[[stage]]\nuse = "core/equal"\n'
MODULE = """
from pathlib import Path
from rlenv import Environment
MAPPING = {"name": "mapping", "stage": [{"use": "core/equal"}], "tasks": {"path": "tasks.jsonl"}}
PLAIN = {"name": "plain", "stage": [{"use": "core/equal"}]}
BUILT = Environment.from_dict(PLAIN)
NUMBER = 3
RELATIVE = "env.toml"
def path(): return Path(__file__).parent / "env.toml"
def broken(): return 1 / 0
"""
NAMES = {
    "by-path": "named_envs:path",
    "by-mapping": "named_envs:PLAIN",
    "with-tasks": "named_envs:MAPPING",
    "relative": "named_envs:RELATIVE",
    "built": "named_envs:BUILT",
    "number": "named_envs:NUMBER",
    "broken": "named_envs:broken",
    "lost": "no_such_module:x",
    "env.toml": "named_envs:PLAIN",
    "sub/env": "named_envs:PLAIN",
    "v1.2": "named_envs:PLAIN",
    "extensionless": "named_envs:PLAIN",
}


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    info = tmp_path / "envs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: envs\nVersion: 1.0\n")
    lines = [f"{name} = {target}" for name, target in NAMES.items()]
    (info / "entry_points.txt").write_text("\n".join(["[rlenv.environments]", *lines]))
    (tmp_path / "named_envs.py").write_text(MODULE)
    (tmp_path / "env.toml").write_text(TOML)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("named_envs", None)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("by-path", "from file"),
        ("by-mapping", "plain"),
        ("built", "plain"),
        ("relative", "from file"),
    ],
)
def test_an_installed_environment_is_loaded_by_name(name: str, title: str) -> None:
    assert Environment.load(name).name == title


def test_its_tasks_stand_beside_its_module(site: Path) -> None:
    (site / "tasks.jsonl").write_text('{"prompt": "p"}')

    with pytest.raises(ConfigError, match=r"needs task\.answer"):
        Environment.load("with-tasks")


def test_a_path_is_a_file(site: Path) -> None:
    assert Environment.load(str(site / "env.toml")).name == "from file"
    assert Environment.load(site / "env.toml").name == "from file"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("number", "expected a path, a mapping or an Environment"),
        ("broken", "ZeroDivisionError"),
        ("lost", "ModuleNotFoundError"),
    ],
)
def test_a_broken_one_names_its_distribution(name: str, words: str) -> None:
    with pytest.raises(PluginError) as caught:
        Environment.load(name)

    assert words in str(caught.value)
    assert "envs 1.0" in str(caught.value)


def test_an_unknown_name_is_guessed() -> None:
    with pytest.raises(ConfigError, match='did you mean "by-path"'):
        Environment.load("by-pth")


def test_a_path_that_is_not_there_is_a_missing_file(site: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        Environment.load(f"{site}{os.sep}nothing")


@pytest.mark.parametrize("name", ["env.toml", "sub/env", "extensionless"])
def test_no_distribution_takes_the_place_of_a_file(
    site: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (site / name).parent.mkdir(exist_ok=True)
    (site / name).write_text(TOML)
    monkeypatch.chdir(site)

    assert Environment.load(name).name == "from file"
    assert "named_envs" not in sys.modules


@pytest.mark.parametrize("name", ["env.toml", "sub/env", "v1.2"])
def test_a_name_with_a_dot_or_slash_is_never_an_installed_environment(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    with pytest.raises(ConfigError, match="there is no such file"):
        Environment.load(name)
    assert "named_envs" not in sys.modules


def test_a_folder_does_not_hide_an_installed_environment(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "built").mkdir()
    monkeypatch.chdir(site)

    assert Environment.load("built").name == "plain"


def test_settings_reach_what_is_built_from_them() -> None:
    env = Environment.load("by-mapping", set_options={"equal.case": True})

    assert env.slots[0].stage == Equal(case=True)
    with pytest.raises(ConfigError, match="set_options cannot be set"):
        Environment.load("built", set_options={"equal.case": True})


@pytest.mark.parametrize("name", ["by-path", "built", "broken"])
def test_an_installed_environment_is_code(name: str) -> None:
    with pytest.raises(ConfigError, match="which code=False rejects"):
        Environment.load(name, code=False)
    assert "named_envs" not in sys.modules
