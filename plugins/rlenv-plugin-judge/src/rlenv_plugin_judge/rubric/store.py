"""Versions of a rubric that evolves, a file each: written once, never changed, named by number and
content.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import asdict, frozen
from rlenv import ConfigError

__all__ = ["Evolved", "Retired", "Store", "Version"]

_SCHEMA = "rlenv.rubric/1"
_NAME = re.compile(r"(\d{4,9})-([0-9a-f]{12})")


@frozen(kw_only=True)
class Evolved:
    """A criterion that a group of responses gave rise to.

    Args:
        id: its name; never given twice.
        task: the id of the task whose group it was; it counts for that task only.
        text: the statement.
        positive: whether it earns or takes off.
        idle: groups in a row in which every response did it justice.
    """

    id: str
    task: str
    text: str
    positive: bool
    idle: int = 0


@frozen(kw_only=True)
class Retired:
    """One that counts no more, and why; it is not proposed again."""

    id: str
    task: str
    text: str
    positive: bool
    why: str


@frozen(kw_only=True)
class Version:
    """All that a seed has grown up to some point.

    Args:
        number: 0 for the seed alone.
        seed: hash of the criteria that a person wrote.
        parent: the name of the version before.
    """

    number: int = 0
    seed: str = ""
    parent: str = ""
    evolved: tuple[Evolved, ...] = ()
    retired: tuple[Retired, ...] = ()

    @property
    def name(self) -> str:
        """``0003-`` and a hash of everything in it, so that a changed file is another version."""
        text = json.dumps(asdict(self), sort_keys=True)
        return f"{self.number:04d}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def of(self, task: str) -> tuple[Evolved, ...]:
        """What counts for a task."""
        return tuple(each for each in self.evolved if each.task == task)


@frozen
class Store:
    """A folder with a file per version; several processes may read it while one writes."""

    folder: Path

    def names(self) -> list[str]:
        """All versions by number; empty where nothing evolved yet.

        Raises:
            ConfigError: two files have one number.
        """
        found = sorted(
            (path.stem for path in self.folder.glob("*.json") if _NAME.fullmatch(path.stem)),
            key=lambda name: int(name.partition("-")[0]),
        )
        numbers = [int(name.partition("-")[0]) for name in found]
        if len(set(numbers)) < len(numbers):
            raise ConfigError(f"store: {self.folder} has two versions of one number; remove one")
        return found

    def read(self, name: str) -> Version:
        """A version, just as it was written.

        Raises:
            ConfigError: there is none of this name, or its file was changed.
        """
        path = self.folder / f"{name}.json"
        if not _NAME.fullmatch(name) or not path.is_file():
            there = ", ".join(self.names()) or "none"
            raise ConfigError(f"version: {self.folder} has no version {name!r}; there are: {there}")
        try:
            version = _version(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError) as err:
            raise ConfigError(f"store: {path} is no version of a rubric: {err}") from None
        if version.name != name:
            raise ConfigError(f"store: {path} was changed; a version is written once")
        return version

    def write(self, version: Version) -> str:
        """Keep a version and return its name.

        Raises:
            ConfigError: another process wrote this number meanwhile.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        claim = self.folder / f".{version.number:04d}"
        try:  # whoever makes this file has the number
            os.close(os.open(claim, os.O_CREAT | os.O_EXCL, 0o644))
        except FileExistsError:
            if version.name in self.names():
                return version.name
            raise ConfigError(
                f"store: version {version.number} of {self.folder} is being written by someone else"
                f" (if nobody is, remove {claim.name}); evolve from the latest version"
            ) from None
        text = json.dumps({"schema": _SCHEMA, "name": version.name, **asdict(version)}, indent=1)
        part = claim.with_suffix(".part")
        try:
            part.write_text(text + "\n", "utf-8")
            os.replace(part, self.folder / f"{version.name}.json")
        except BaseException:
            for path in (part, claim):
                with suppress(OSError):
                    path.unlink()
            raise
        return version.name


def _version(data: Any) -> Version:
    if not isinstance(data, Mapping) or data.get("schema") != _SCHEMA:
        raise ValueError(f"its schema is not {_SCHEMA}")
    return Version(
        number=int(data["number"]),
        seed=str(data["seed"]),
        parent=str(data["parent"]),
        evolved=tuple(Evolved(**each) for each in data["evolved"]),
        retired=tuple(Retired(**each) for each in data["retired"]),
    )
