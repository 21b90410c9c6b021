"""Stages that use a sandbox: the options that they share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen, validators
from rlenv import ConfigError, Task, TaskError
from rlenv.authoring import Unsafe
from rlenv.sandbox import TIERS, rank

from .box import ISOLATIONS, Box
from .choosing import HALVES, NAMES, lacking
from .reading import kernel_of
from .spec import Kernel

__all__ = ["HOSTS", "Boxed", "Running", "free"]

HOSTS = ("plan", "jailed")

_KNOWN_TIERS = {"process": "process", "jail": "jail", "docker": "container", "docker+gvisor": "gvisor"}  # fmt: skip


def free(kernel: Kernel, task: Task) -> None:
    """Refuse languages whose host code is not run.

    Raises:
        TaskError: naming the task and what to do.
    """
    if kernel.lang != "numba":
        raise TaskError(
            f'option host = "jailed" runs host code of numba answers only, not of {kernel.lang}; use host = "plan"',
            task.id,
        )


def _doc(text: str) -> dict[str, Any]:
    return {"doc": text}


@frozen(kw_only=True)
class Boxed:
    """The options of a stage that uses a sandbox; where stages have the same, they share warm processes."""

    isolation: str = field(
        default="jail",
        validator=validators.in_(tuple(ISOLATIONS)),
        metadata={
            **_doc(f"{', '.join(ISOLATIONS)}; process gives no isolation, for trusted kernels"),
            "safe": ("jail", "docker+gvisor"),
        },
    )
    min_isolation: str = field(
        default="jail",
        validator=validators.in_(TIERS),
        metadata={
            **_doc("the weakest tier that is accepted"),
            "safe": ("jail", "gvisor", "microvm"),
        },
    )
    budget: float = field(
        default=10.0,
        validator=validators.gt(0),
        metadata=_doc("seconds of CPU for one response, of which a case gets twice its part"),
    )
    sandbox: Unsafe[Mapping[str, Any]] = field(
        factory=dict, metadata=_doc("options of the sandbox, as a table")
    )

    def __attrs_post_init__(self) -> None:
        tier = _KNOWN_TIERS.get(self.isolation)
        if tier is not None and rank(tier) < rank(self.min_isolation):
            raise ConfigError(
                f"isolation {self.isolation!r} is of tier {tier!r}, less than min_isolation "
                f"{self.min_isolation!r}: choose another isolation, or lower min_isolation "
                "if the kernels are to be trusted"
            )
        if self.sandbox or self.isolation.startswith(
            "docker"
        ):  # told now what cannot be had, not with each verdict
            self.box().sandbox()

    @property
    def default_timeout(self) -> float:
        """Wall seconds: more than 30 times what its programs and compilers may use on their clocks.

        A program is stopped long before that, by its own clock, unless the machine is too busy to tell.
        """
        return 90 * self.budget + 900

    @property
    def at_once(self) -> int:
        """As many as there are places in the sandbox: the others wait where no clock runs."""
        given = os.environ.get("RLENV_SANDBOX_SLOTS", "")
        return int(self.sandbox.get("places") or (given.isdecimal() and int(given)) or 2)

    def box(self) -> Box:
        """Where this stage's programs run."""
        return Box(self.isolation, self.sandbox, self.min_isolation, self.budget)


@frozen(kw_only=True)
class Running(Boxed):
    """The options of a stage that runs answers."""

    backend: str = field(
        default="auto",
        validator=validators.in_(NAMES),
        metadata=_doc(f"{', '.join(NAMES)}; auto: what finds most, by language and size"),
    )
    small: int = field(
        default=1 << 14,
        validator=validators.ge(1),
        metadata=_doc(
            "elements of a case up to which auto interprets it, or runs it on the CPU where there is a GPU too"
        ),
    )

    def runnable(self, task: Task) -> Kernel:
        """The kernel of a task, which the demanded backend can run here.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        kernel = kernel_of(task)
        problem = "" if self.backend == "auto" else lacking(kernel.lang, self.backend)
        if self.backend == "cpu" and kernel.halves:
            problem = HALVES
        if problem:
            raise TaskError(
                f"option backend = {self.backend!r} is demanded and cannot be had: {problem}",
                task.id,
            )
        return kernel
