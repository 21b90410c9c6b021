"""What an engine has done and does now, as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock
from time import perf_counter
from typing import Literal, TypeAlias

from attrs import evolve, field, frozen
from rlenv import Verdict

Origin: TypeAlias = Literal["verified", "repeated", "cached"]


@frozen
class Metrics:
    """Numbers of an engine, since it was made or since an earlier snapshot.

    Attributes:
        batches: finished calls of ``evaluate_many`` and the like, and of ``evaluate_group``.
        verified: responses that stages judged.
        repeated: responses that equal another one of their batch and got its verdict.
        cached: responses whose verdict came from the cache.
        unscored: responses without a reward.
        active_seconds: wall time in which at least one response was being verified.
        stage_seconds: path of a stage → wall seconds that it took, over all responses that it judged.
        bound: batches that took longer than ``step_seconds``.
        cache_errors: reads and writes of the cache that failed. No verdict is lost by one.
        queued: submitted responses that wait now.
        running: submitted responses that are being verified now.
        workers: worker processes that stages have at most.
    """

    batches: int = 0
    verified: int = 0
    repeated: int = 0
    cached: int = 0
    unscored: int = 0
    active_seconds: float = 0.0
    stage_seconds: Mapping[str, float] = field(factory=dict)
    bound: int = 0
    cache_errors: int = 0
    queued: int = 0
    running: int = 0
    workers: int = 0

    @property
    def responses(self) -> int:
        return self.verified + self.repeated + self.cached

    @property
    def hit_rate(self) -> float:
        """The share of responses whose verdict came from the cache."""
        return self.cached / (self.responses or 1)

    @property
    def unscored_share(self) -> float:
        return self.unscored / (self.responses or 1)

    @property
    def per_second(self) -> float:
        """Verdicts for each active second."""
        return self.responses / self.active_seconds if self.active_seconds else 0.0

    @property
    def busy(self) -> float:
        """How many stages ran at the same time, on average over the active seconds."""
        return (
            sum(self.stage_seconds.values()) / self.active_seconds if self.active_seconds else 0.0
        )

    def since(self, earlier: Metrics) -> Metrics:
        """What came since an earlier snapshot; ``queued``, ``running`` and ``workers`` as they are now."""
        before = earlier.stage_seconds
        spent = {path: s - before.get(path, 0.0) for path, s in self.stage_seconds.items()}
        counts = {name: getattr(self, name) - getattr(earlier, name) for name in SUMS}
        return evolve(self, **counts, stage_seconds=spent)

    def as_dict(self) -> dict[str, float]:
        """All numbers by name, those of a stage as ``stage_seconds/PATH``: what a logger takes."""
        names = [*SUMS, "queued", "running", "workers", "responses", "per_second", "busy", "hit_rate", "unscored_share"]  # fmt: skip
        spent = {f"stage_seconds/{path}": seconds for path, seconds in self.stage_seconds.items()}
        return {**{name: getattr(self, name) for name in names}, **spent}


SUMS = ("batches", "verified", "repeated", "cached", "unscored", "active_seconds", "bound", "cache_errors")  # fmt: skip


class Recorder:
    """Counts for ``Metrics``; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock, self._active, self._since = Lock(), 0, 0.0
        self._sums: Counter[str] = Counter()
        self._seconds = 0.0
        self._stages: dict[str, float] = {}

    def count(self, name: str) -> None:
        with self._lock:
            self._sums[name] += 1

    def verdict(self, verdict: Verdict, origin: Origin) -> None:
        """Count one response; the time of stages where they judged it."""
        with self._lock:
            self._sums[origin] += 1
            self._sums["unscored"] += verdict.value is None
            for result in verdict.results if origin == "verified" else ():
                self._stages[result.stage] = self._stages.get(result.stage, 0.0) + result.seconds

    def __enter__(self) -> None:
        with self._lock:
            if not self._active:
                self._since = perf_counter()
            self._active += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._active -= 1
            if not self._active:
                self._seconds += perf_counter() - self._since

    def snapshot(self) -> Metrics:
        with self._lock:
            running = perf_counter() - self._since if self._active else 0.0
            return Metrics(
                **self._sums,
                active_seconds=self._seconds + running,
                stage_seconds=dict(self._stages),
            )
