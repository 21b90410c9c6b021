"""What a launch plan needs of whoever follows it: arrays and launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .values import Handle

__all__ = ["Host"]


class Host(Protocol):
    """What a plan asks for."""

    def allocate(self, shape: tuple[int, ...], code: str, fill: float | None) -> Handle:
        """A new array; ``fill`` None leaves it as it comes."""

    def fill(self, array: Handle, value: float) -> None:
        """Every element becomes this."""

    def launch(
        self,
        kernel: str,
        shape: object,
        args: Sequence[object],
        named: Mapping[str, object],
        line: int,
    ) -> None:
        """Run a kernel to its end; ``shape`` is what stood in the brackets."""
