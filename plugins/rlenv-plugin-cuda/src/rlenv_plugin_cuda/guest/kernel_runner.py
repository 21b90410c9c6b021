"""Runs an answer on inputs, inside the sandbox: raw output bytes go back, and what the kernel did
wrong.

Frames in lockstep; the judge sends

    {"source": text, "limits": {…}}    once
    {"case": n, "seed": …, "cpu_s": seconds, "inputs": […], "outputs": […]} + NUL + the bytes of all
    arrays

and hears ``{"ready": 1}`` or ``{"refused": …, "line": n}``, then for each case ``{"case": n, …}`` +
NUL + the outputs' bytes.  Nothing that is said here is a verdict: the judge compares the bytes.
"""

from __future__ import annotations

import json
import math
import random
import signal
import sys

import kernel_rules
import kernel_wire
from kernel_memory import Buffer, Clock, Input
from kernel_plan import Host, Worth, follow, of_plan
from kernel_store import SIZES, packed, storage
from kernel_typed import Code
from planning.values import Handle, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any

    from kernel_words import Answer

__all__ = ["Interpreter", "serve"]


class Endless(BaseException):
    """The case used up its time."""


class Interpreter:
    """The machine of this module; others have the same methods.

    Args:
        answer: that keeps the rules.

    Raises:
        Refused: this machine cannot run it.
    """

    def __init__(self, answer: Answer) -> None:
        self.code = Code(answer)
        self.contract = False  # whether the next case rounds `a * b + c` once

    @property
    def fusible(self) -> bool:
        """Whether there is anything to fuse, in what ran so far."""
        return bool(self.code.fusible)

    def array(self, given: Sequence[Any], data: bytes, clock: Clock, mode: str) -> Input:
        """An array of [name, dtype, shape].

        ``mode`` is "read", "known" (its content is its first value) or "poison".
        """
        name, dtype, shape = given
        stored = storage(dtype, math.prod(shape), data)
        if mode == "read":
            return Input(name, dtype, tuple(shape), stored, clock)
        return Buffer(name, dtype, tuple(shape), stored, clock, known=mode == "known")

    def host(self, *given: object) -> Host:
        """What the plan launches with."""
        return Host(*given)

    def taken(self, array: Any) -> bytes:
        """The content of an output."""
        return bytes(packed(array.dtype, array.data))


def serve(machine: Any = Interpreter) -> None:
    """Answer until the channel ends."""
    sys.setrecursionlimit(2000)
    first = kernel_wire.read()
    if first is None:
        return
    order = json.loads(first)
    try:
        answer = kernel_rules.read(order["source"])
        runs = machine(answer)
    except kernel_rules.Refused as refused:
        kernel_wire.say({"refused": refused.said[:300], "line": refused.line})
        return
    except Exception as error:  # noqa: BLE001 - what an answer may bring a machine to
        kernel_wire.say({"refused": f"it cannot be compiled: {type(error).__name__}", "line": 1})
        return
    kernel_wire.say({"ready": 1})
    while (frame := kernel_wire.read()) is not None:
        head, _, body = frame.partition(b"\0")
        kernel_wire.say(*_both(answer, runs, json.loads(head), memoryview(body), order))


def _both(
    answer: Answer,
    runs: Any,
    case: dict[str, object],
    body: memoryview,
    order: dict[str, object],
) -> tuple[dict[str, Any], list[bytes]]:
    """Run a case.

    Where contraction is allowed, with the outputs of both, and twice if there is anything to fuse.
    """
    contract = case.pop("contract", False)
    said, taken = _case(answer, runs, case, body, order)
    if not contract or "broken" in said:
        return said, taken
    if not runs.fusible:
        return said, [*taken, *taken]
    again, fused = _case(answer, runs, {**case, "contract": True}, body, order)
    if "broken" in again:
        return again, []
    return said, [*taken, *fused]


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise Endless


def _case(
    answer: Answer, runs: Any, case: dict[str, Any], body: memoryview, order: dict[str, Any]
) -> tuple[dict[str, Any], list[bytes]]:
    clock = Clock()
    said: dict[str, Any] = {"case": case["case"]}
    arrays, scalars = _arrays(runs, case, body, clock)
    runs.contract = bool(case.get("contract"))
    space = runs.code.space()  # nothing is left of the case before
    kernels = runs.code.kernels(space, contract=runs.contract)
    chance = random.Random(case["seed"])  # noqa: S311 - orders, no secrets
    held = [array for array in arrays if array is not None]
    host = runs.host(kernels, held, order.get("limits") or {}, chance, clock)
    constants = {name: of_plan(space[name]) for name in answer.constants}
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, case["cpu_s"])
    try:
        given = [
            scalars[place] if array is None else Handle(array, array.shape, array.dtype)
            for place, array in enumerate(arrays)
        ]
        follow(answer, host, given, constants, Worth())
        if not host.launches:
            raise Trouble("launch", "no kernel is launched")
    except Trouble as trouble:
        said.update(broken=trouble.what, said=trouble.said[:300], line=trouble.line)
    except Endless:
        said.update(broken="endless", said="the case did not end in its time", line=0)
    except Exception as error:  # noqa: BLE001 - what an answer may bring a machine to
        said.update(broken="error", said=f"{type(error).__name__}: {error}"[:300], line=0)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    said.update(
        launches=host.launches,
        shared=host.most_shared,
        threads=host.most_threads,
        launched=list(host.launched.values())[:64],
    )
    outputs = arrays[len(case["inputs"]) :]
    taken = [] if "broken" in said else [runs.taken(a) for a in outputs if a is not None]
    return said, taken


def _arrays(
    runs: Any, case: dict[str, Any], body: memoryview, clock: Clock
) -> tuple[list[Any], dict[int, Any]]:
    """The arrays in the order of ``run``, None where a scalar stands."""
    arrays: list[Any] = []
    scalars: dict[int, Any] = {}
    place = 0
    for kind in ("inputs", "outputs"):
        mode = "known" if case.get("known") else "poison"
        if kind == "inputs":
            mode = "read"
        for name, dtype, shape, *value in case[kind]:
            if shape is None:
                scalars[len(arrays)] = _scalar(value[0])
                arrays.append(None)
                continue
            much = math.prod(shape) * SIZES[dtype]
            data = bytes(body[place : place + much])
            arrays.append(runs.array((name, dtype, shape), data, clock, mode))
            place += much
    return arrays, scalars


def _scalar(value: object) -> Any:
    return float.fromhex(value) if isinstance(value, str) else value
