"""What an engine did, as numbers by name."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from threading import Lock
from time import perf_counter
from typing import Literal, TypeAlias

from rlenv import Verdict

from rlenv_train.metrics import every_result

Origin: TypeAlias = Literal["verified", "repeated", "cached"]
NAMES = ("batches", "verified", "repeated", "cached", "unscored", "seconds", "verifier_bound")
STAGE = "stage_seconds/"


class Recorder:
    """Sums, safe to use from any thread; as a context manager it measures when something is
    verified.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._active = 0
        self._since = 0.0
        self._sums: defaultdict[str, float] = defaultdict(float, dict.fromkeys(NAMES, 0))

    def verdict(self, verdict: Verdict, origin: Origin) -> None:
        """Count a response, and the time of stages where they judged it."""
        with self._lock:
            self._sums[origin] += 1
            self._sums["unscored"] += verdict.value is None
            for result in every_result(verdict.results) if origin == "verified" else ():
                if not result.children:
                    self._sums[STAGE + result.stage] += result.seconds

    def add(self, name: str) -> None:
        with self._lock:
            self._sums[name] += 1

    def sums(self) -> dict[str, float]:
        """All sums so far."""
        self._tick(0)
        return self._sums.copy()

    def __enter__(self) -> None:
        self._tick(1)

    def __exit__(self, *raised: object) -> None:
        self._tick(-1)

    def _tick(self, change: int) -> None:
        with self._lock:
            now = perf_counter()
            self._sums["seconds"] += now - self._since if self._active else 0.0
            self._since = now
            self._active = self._active + change


def since(sums: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """What was added to earlier sums."""
    return {name: value - before.get(name, 0.0) for name, value in sums.items()}


def numbers(sums: Mapping[str, float]) -> dict[str, float]:
    """Sums, and what follows from them; see ``ScoringEngine.metrics``."""
    responses = sums["verified"] + sums["repeated"] + sums["cached"]
    seconds = sums["seconds"] or math.inf
    return {
        **sums,
        "responses": responses,
        "unscored_share": sums["unscored"] / (responses or 1),
        "hit_rate": sums["cached"] / (responses or 1),
        "per_second": responses / seconds,
        "busy": sum(stage_seconds(sums).values()) / seconds,
    }


def stage_seconds(sums: Mapping[str, float]) -> dict[str, float]:
    """Path of a stage → the seconds that it took."""
    return {name[len(STAGE) :]: s for name, s in sums.items() if name.startswith(STAGE)}
