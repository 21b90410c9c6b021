"""What every script of this folder shares: the values that a verifier may come to, and how a run is
printed.
"""

from __future__ import annotations

import json
import math
import sys
import time
from importlib.metadata import version

from rlenv import Environment, Slot

GROUP = ("right", "wrong", "odd", "wrong")  # the responses to one prompt; the third is the case
CASES = ("None", "nan", "inf", "1e9", "raises", "hangs")
# Seconds; a verifier that never ends would do, but then no framework without a deadline would come
# to an end.
HANG = 3.0
LIMIT = 1.0  # the deadline of rlenv's stage


def value(case):
    """What the verifier returns for the odd response."""
    if case == "raises":
        raise ConnectionError("the sandbox is gone")
    if case == "hangs":
        time.sleep(HANG)
        return 1.0
    return {"None": None, "nan": math.nan, "inf": math.inf, "1e9": 1e9}[case]


def native(response, case):
    """A reward as its author writes it."""
    return value(case) if response == "odd" else float(response == "right")


def verifier(response, info):
    """The same, as a stage of rlenv, in a worker."""
    return native(response, info["case"])


def environment():
    """Made new for each run, so that no worker is warm or worn."""
    return Environment("conformance", [Slot("verifier", verifier, timeout=LIMIT)])


def numbers(values):
    """Numbers as the page shows them."""
    return ", ".join(
        f"{float(value):.4g}".replace("-0", "0", 1) if value == 0 else f"{float(value):.4g}"
        for value in values
    )


def show(case, mode, made):
    """Print what one run came to: ``made()``, or the exception that ended it, and how long it
    took.
    """
    start = time.monotonic()
    try:
        result = made()
    except Exception as error:
        result = f"{type(error).__name__} ends the run"
    waited = time.monotonic() - start
    slow = f" (after {waited:.0f} s)" if case == "hangs" else ""
    print("CELL", json.dumps({"case": case, "mode": mode, "result": f"{result}{slow}"}), flush=True)


def versions(*names):
    found = {name: version(name) for name in names}
    print("VERSIONS", json.dumps({**found, "python": sys.version.split()[0]}), flush=True)
