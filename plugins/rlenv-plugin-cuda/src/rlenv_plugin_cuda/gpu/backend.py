"""Answers on a real GPU, as ``cuda/run`` wants them."""

from __future__ import annotations

from attrs import frozen

from .device import absent

__all__ = ["Gpu"]


@frozen
class Gpu:
    """Launches an answer's kernels on a GPU."""

    name: str = "gpu"

    def usable(self) -> str:
        """ "" or why not: no GPU, or no driver."""
        return absent()
