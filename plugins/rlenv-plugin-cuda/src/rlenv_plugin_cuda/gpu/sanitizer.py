"""What compute-sanitizer finds in an answer's launches: races, barriers and accesses, on a sample,
as a cross-check.

The tool watches a process that launches; nothing of an answer runs in it but device code.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from rlenv_plugin_cuda.cases import Case

from .backend import inputs_of
from .device import LIBRARY, absent
from .objects import Objects

__all__ = ["TOOLS", "Finding", "findings", "lines_of", "missing", "sanitized"]

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
REMEDY = (
    "pip install nvidia-cuda-sanitizer-api, or install a CUDA toolkit, and put compute-sanitizer on"
    " PATH"
)
SECONDS = 120.0
MOST = 50  # findings of one tool
_LINE = re.compile(r"^========= (?P<text>\S.*)$", re.M)
_KINDS = (
    ("race", re.compile(r"race reported|hazard", re.I)),
    ("bounds", re.compile(r"Invalid __\w+__ (?:read|write|atomic)|is out of bounds", re.I)),
    ("barrier", re.compile(r"Barrier error|Divergent thread", re.I)),
    ("uninitialized", re.compile(r"Uninitialized __\w+__", re.I)),
    ("trap", re.compile(r"unspecified launch failure|illegal instruction|misaligned", re.I)),
)


@frozen
class Finding:
    """One complaint.

    Args:
        tool: of ``TOOLS``.
        kind: "race", "bounds", "barrier", "uninitialized" or "trap".
        said: the tool's line.
    """

    tool: str
    kind: str
    said: str


def missing() -> str:
    """ "" or why nothing is sanitized here, with the remedy."""
    if absent():
        return absent()
    return "" if shutil.which("compute-sanitizer") else f"compute-sanitizer is not here; {REMEDY}"


def findings(tool: str, report: str) -> tuple[Finding, ...]:
    """The complaints of a report, in order.

    Lines of other kinds, such as sums and places, are left out.

    Args:
        tool: of ``TOOLS``.
        report: what it wrote.
    """
    found = []
    for match in _LINE.finditer(report):
        text = match["text"].strip()
        if "SUMMARY" in text:
            continue
        kind = next((name for name, shape in _KINDS if shape.search(text)), "")
        if kind:
            found.append(Finding(tool, kind, text[:200]))
    return tuple(found[:MOST])


def lines_of(ready: Objects, cases: Sequence[Case], seconds: float = SECONDS) -> str:
    """The orders of a process that launches these cases, a line each."""
    orders: list[dict[str, object]] = [
        {"do": "load", "library": LIBRARY, "parts": [image.hex() for image in ready.images]}
    ]
    for place, case in enumerate(cases):
        inputs = inputs_of(case)
        parts = [part.hex() for part in (*inputs, *case.poison)]
        head = {"do": "run", "case": place, "plan": ready.order(place), "seconds": seconds}
        orders.append({**head, "inputs": len(inputs), "parts": parts})
    return "".join(json.dumps(order) + "\n" for order in orders)


async def sanitized(ready: Objects, cases: Sequence[Case], tool: str) -> tuple[Finding, ...]:
    """Launch under a tool.

    Args:
        ready: compiled for this GPU, with a plan for each of the cases.
        cases: small ones: a tool takes ten to a thousand times as long.
        tool: of ``TOOLS``.

    Raises:
        TimeoutError: it took more than ``SECONDS``.
        RuntimeError: the tool did not run: what it said.
    """
    guest = Path(__file__).parents[1] / "guest"
    with tempfile.TemporaryDirectory() as folder:
        orders = Path(folder) / "orders"
        orders.write_text(lines_of(ready, cases), encoding="utf-8")
        code = (
            f"import sys; sys.path.insert(0, {str(guest)!r}); import gpu_serve;"
            f" gpu_serve.replay({str(orders)!r})"
        )
        words = ["compute-sanitizer", "--tool", tool, sys.executable, "-c", code]
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        try:
            out, _ = await asyncio.wait_for(process.communicate(), SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
    report = out.decode("utf-8", "replace")
    found = findings(tool, report)
    if not found and ("SUMMARY" not in report or '"lost"' in report):
        raise RuntimeError(f"compute-sanitizer did not run: {report[-300:]}")
    return found
