"""Notes with which constants a target seeds generators of random numbers; runs in the target's own
process.
"""

from __future__ import annotations

import functools
import os
import random
import sys
import sysconfig
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["noted_seeds", "watch_modules", "watch_random"]

# Modules that a target may have imported, and what of them takes a seed.
OTHERS = {"numpy.random": ("seed", "default_rng", "RandomState"), "torch": ("manual_seed",)}
LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
MOST = 20  # seeds of one response
_NOTED: dict[str, None] = {}


def noted_seeds() -> list[str]:
    """Take the seeds that were noted since the last call."""
    found = list(_NOTED)
    _NOTED.clear()
    return found


def watch_random() -> None:
    """Note seeds of ``random``; before the target is imported, which may bind ``random.seed`` by
    its name.
    """
    seed = random.Random.seed

    @functools.wraps(seed)
    def noting(self: random.Random, a: Any = None, version: int = 2) -> None:
        _note(a)
        seed(self, a, version)

    random.Random.seed = noting  # type: ignore[method-assign]
    random.seed = random._inst.seed


def watch_modules() -> None:
    """Note seeds of the other libraries that the target has imported by now."""
    for module, names in OTHERS.items():
        there = sys.modules.get(module)
        for name in names if there is not None else ():
            original = getattr(there, name, None)
            if isinstance(original, type):  # a class stays one for isinstance
                continue
            if original is not None:
                setattr(there, name, _noting(original))


def _noting(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def noting(*args: Any, **named: Any) -> Any:
        _note(args[0] if args else named.get("seed"))
        return original(*args, **named)

    return noting


def _note(seed: Any) -> None:
    """Of the target's own code: what libraries seed is their affair."""
    if seed is None or len(_NOTED) >= MOST:
        return
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and os.path.basename(frame.f_code.co_filename) == "random.py":
        frame = frame.f_back
    if frame is not None and not frame.f_code.co_filename.startswith(LIBRARIES):
        _NOTED[f"{seed!r}"[:80]] = None
