"""Stages that use a sandbox: the options that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Task, TaskError
from rlenv.authoring import Safe, suggest
from rlenv.sandbox import SandboxOptions

from .box import Box
from .choosing import HALVES, NAMES, lacking
from .reading import kernel_of
from .spec import Kernel

__all__ = ["Boxed", "Running", "is_host"]

# Values of options that were removed, and what to use instead.
_REMOVED_BACKENDS = {
    "simulator": 'numba\'s simulator is no longer a backend; use backend = "interpreter", which'
    " checks all that it did"
}
_REMOVED_HOSTS = {
    "jailed": "host code is no longer run; remove the option, and have responses launch their"
    " kernels by a plan, `def run(*inputs, *outputs)`; code/run verifies host code"
}


def _one_of(names: Sequence[str], removed: Mapping[str, str]) -> Callable[..., None]:
    """An attrs validator: one of `names`; says what replaces a value that was removed."""

    def check(_instance: object, _attribute: object, value: object) -> None:
        if value in names:
            return
        hint = removed.get(value) if isinstance(value, str) else None
        raise ValueError(hint or suggest(str(value), names, what="there are"))

    return check


def _doc(text: str) -> dict[str, Any]:
    return {"doc": text}


is_host = _one_of(("plan",), _REMOVED_HOSTS)  # of the option ``host``


@frozen(kw_only=True)
class Boxed(SandboxOptions):
    """The options of a stage that runs kernels."""

    untrusted: ClassVar[str] = "kernels"

    budget: float = field(
        default=10.0,
        validator=validators.gt(0),
        metadata=_doc(
            "seconds of CPU for one response, of which a case gets twice its part; the slot's"
            " timeout follows from it, and a shorter one is an error"
        ),
    )

    @property
    def default_timeout(self) -> float:
        """Wall seconds: what its programs and compilers may take on their clocks, on a busy
        machine.

        A program is stopped long before that, by its own clock, unless the machine is too busy to
        tell.
        """
        from .deadlines import deadline

        return deadline(self.budget)

    def box(self) -> Box:
        """Where this stage's programs run."""
        return Box(self.isolation, self.sandbox, self.min_isolation, self.budget)


@frozen(kw_only=True)
class Running(Boxed):
    """The options of a stage that runs answers."""

    backend: Safe[str] = field(
        default="auto",
        validator=_one_of(NAMES, _REMOVED_BACKENDS),
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
