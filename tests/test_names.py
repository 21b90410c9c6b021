"""The names of distributions are free on the package index, and no requirement of ours leads to
another project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

Distributions = Mapping[Path, Mapping[str, Any]]

# Every project on the index whose name begins like ours, on 2026-11-24. Before a release, ask again
# with `pip index versions NAME` for each name of ours.
TAKEN = {"rlenv", "rlenv-audit", "rlenvironments", "rlenvs"}
# A requirement in a document, a template or a list of packages: a name that begins like ours, then
# a version, an extra, or the end of a quoted string.
REQUIREMENT = re.compile(
    r"""["'](rlenv(?:[-_.]\w+)*)(?:\[[\w, -]*\])?\s*(?:[<>=!~]=?[^"']*)?["']"""
)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(project: Mapping[str, Any]) -> Iterator[str]:
    extras = project.get("optional-dependencies", {}).values()
    for line in [*project.get("dependencies", ()), *(each for extra in extras for each in extra)]:
        name = normal(Requirement(line).name)
        if name == "rlenv" or name.startswith("rlenv-"):
            yield name


def test_no_distribution_has_a_name_that_is_taken(distributions: Distributions) -> None:
    ours = {normal(project["name"]) for project in distributions.values()}

    assert ours & TAKEN == set()
    assert {name for name in ours if not name.startswith("rlenv-")} == set()


def test_a_requirement_of_ours_is_a_distribution_of_ours(distributions: Distributions) -> None:
    ours = {normal(project["name"]) for project in distributions.values()}
    wrong = {
        f"{project['name']} requires {name}"
        for project in distributions.values()
        for name in requirements(project)
        if name not in ours
    }

    assert wrong == set()


def test_no_list_template_or_document_requires_a_name_that_is_taken(
    house: Path, files: list[Path]
) -> None:
    """In what pip reads: manifests, lists of packages, and the manifests that `rlenv new` and the
    documents show.
    """
    wrong = []
    for path in files:
        if path.suffix not in (".toml", ".txt", ".md") or "tests" in path.parts:
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if "dependencies" in line or path.name == "pyproject.toml":
                names = {normal(found) for found in REQUIREMENT.findall(line)}
                if names & (TAKEN - {"rlenv"}) or re.search(r"""["']rlenv\s*[<>=!~\[]""", line):
                    wrong.append(f"{path.relative_to(house)}:{number}: {line.strip()}")

    assert wrong == []
