"""Stages that actors import by name."""

from __future__ import annotations

import os
import time

import rlenv


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
