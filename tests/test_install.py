"""Each distribution installs and imports alone, from its wheel, with nothing beside what it declares."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = sorted(m.parent for m in [ROOT / "core/pyproject.toml", *ROOT.glob("*/*/pyproject.toml")])
QUIET = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith("__main__") and ".testing" not in module.name:
        importlib.import_module(module.name)
assert package.__file__.startswith(sys.prefix), package.__file__
"""


def run(argv: list[str], folder: Path) -> str:
    env = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
    ran = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, f"{argv}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def pip(*args: str, python: Path | None = None, folder: Path = ROOT) -> str:
    target = [] if python is None else ["--python", str(python)]
    return run([sys.executable, "-m", "pip", *target, *args], folder)


def wanted(dist: Distribution) -> Iterator[Requirement]:
    for line in dist.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def closure(names: list[str]) -> dict[str, Distribution]:
    """The distributions that ``names`` declare to need, and those that these need."""
    found: dict[str, Distribution] = {}
    while names:
        name = names.pop()
        key = name.replace("_", "-").lower()
        if key not in found:
            found[key] = distribution(name)
            names += [requirement.name for requirement in wanted(found[key])]
    return found


def lend(dist: Distribution, site: Path) -> None:
    """Make one installed distribution visible in another environment, without copying it."""
    tops = {
        file.parts[0] for file in dist.files or () if file.parts[0] not in ("..", "__pycache__")
    }
    for top in tops:
        source = Path(str(dist.locate_file(top)))
        if not (site / top).exists():
            (site / top).symlink_to(source, target_is_directory=source.is_dir())


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Name of each distribution → its wheel, built from a copy so that the tree stays clean."""
    out = tmp_path_factory.mktemp("wheels")
    for folder in FOLDERS:
        pip("wheel", *QUIET[:-1], "--no-deps", "--no-index", "--no-build-isolation",
            "--wheel-dir", str(out), str(folder))  # fmt: skip
    return {w.name.partition("-")[0].replace("_", "-"): w for w in sorted(out.glob("*.whl"))}


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_distribution_works_alone_with_what_it_declares(
    folder: Path, wheels: Mapping[str, Path], distributions: Mapping[Path, Mapping[str, Any]],
    tmp_path: Path,
) -> None:  # fmt: skip
    own = set(wheels)
    name = distributions[folder]["name"]
    venv.create(tmp_path / "fresh", with_pip=False, symlinks=True)
    python = tmp_path / "fresh" / "bin" / "python"
    site = next((tmp_path / "fresh" / "lib").glob("python*/site-packages"))
    needed = closure([name])
    for other, dist in needed.items():
        if other not in own:
            lend(dist, site)
    needs = [str(wheels[other]) for other in needed if other in own]
    pip("install", *QUIET, "--no-deps", "--no-index", *needs, python=python)

    assert "No broken requirements" in pip("check", python=python)
    run([str(python), "-I", "-W", "error", "-c", IMPORT_ALL, name.replace("-", "_")], tmp_path)
    assert "Usage" in run([str(python.parent / "rlenv"), "--help"], tmp_path)
    with pytest.raises(AssertionError, match="No module named"):
        run([str(python), "-I", "-c", "import pytest"], tmp_path)


def test_a_wheel_holds_the_package_its_license_and_nothing_else(wheels: Mapping[str, Path]) -> None:
    from zipfile import ZipFile

    for name, wheel in wheels.items():
        package = name.replace("-", "_")
        names = ZipFile(wheel).namelist()
        other = [n for n in names if not re.match(rf"({package}/|{package}-[\d.]+\.dist-info/)", n)]

        assert other in ([], ["_rlenv_pytest.py"])
        assert any(n.endswith("/LICENSE") for n in names)
        assert f"{package}/py.typed" in names
        assert [n for n in names if "/tests/" in n] == []


@pytest.mark.slow
def test_plain_pip_installs_from_a_clone(tmp_path: Path) -> None:
    venv.create(tmp_path / "plain", with_pip=False, symlinks=True)
    python = tmp_path / "plain" / "bin" / "python"
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "download", *QUIET[:-1], "--no-deps", "--dest", str(tmp_path / "d"), "hatchling"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if asked.returncode:
        pytest.skip("pip reaches no package index here, so build isolation cannot work")
    pip("install", *QUIET, *(f"./{folder.relative_to(ROOT)}" for folder in FOLDERS), python=python)
    listed = run([str(python.parent / "rlenv"), "plugins"], tmp_path)

    assert "math" in listed


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
