"""The options that shape a run of ``rlenv score``."""

from __future__ import annotations

from attrs import frozen
from rlenv import RowExecutor


@frozen
class Wishes:
    """The options that shape a run."""

    workers: int | None
    grouped: bool
    limit: int | None
    resume: bool
    retry: bool
    quiet: bool
    on: RowExecutor | None = None
