"""Each distribution installs and imports alone, from its wheel, with nothing beside what it
declares.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from needs import closure, package_of, wanted

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = sorted(m.parent for m in [ROOT / "core/pyproject.toml", *ROOT.glob("*/*/pyproject.toml")])
# Those whose wheels are built for these tests.
OWN = [folder for folder in FOLDERS if folder.parent.name != "examples"]

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    far = ".guest." in module.name  # the other side of a sandbox
    if module.name.endswith("__main__") or far:
        continue
    importlib.import_module(module.name)
assert package.__file__.startswith(sys.prefix), package.__file__
"""


@pytest.mark.slow  # installs into an environment of its own
@pytest.mark.parametrize("folder", OWN, ids=lambda folder: folder.name)
def test_a_distribution_works_alone_with_what_it_declares(
    folder: Path, stranger: Any, distributions: Mapping[Path, Mapping[str, Any]], tmp_path: Path
) -> None:
    name = distributions[folder]["name"]
    fresh = stranger(name)
    module = package_of(name)

    assert "No broken requirements" in fresh.pip("check")
    fresh.runs("python", "-I", "-W", "error", "-c", IMPORT_ALL, module, folder=tmp_path)
    with pytest.raises(AssertionError, match="No module named"):
        fresh.runs("python", "-I", "-c", "import xdist", folder=tmp_path)
    if "rlenv-cli" in closure(name):
        assert "Usage" in fresh.runs("rlenv", "--help", folder=tmp_path)
        return
    with pytest.raises(AssertionError, match=r"rlenv: error: .*`pip install \./contrib/rlenv-cli`"):
        fresh.runs("rlenv", "--help", folder=tmp_path)


def test_core_brings_five_packages_and_what_they_require() -> None:
    """No click, no rich, nothing of this repository."""
    declared = {requirement.name for requirement in wanted(distribution("rlenv-core"), set())}

    assert declared == {"attrs", "cattrs", "cloudpickle", "pluggy", "tomli"}
    assert set(closure("rlenv-core")) == {"rlenv-core", *declared, "typing-extensions"}


@pytest.mark.slow  # installs into an environment of its own
def test_where_the_command_line_is_missing_the_remedy_works_as_typed(
    stranger: Any, wheels: Mapping[str, Path], tmp_path: Path
) -> None:
    fresh = stranger("rlenv-core")
    fresh.borrows("rlenv-cli")
    for words in (("rlenv", "score"), ("python", "-m", "rlenv")):
        with pytest.raises(AssertionError, match="the command line is not installed") as said:
            fresh.runs(*words, folder=tmp_path)
        assert "Traceback" not in str(said.value)
    (typed,) = set(re.findall(r"`pip install (rlenv_cli\S+)`", str(said.value)))
    (wheel,) = wheels["rlenv-cli"].parent.glob(typed)  # as a shell does
    assert (ROOT / re.findall(r"`pip install \./(\S+)`", str(said.value))[0]).is_dir()
    fresh.pip("install", "--no-deps", "--no-index", "--no-compile", str(wheel))

    assert "Usage" in fresh.runs("rlenv", "--help", folder=tmp_path)
    assert "Usage" in fresh.runs("python", "-m", "rlenv", "--help", folder=tmp_path)


def test_a_wheel_holds_the_package_its_license_and_nothing_else(wheels: Mapping[str, Path]) -> None:
    for name, wheel in wheels.items():
        package = package_of(name)
        recorded = name.replace("-", "_")
        names = ZipFile(wheel).namelist()
        other = [
            n for n in names if not re.match(rf"({package}/|{recorded}-[\d.]+\.dist-info/)", n)
        ]

        assert other == (["_rlenv_cli.py"] if name == "rlenv-core" else [])
        assert any(n.endswith("/LICENSE") for n in names)
        assert f"{package}/py.typed" in names
        assert [n for n in names if "/tests/" in n] == []


@pytest.mark.slow  # pip fetches what builds a wheel, twice
def test_plain_pip_installs_from_a_clone(stranger: Any, tmp_path: Path) -> None:
    """The README's command; what rlenv needs from elsewhere is lent, what builds it is fetched."""
    fresh = stranger()
    fresh.borrows("rlenv-cli", "rlenv-plugin-math")
    asked = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            str(tmp_path / "d"),
            "hatchling",
        ],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    if asked.returncode:
        pytest.skip("pip reaches no package index here, so build isolation cannot work")
    fresh.pip(
        "install", "--no-compile", "./core", "./contrib/rlenv-cli", "./plugins/rlenv-plugin-math"
    )

    assert "math" in fresh.runs("rlenv", "plugins", folder=tmp_path)


def test_every_distribution_is_built_alike() -> None:
    """So that those which plain pip can build in isolation stand for all."""
    read = [tomllib.loads((folder / "pyproject.toml").read_text("utf-8")) for folder in FOLDERS]

    assert len({json.dumps(manifest["build-system"], sort_keys=True) for manifest in read}) == 1


def test_the_test_environment_itself_is_what_constraints_say() -> None:
    pins = (ROOT / "requirements" / "constraints.txt").read_text("utf-8")
    different = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", pins, re.M):
        try:
            installed = distribution(name).version
        except PackageNotFoundError:
            continue  # of another platform or Python
        if installed != version:
            different[name] = installed

    assert different == {}
