"""The clock of ``cuda/speed``."""

from __future__ import annotations

from attrs import frozen

from .device import absent

__all__ = ["Gpu"]


@frozen
class Gpu:
    """Measures answers on a GPU."""

    def usable(self) -> str:
        """ "" or why not: no GPU, or no driver."""
        return absent()
