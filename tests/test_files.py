"""What every file of the repository keeps: no host, no machine, one license, one version."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from needs import package_of

Distributions = Mapping[Path, Mapping[str, Any]]

# Written in pieces, so that this file passes its own test.
REGISTRIES = re.compile(
    r"\b(?:py" + r"pi\.(?:org|python)|files\.python" + r"hosted|ana" + r"conda\.(?:org|com)"
    r"|npm" + r"js\.(?:com|org)|docker\." + r"io(?=/)|ghcr\." + r"io|hugging" + r"face\.co)\b"
)
MACHINES = re.compile(r"(?<![\w./-])/(?:root|work|opt|mnt|Users|home/\w+|usr/local/\w+)/[\w.-]+")
URLS = re.compile(r"\b[a-z+]{3,8}://")
BINARY = {".png", ".gz", ".parquet", ".ico", ".woff2"}


def text_of(path: Path) -> str:
    return "" if path.suffix in BINARY else path.read_text("utf-8", errors="replace")


def hits(pattern: re.Pattern[str], paths: list[Path], house: Path) -> list[str]:
    return [
        f"{path.relative_to(house)}:{number}: {line.strip()[:80]}"
        for path in paths
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_registry(house: Path, files: list[Path]) -> None:
    assert hits(REGISTRIES, files, house) == []


def test_no_file_names_a_place_of_one_machine(house: Path, files: list[Path]) -> None:
    assert hits(MACHINES, files, house) == []


def test_what_sets_up_the_house_names_no_url(house: Path, files: list[Path]) -> None:
    names = {"pyproject.toml", "Makefile", ".pre-commit-config.yaml", "run"}
    setup = [p for p in files if p.name in names or p.parent.name == "requirements"]

    assert len(setup) >= 6
    assert hits(URLS, setup, house) == []


def test_every_pin_is_exact(house: Path) -> None:
    pins = (house / "requirements" / "constraints.txt").read_text("utf-8").splitlines()
    loose = [p for p in pins if p and not re.fullmatch(r"#.*|[\w.-]+==[\w.!+]+( *;.*)?", p)]

    assert loose == []


def test_every_requirement_of_the_house_is_pinned(
    house: Path, distributions: Distributions
) -> None:
    folder = house / "requirements"
    pinned = set(
        re.findall(r"^[\w.-]+(?===)", (folder / "constraints.txt").read_text("utf-8"), re.M)
    )
    asked = {
        line
        for name in ("build", "run", "dev")
        for line in (folder / f"{name}.txt").read_text("utf-8").splitlines()
        if line and not line.startswith(("#", "-"))
    }
    for project in distributions.values():
        extras = project.get("optional-dependencies", {}).values()
        lines = [*project.get("dependencies", ()), *(line for group in extras for line in group)]
        asked |= {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in lines}
    own = {project["name"] for project in distributions.values()}

    assert {normal(name) for name in asked - own} - {normal(name) for name in pinned} == set()


def normal(name: str) -> str:
    return name.replace("_", "-").lower()


def test_every_distribution_is_installed_by_both_commands(
    house: Path, distributions: Distributions
) -> None:
    for name in ("run", "dev"):
        text = (house / "requirements" / f"{name}.txt").read_text("utf-8")
        listed = set(re.findall(r"^-e \./([\w./-]+)", text, re.M))

        assert listed == {str(folder.relative_to(house)) for folder in distributions}


def test_every_distribution_carries_license_readme_and_types(
    house: Path, distributions: Distributions
) -> None:
    for folder, project in distributions.items():
        package = folder / "src" / package_of(project["name"])

        assert (folder / "LICENSE").read_text("utf-8") == (house / "LICENSE").read_text("utf-8")
        assert project["license"] == "MIT"
        assert len((folder / "README.md").read_text("utf-8")) > 200, folder
        assert (package / "py.typed").exists()


def test_all_distributions_have_one_version_and_one_python(distributions: Distributions) -> None:
    assert len({project["version"] for project in distributions.values()}) == 1
    assert {project["requires-python"] for project in distributions.values()} == {">=3.11"}


def test_all_distributions_name_the_versions_that_the_tests_pass_on(
    distributions: Distributions,
) -> None:
    prefix = "Programming Language :: Python :: 3."
    for folder, project in distributions.items():
        named = [each for each in project["classifiers"] if each.startswith(prefix)]
        assert named == [f"{prefix}{minor}" for minor in (11, 12, 13)], folder


def test_the_version_has_its_place_in_the_changelog(
    house: Path, distributions: Distributions
) -> None:
    version = distributions[house / "core"]["version"]

    assert f"## [{version}]" in (house / "CHANGELOG.md").read_text("utf-8")


def test_a_plugin_asks_for_core_below_the_next_major(
    house: Path, distributions: Distributions
) -> None:
    major = int(distributions[house / "core"]["version"].partition(".")[0])
    for folder, project in distributions.items():
        if folder != house / "core":
            own = [d for d in project["dependencies"] if re.match(r"rlenv-core\b", d)]

            assert len(own) == 1
            assert own[0].endswith(f"<{major + 1}"), own


def test_the_root_installs_nothing_itself(house: Path) -> None:
    root = tomllib.loads((house / "pyproject.toml").read_text("utf-8"))

    assert not {"project", "build-system"} & set(root)


def test_every_package_is_type_checked(house: Path, distributions: Distributions) -> None:
    mypy = tomllib.loads((house / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    places = {str((folder / "src").relative_to(house)) for folder in distributions}

    assert mypy["strict"] is True
    assert places <= set(mypy["mypy_path"])


def test_no_file_promises_what_is_not_there(house: Path, files: list[Path]) -> None:
    marks = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")

    assert hits(marks, [p for p in files if p.suffix in (".py", ".md", ".toml")], house) == []


def test_every_test_that_is_slow_says_why_beside_its_mark(house: Path, files: list[Path]) -> None:
    tests = [path for path in files if path.name.startswith("test_") and path.suffix == ".py"]

    assert hits(re.compile(r"pytest\.mark\.slow(?!.*  # \w)"), tests, house) == []


def test_no_script_hides_a_module_of_the_standard_library(house: Path, files: list[Path]) -> None:
    # Python puts the folder of a script first on its path, and since 3.12 `pathlib` imports `math`.
    scripts = [path for path in files if path.relative_to(house).parts[0] in ("benchmarks", "docs")]
    hiding = [
        path.name
        for path in scripts
        if path.suffix == ".py" and path.stem in sys.stdlib_module_names
    ]

    assert hiding == []
