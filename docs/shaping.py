"""Writes the plots of docs/explanation/shaping.md: what sparse, dense and balanced rewards pay, and
how often a group of rollouts learns from them.  Every reward is computed by a pipeline of rlenv.

    python docs/shaping.py [FOLDER]

A test compares the files with what this writes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from attrs import frozen
from rlenv import Attempt, Environment, Outcome, Pipeline, Slot, Task
from rlenv.compose.composites import Composite

sys.path.insert(0, str(Path(__file__).parent))
from plots import Curve, plot

FOLDER = Path(__file__).parent / "explanation" / "shaping"
TESTS = 10  # of one task
GROUP = 8  # rollouts of one task in a step
TASK = Task("a task with ten tests")


@frozen
class Given:
    """A stage whose score is in the response: ``{"tests": 0.7, "style": 1}`` as ``tests=0.7
    style=1``.
    """

    name: str
    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        scores = dict(pair.split("=") for pair in str(attempt.response).split())
        return Outcome(float(scores[self.name]))


def shapings() -> Mapping[str, Composite]:
    """The three rewards of the page."""
    tests, style, time, errors = (Given(name) for name in ("tests", "style", "time", "errors"))
    return {
        "sparse": Pipeline([Slot("tests", tests, gate=1.0, weight=1.0)]),
        "dense": Pipeline([Slot("tests", tests)]),
        "balanced": Pipeline(
            [
                Slot("errors", errors, penalty=0.2),
                Slot("tests", tests),
                Slot("style", style, bonus=0.2),
                Slot("time", time, penalty=0.1),
            ],
            base=0.8,
        ),
    }


def reward(shaping: Composite, passed: int, style: float, time: float, errors: float) -> float:
    """What a program earns that passes so many of the ten tests."""
    said = f"tests={passed / TESTS} style={style} time={time} errors={errors}"
    return Environment("shaping", shaping).verify(TASK, said)


def paid(name: str) -> str:
    """The reward over the share of tests passed."""
    shaping = shapings()[name]

    def curve(label: str, *, style: float = 1, time: float = 1, crashes: bool = False) -> Curve:
        points = [
            (k / TESTS, reward(shaping, k, style, time, errors=k / TESTS if crashes else 1))
            for k in range(TESTS + 1)
        ]
        return Curve(label, points)

    curves = [curve("any program")]
    if name == "balanced":
        curves = [
            curve("in good style"),
            curve("in bad style", style=0),
            curve("and too slow, and what fails crashes", style=0, time=0, crashes=True),
        ]
    return plot(f"{name}: what is paid", "share of tests passed", "reward", curves)


def learns(name: str) -> Callable[[float], float]:
    """How likely a group's rewards differ, when every test is passed with this probability by
    itself.
    """
    shaping = shapings()[name]
    rewards = [reward(shaping, k, style=1, time=1, errors=1) for k in range(TESTS + 1)]

    def differs(p: float) -> float:
        chance: dict[float, float] = {}
        for k, value in enumerate(rewards):
            weight = math.comb(TESTS, k) * p**k * (1 - p) ** (TESTS - k)
            chance[value] = chance.get(value, 0.0) + weight
        return 1.0 - math.fsum(c**GROUP for c in chance.values())

    return differs


def signal() -> str:
    """That likelihood over the probability, sparse beside dense."""
    steps = [step / 50 for step in range(51)]
    curves = [Curve(name, [(p, learns(name)(p)) for p in steps]) for name in ("sparse", "dense")]
    title = f"a group of {GROUP} teaches something"
    return plot(title, "chance to pass one of ten tests", "probability", curves)


def pictures() -> dict[str, str]:
    """File name → SVG."""
    made = {f"{name}.svg": paid(name) for name in ("sparse", "dense", "balanced")}
    return made | {"signal.svg": signal()}


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pictures().items():
        (folder / name).write_text(text, encoding="utf-8")
