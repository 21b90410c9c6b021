"""What goes into a pool and what comes out of it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Protocol, TypeAlias, Union

from attrs import field, frozen

if TYPE_CHECKING:
    from concurrent.futures import Future

# Variables that a worker may see beside those that all see; None: all (``environ.visible_env``).
Env: TypeAlias = Union[tuple[str, ...], None]


class PoolClosed(RuntimeError):
    """Work was handed to a pool after its close."""


@frozen
class Program:
    """What a worker runs: ``runner = factory(blob)``, made once per worker.

    Args:
        factory: "module:function", importable with the caller's ``sys.path``.
        blob: handed to the factory as it is.
    """

    factory: str
    blob: bytes


@frozen
class Done:
    """The runner returned.

    ``value`` is a value of JSON: a tuple arrives as a list, the keys of a dict as text.
    """

    value: object


@frozen
class Failed:
    """The runner did not return.

    Args:
        kind: ``timeout`` (killed at its deadline), ``memory``, ``crash`` (its worker died),
            ``error`` (it raised), ``unsent`` (the payload does not pickle) or ``pool`` (the workers
            themselves could not be run).
        message: one line for an operator.
        mark: of the last ``begin`` before it ended, -1 when there was none.
        partial: what ``report.partial`` was last given for this item, else None.
        seconds: wall time of the ``begin`` in force, where its worker was lost or its memory
            exhausted.
        cpu: of a ``timeout``, the CPU seconds that it had used, where these were too many.
    """

    kind: str
    message: str
    mark: int = -1
    partial: object = None
    seconds: float = field(default=0.0, eq=False)
    cpu: float = 0.0


Reply: TypeAlias = Union[Done, Failed]
Replies: TypeAlias = Generator[tuple[int, Reply], None, None]  # with the index of the payload


def refused(kind: str, message: str) -> Future[Reply]:
    """The result of what was never sent."""
    from concurrent.futures import Future

    future: Future[Reply] = Future()
    future.set_result(Failed(kind, message))
    return future


class Report(Protocol):
    """What a runner says while it works on one item."""

    def begin(self, seconds: float, mark: int = 0, cpu: float = 0.0) -> None:
        """A piece of work starts, with ``seconds`` of wall time from now; it replaces the last one.

        ``cpu`` > 0 also allows it that many CPU seconds of the worker and its children; ``cpu`` < 0
        allows -cpu of them, in whatever wall time they take, as long as it is at work for a tenth
        of that.
        """

    def end(self) -> None:
        """The piece is over; until the next one the grace_period of the pool applies."""

    def partial(self, obj: object) -> None:
        """What to hand over should this item die; the last call counts."""
