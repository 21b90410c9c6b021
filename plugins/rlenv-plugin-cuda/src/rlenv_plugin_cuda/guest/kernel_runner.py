"""Runs an answer on inputs, inside the sandbox: raw output bytes go back, and what the kernel did wrong.

Frames in lockstep; the judge sends

    {"source": text, "limits": {…}, "cpu_s": seconds}    once
    {"case": n, "seed": …, "inputs": […], "outputs": […]} + NUL + the bytes of all arrays

and hears ``{"ready": 1}`` or ``{"refused": …, "line": n}``, then for each case ``{"case": n, …}`` + NUL + the
outputs' bytes.  Nothing that is said here is a verdict: the judge compares the bytes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys

import kernel_rewrite
import kernel_rules
from kernel_memory import Broken, Buffer, Clock, Input
from kernel_plan import Handle, Host
from kernel_store import SIZES, packed, storage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

__all__ = ["serve"]

CHANNEL = 3
_LENGTH = struct.Struct("<I")


class Endless(BaseException):
    """The case used up its time."""


def _read() -> bytes | None:
    data = b""
    while len(data) < 4:
        more = os.read(CHANNEL, 4 - len(data))
        if not more:
            return None
        data += more
    (left,) = _LENGTH.unpack(data)
    parts = []
    while left:
        more = os.read(CHANNEL, min(left, 1 << 20))
        if not more:
            return None
        parts.append(more)
        left -= len(more)
    return b"".join(parts)


def _write(head: dict[str, Any], body: bytes = b"") -> None:
    data = json.dumps(head).encode() + b"\0" + body
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(CHANNEL, view) :]


def serve() -> None:
    """Answer until the channel ends."""
    sys.setrecursionlimit(2000)
    first = _read()
    if first is None:
        return
    order = json.loads(first)
    try:
        answer = kernel_rules.read(order["source"])
        code = kernel_rewrite.compiled(answer)
    except kernel_rules.Refused as refused:
        _write({"refused": refused.said[:300], "line": refused.line})
        return
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _write({"refused": f"it cannot be compiled: {type(error).__name__}", "line": 1})
        return
    _write({"ready": 1})
    signal.signal(signal.SIGVTALRM, _ring)
    while (frame := _read()) is not None:
        head, _, body = frame.partition(b"\0")
        _write(*_case(answer, code, json.loads(head), memoryview(body), order))


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise Endless


def _case(
    answer: Any, code: CodeType, case: dict[str, Any], body: memoryview, order: dict[str, Any]
) -> tuple[dict[str, Any], bytes]:
    clock = Clock()
    arrays, scalars = _arrays(case, body, clock)
    host = Host(
        {},
        [a for a in arrays if a is not None],
        order.get("limits") or {},
        random.Random(case["seed"]),  # noqa: S311 - orders, no secrets
        clock,
    )
    said: dict[str, Any] = {"case": case["case"]}
    signal.setitimer(signal.ITIMER_VIRTUAL, case.get("cpu_s") or order.get("cpu_s") or 10.0)
    try:
        space = kernel_rewrite.built(code)  # nothing is left of the case before
        host.kernels = {
            name: space[name] for name, f in answer.functions.items() if f.role == "kernel"
        }
        given = [
            scalars[place] if array is None else Handle(array) for place, array in enumerate(arrays)
        ]
        wanted = len(answer.functions["run"].parameters)
        if len(given) != wanted:
            raise Broken("arguments", f"run takes {wanted} arguments, and is given {len(given)}")
        space["run"](host, *given)
        if not host.launches:
            raise Broken("launch", "no kernel is launched")
    except Broken as broken:
        said.update(broken=broken.what, said=broken.said[:300], line=_line(broken))
    except Endless:
        said.update(broken="endless", said="the case did not end in its time", line=0)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NameError,
        RecursionError,
        TypeError,
        ValueError,
        MemoryError,
    ) as error:
        text = f"{type(error).__name__}: {error}"
        said.update(broken="error", said=text[:300], line=_line(error))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    said.update(
        launches=host.launches,
        shared=host.most_shared,
        threads=host.most_threads,
        launched=list(host.launched.values())[:64],
    )
    outputs = arrays[len(case["inputs"]) :]
    return said, b"" if "broken" in said else b"".join(
        packed(a.dtype, a.data) for a in outputs if a is not None
    )


def _arrays(
    case: dict[str, Any], body: memoryview, clock: Clock
) -> tuple[list[Any], dict[int, Any]]:
    """The arrays in the order of ``run``, None where a scalar stands."""
    arrays: list[Input | None] = []
    scalars: dict[int, Any] = {}
    place = 0
    for kind in ("inputs", "outputs"):
        for name, dtype, shape, *value in case[kind]:
            if shape is None:
                scalars[len(arrays)] = _scalar(value[0])
                arrays.append(None)
                continue
            size = 1
            for extent in shape:
                size *= extent
            much = size * SIZES[dtype]
            data = storage(dtype, size, bytes(body[place : place + much]))
            place += much
            if kind == "inputs":
                arrays.append(Input(name, dtype, tuple(shape), data, clock))
            else:
                known = bool(case.get("known"))
                arrays.append(Buffer(name, dtype, tuple(shape), data, clock, known=known))
    return arrays, scalars


def _scalar(value: Any) -> Any:
    return float.fromhex(value) if isinstance(value, str) else value


def _line(error: BaseException) -> int:
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == kernel_rewrite.FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
