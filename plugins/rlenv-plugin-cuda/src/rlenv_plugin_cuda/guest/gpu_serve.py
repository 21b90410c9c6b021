"""Answers on a GPU, one process and one context an answer: raw output bytes and times go back,
never a verdict.

Frames are JSON + NUL + bytes, each list of sizes in the JSON counts what lies behind:

    {"do": "about", "library": …}                                     -> {"about": {…}}
    {"do": "load", "library": …, "sizes": […]} + objects              -> {"ready": 1}
    {"do": "run", "case": n, "plan": …, "inputs": k, "sizes": […]}    -> {"case": n} + outputs, or
    {"broken", "said"} {"do": "time", …}                                                 -> {"runs",
    "sets", "sizes", "bandwidth"} + outputs
"""

from __future__ import annotations

import json
import os

import kernel_wire
from gpu_driver import Driver, Lost, Trap
from gpu_machine import Broken, Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["answered", "replay", "serve"]


def serve() -> None:
    """Answer until the channel ends, or a context is lost."""
    os.environ["CUDA_MODULE_LOADING"] = "EAGER"  # nothing is loaded while a clock runs
    state: dict[str, Any] = {}
    while (frame := kernel_wire.read()) is not None:
        text, _, body = frame.partition(b"\0")
        order = json.loads(text)
        head, parts = answered(state, order, kernel_wire.cut(body, order.get("sizes", ())))
        kernel_wire.say(head, parts)
        if "broken" in head or "lost" in head:
            os._exit(0)  # a context after a trap is of no use, and one that hangs cannot be closed


def replay(path: str) -> None:
    """Answer the orders of a file, one line each and bytes in hexadecimal digits: for a tool that
    watches a process.
    """
    state: dict[str, Any] = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            order = json.loads(line)
            head, _ = answered(state, order, [bytes.fromhex(part) for part in order["parts"]])
            print(json.dumps(head))


def answered(
    state: dict[str, object], order: dict[str, object], parts: Sequence[bytes]
) -> tuple[dict[str, Any], Sequence[bytes]]:
    """What is said to one order."""
    try:
        if "machine" not in state:
            state["machine"] = Machine(Driver(order["library"]))
        return _done(state["machine"], state, order, parts)
    except Broken as broken:
        return {"broken": broken.what, "said": broken.said[:300]}, ()
    except Trap as trap:
        return {"broken": "trap", "said": str(trap)[:300]}, ()
    except Lost as lost:
        return {"lost": str(lost)[:300]}, ()


def _done(
    machine: Machine, state: dict[str, Any], order: dict[str, Any], parts: Sequence[bytes]
) -> tuple[dict[str, Any], Sequence[bytes]]:
    do = order["do"]
    if do == "about":
        return {"about": machine.driver.about()}, ()
    if do == "load":
        state["images"] = list(parts)
        return {"ready": 1}, ()
    if do == "run":
        count = order["inputs"]
        made = machine.run(
            state["images"], order["plan"], parts[:count], parts[count:], order["seconds"]
        )
        return {"case": order["case"]}, made
    images = state["images"]
    groups = order["sets"]
    sides = [([images[n] for n in side["images"]], side["plans"]) for side in order["sides"]]
    each = len(parts) // groups
    sets = [parts[number * each : (number + 1) * each] for number in range(groups)]
    bandwidth = machine.bandwidth()
    runs, found = machine.timed(sides, sets, order["outputs"], order["sequence"], order["seconds"])
    made = [output for _, outputs in found for output in outputs]
    head = {"runs": runs, "found": [place for place, _ in found], "bandwidth": bandwidth}
    return head, made
