"""Stages that actors import by name."""

from __future__ import annotations

import gc
import os
import time
import weakref

import attrs
import rlenv

ALIVE: weakref.WeakSet[object] = weakref.WeakSet()


@rlenv.stage(where="inline")
def right(response, answer):
    return response == answer


@rlenv.stage(where="inline")
def slow(response, answer):
    """5 ms a response, so that a node can be lost in the middle."""
    time.sleep(0.005)
    return response == answer


def worker(response, answer):
    return rlenv.Outcome(float(response == answer), f"pid {os.getpid()}", private={"gold": answer})


@rlenv.stage(where="inline", draws=True)
def drawn(attempt):
    return attempt.key()[0] / 255


async def deadly(response):
    """Runs in the caller's process, which is the actor; a real verifier may crash it as well."""
    if response.startswith("die"):
        os._exit(9)
    return 1.0


deadly = rlenv.stage(where="caller")(deadly)


@rlenv.stage(where="inline")
def noted(response, answer):
    """0.4 s a response, noted in the file that the answer names."""
    time.sleep(0.4)
    with open(answer, "a") as file:
        file.write("x")
    return 1.0


@attrs.frozen
class Final:
    """A state in which an episode ended."""

    status: str


@rlenv.stage(where="inline", takes=(Final,))
def closed(attempt):
    found = attempt.find(Final)
    return found is not None and found.status == "closed"


class Versioned:
    """A stage of a version, as a rubric that evolves: it tells how many others are in its
    process.
    """

    where = "caller"

    def __init__(self, version):
        self.version = version
        ALIVE.add(self)

    def __reduce__(self):
        return Versioned, (self.version,)

    async def check(self, attempt):
        gc.collect()
        return rlenv.Outcome(1.0, data={"alive": len(ALIVE), "pid": os.getpid()})
