"""What a distribution requires, as its metadata says."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement


def wanted(dist: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for line in dist.requires or ():
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in ("", *extras)):
            yield need


def closure(*requirements: str) -> dict[str, Distribution]:
    """The distributions that ``requirements`` name, and those that these declare to need."""
    found: dict[str, Distribution] = {}
    todo = [Requirement(line) for line in requirements]
    while todo:
        need = todo.pop()
        key = need.name.replace("_", "-").lower()
        if key not in found or need.extras:
            found[key] = distribution(need.name)
            todo += wanted(found[key], need.extras)
    return found


def package_of(distribution: str) -> str:
    """Return the name of the package that a distribution of this repository contains."""
    return "rlenv" if distribution == "rlenv-core" else distribution.replace("-", "_")


def distribution_of(package: str) -> str:
    """Return the name of the distribution of this repository that contains a package."""
    return "rlenv-core" if package == "rlenv" else package.replace("_", "-")
