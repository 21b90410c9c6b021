"""The launches of a numba answer and PTX for them, inside the sandbox.

{"source": …, "cases": [as for PTX], "cc": [9, 0]} -> {"kernels": [{"name", "registers"}, …],
"plans": […], as ``kernel_played.Launches`` has them} and the PTX of each.
"""

from __future__ import annotations

import json

import kernel_ptx
import kernel_wire

__all__ = ["serve"]


def serve() -> None:
    """Answer one order."""
    frame = kernel_wire.read()
    if frame is None:
        return
    try:
        head, parts = kernel_ptx.answered(json.loads(frame), full=True)
    except kernel_wire.Broken as broken:
        head = {"broken": str(broken)[:300]}
        parts = []
    head["sizes"] = [len(part) for part in parts]
    kernel_wire.say(head, parts)
