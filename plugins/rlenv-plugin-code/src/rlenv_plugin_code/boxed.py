"""Stages that use a sandbox: the options that they share, with the names and meanings of
``code/run``'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from attrs import Attribute, field, frozen, validators
from rlenv import ConfigError, Task, TaskError
from rlenv.authoring import Safe, Unsafe
from rlenv.sandbox import SandboxOptions, Tier, rank

from .drive.box import Box
from .drive.clock import Clock
from .drive.runs import Runs
from .programs import known_language
from .soundness import check_tests
from .spec import PREFIXES, Tests

__all__ = ["WALL", "Boxed", "names_tuple"]

WALL = 30  # times a limit, in wall time: so long may a program run on a busy machine


def names_tuple(names: Iterable[Any]) -> tuple[str, ...]:
    """Converter of an option that is a list of names.

    Raises:
        ConfigError: it is none.
    """
    made = () if isinstance(names, str) else tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in made):
        raise ConfigError(f'expected a list of names, as ["os"], not {names!r}')
    return made


def _memory(_: object, __: Attribute[int], value: int) -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    if not 16 <= value <= machine:
        raise ConfigError(f"memory_mb is from 16 to the machine's {machine}, not {value}")


def _doc(text: str) -> dict[str, Any]:
    return {"doc": text}


@frozen(kw_only=True)
class Boxed(SandboxOptions):
    """The options of a stage that runs programs."""

    budget: float = field(
        default=25.0,
        validator=validators.gt(0),
        metadata=_doc(
            "seconds for one response on its programs' clocks; the slot's timeout follows from it,"
            " and a shorter one is an error"
        ),
    )
    memory_mb: int = field(default=512, validator=_memory, metadata=_doc("MiB for one program"))
    language: Safe[str | None] = field(
        default=None,
        validator=known_language,
        metadata=_doc("the language of tasks that do not set one"),
    )
    prefix: str = field(
        default="none",
        validator=validators.in_(PREFIXES),
        metadata=_doc(
            "prompt: put the task's prompt before the program of a response that goes on from it"
        ),
    )
    preload: Unsafe[tuple[str, ...]] = field(
        default=(),
        converter=names_tuple,
        metadata=_doc("modules that are imported before a Python program starts"),
    )
    retries: int = field(
        default=2,
        validator=[validators.ge(0), validators.le(10)],
        metadata=_doc("number of retries if the sandbox fails"),
    )

    @property
    def default_timeout(self) -> float:
        """Wall seconds: 30 times its own budget, after as long for the program in the second place.

        A program is stopped long before that, by its own clock, unless the machine is too busy to
        tell.
        """
        return 2 * WALL * self.budget

    @property
    def default(self) -> str:
        """The language the language of tasks that do not set one."""
        return self.language or "python"

    def tier(self, runs: Runs) -> Tier:
        """The weakest tier that anything ran in."""
        return runs.tier or self.chosen.at_least

    def sound(self, task: Task) -> Tests:
        """The tests of a task, which can be run here.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        tests = check_tests(task, self.default)
        lacks = self.chosen.lacks(tests.min_isolation)
        if lacks:
            raise TaskError(f"info.tests.{lacks}", task.id)
        return tests

    def runs(self, tests: Tests) -> Runs:
        """Places in the sandbox for one response."""
        wanted = max(tests.min_isolation or self.min_isolation, self.min_isolation, key=rank)
        box = Box(
            isolation=self.isolation,
            options=self.sandbox,
            min_isolation=wanted,
            memory_mb=tests.limits.memory_mb or self.memory_mb,
            budget=self.budget,
            preload=self.preload,
        )
        return Runs(box, Clock(self.budget), self.budget, self.retries)

    def reference(self, runs: Runs) -> Runs:
        """Runs of the task's own programs, with a budget that no response can use up."""
        return Runs(runs.box, Clock(self.budget), runs.timeout, runs.retries)
