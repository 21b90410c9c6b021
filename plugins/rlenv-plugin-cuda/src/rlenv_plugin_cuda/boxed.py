"""Stages that use a sandbox: the options that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen, validators
from rlenv import Task, TaskError
from rlenv.authoring import Unsafe
from rlenv.sandbox import TIERS, Isolation

from .box import Box
from .choosing import HALVES, NAMES, lacking
from .reading import kernel_of
from .spec import Kernel

__all__ = ["HOSTS", "Boxed", "Running", "free"]

HOSTS = ("plan", "jailed")

_READY = ("jail", "process", "remote")  # what they need is looked for when tasks load


def free(kernel: Kernel, task: Task) -> None:
    """Refuse languages whose host code is not run.

    Raises:
        TaskError: naming the task and what to do.
    """
    if kernel.lang != "numba":
        raise TaskError(
            f'option host = "jailed" runs host code of numba answers only, not of {kernel.lang};'
            ' use host = "plan"',
            task.id,
        )


def _doc(text: str) -> dict[str, Any]:
    return {"doc": text}


@frozen(kw_only=True)
class Boxed:
    """The options of a stage that uses a sandbox.

    Where stages have the same, they share warm processes.
    """

    isolation: str = field(
        default="jail",
        validator=validators.instance_of(str),
        metadata={
            **_doc(
                "jail, docker, docker+gvisor, remote, process (no isolation, for trusted kernels),"
                " or the sandbox of another plugin, as plugin/name"
            ),
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
        metadata=_doc(
            "seconds of CPU for one response, of which a case gets twice its part; the slot's"
            " timeout follows from it, and a shorter one is an error"
        ),
    )
    sandbox: Unsafe[Mapping[str, Any]] = field(
        factory=dict, metadata=_doc("options of the sandbox, as a table")
    )

    def __attrs_post_init__(self) -> None:
        self.chosen.check("kernels")
        if (
            self.sandbox or self.isolation not in _READY
        ):  # told now what cannot be had, not with each verdict
            self.box().sandbox()

    @property
    def chosen(self) -> Isolation:
        """The sandbox that the options name."""
        return Isolation(self.isolation, self.sandbox, self.min_isolation)

    @property
    def default_timeout(self) -> float:
        """Wall seconds: what its programs and compilers may take on their clocks, on a busy
        machine.

        A program is stopped long before that, by its own clock, unless the machine is too busy to
        tell.
        """
        from .deadlines import deadline

        return deadline(self.budget)

    @property
    def least_timeout(self) -> float:
        """The same: with a shorter one, a kernel that loops is unscored on a busy machine, and not
        0.
        """
        return self.default_timeout

    @property
    def at_once(self) -> int:
        """As many as there are places in the sandbox: the others wait where no clock runs."""
        return self.chosen.places

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
            "elements of a case up to which auto interprets it, or runs it on the CPU where there"
            " is a GPU too"
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
