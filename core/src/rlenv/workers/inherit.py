"""What a worker inherited from its caller; in any other process, nothing."""

from __future__ import annotations

SECRET: bytes | None = None  # set once, by the hello of the pool that started this worker
