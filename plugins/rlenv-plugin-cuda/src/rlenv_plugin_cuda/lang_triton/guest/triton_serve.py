"""Runs a Triton answer on inputs, inside the sandbox: raw output bytes go back, and what the kernel
did wrong.

Frames as those of the numba runner: ``{"source"}`` once, answered by ``{"ready": 1}`` or
``{"refused",
"line"}``; then per case a head, NUL and the bytes of all arrays, answered likewise.  Nothing said
is a verdict.
"""

from __future__ import annotations

# ruff: noqa: TID252 - of the package only what the judge sends lies beside it
import json
import random
import signal
import warnings
from collections.abc import Iterator
from importlib import import_module
from types import FrameType
from typing import Any

from ...guest import kernel_wire
from ...planning.reading import Plan
from ...planning.values import SIZES, Handle, Refused, Trouble
from ..memory import STORAGE, Buffer, Space
from ..rules import Answer, read
from .triton_functions import built
from .triton_host import Host
from .triton_machine import FILE, machine

np: Any = import_module("numpy")

__all__ = ["rehearse", "serve"]

_SMALL = """
import triton
import triton.language as tl
@triton.jit
def add(a, b):
    return a + b
@triton.jit
def k(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    s = tl.sum(v) + tl.max(v, axis=0) + tl.min(v, axis=0) + tl.reduce(v, 0, add)
    tl.store(o + i, tl.where(v > 0, tl.exp(v) / s, tl.cumsum(v, axis=0)).to(tl.float32), mask=i < n)
    d = tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((16, 16), tl.float32))
    tl.atomic_add(o, tl.sum(tl.sum(d, 1), 0))
def run(x, o):
    k[(triton.cdiv(8, 8),)](x, o, 8, B=8)
"""


def rehearse() -> None:
    """Use everything once, so that no answer waits for it."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    answer = read(_SMALL)
    head = {"seed": 1, "known": True, "inputs": [["x", "f4", [8]]], "outputs": [["o", "f4", [8]]]}
    said, _ = _case(answer, {**head, "case": 0, "cpu_s": 60.0}, bytes(64))
    if "broken" in said and said["broken"] != "race":
        raise RuntimeError(f"Triton's interpreter: {said}")


class Endless(BaseException):
    """The case used up its time."""


def serve() -> None:
    """Answer until the channel ends."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    first = kernel_wire.read()
    if first is None:
        return
    order = json.loads(first)
    try:
        answer = read(order["source"])
    except Refused as refused:
        kernel_wire.say({"refused": refused.said[:300], "line": refused.line})
        return
    kernel_wire.say({"ready": 1})
    signal.signal(signal.SIGVTALRM, _ring)
    while (frame := kernel_wire.read()) is not None:
        head, _, body = frame.partition(b"\0")
        case = json.loads(head)
        said, taken = _case(answer, {**case, "contract": False}, body)
        if case["contract"] and "broken" not in said:
            fused = taken
            if machine().rounding.fusible:
                again, fused = _case(answer, case, body)
                said = again if "broken" in again else said
            taken = [*taken, *fused]
        kernel_wire.say(said, taken)


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise Endless


def _case(answer: Answer, case: dict[str, Any], body: bytes) -> tuple[dict[str, Any], list[bytes]]:
    space = Space(random.Random(case["seed"]))  # noqa: S311 - orders and poison, no secrets
    host = Host(answer, machine(), space)
    machine().rounding.contract = bool(case.get("contract"))
    machine().rounding.fusible = False
    said: dict[str, Any] = {"case": case["case"]}
    outputs: list[Buffer] = []
    signal.setitimer(signal.ITIMER_VIRTUAL, case["cpu_s"])
    try:
        given = list(_arguments(case, body, space, outputs))
        assert answer.plan is not None
        plan = Plan(answer.plan, answer.names, host)
        host.functions = built(answer, machine(), plan.constants)
        plan.run(given)
        if not host.launches:
            raise Trouble("launch", "no kernel is launched")
    except Trouble as trouble:
        line = _line(trouble) or trouble.line
        said.update(broken=trouble.what, said=trouble.said[:300], line=line)
    except Endless:
        said.update(broken="endless", said="the case did not end in its time", line=0)
    except Exception as error:  # noqa: BLE001 - whatever a kernel makes of Triton's interpreter is its own doing
        text = f"{type(error).__name__}: {error}"
        said.update(broken="error", said=text[:300], line=_line(error))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    said.update(
        launches=host.launches, threads=host.threads, launched=list(host.launched.values())[:64]
    )
    return said, [] if "broken" in said else [buffer.data.tobytes() for buffer in outputs]


def _arguments(
    case: dict[str, Any], body: bytes, space: Space, outputs: list[Buffer]
) -> Iterator[Any]:
    """What ``run`` is given, in order."""
    place = 0
    made: list[Any] = []
    for kind in ("inputs", "outputs"):
        for name, code, shape, *value in case[kind]:
            if shape is None:
                made.append(float.fromhex(value[0]) if isinstance(value[0], str) else int(value[0]))
                continue
            if code not in SIZES:
                raise Trouble("type", f"Triton has no arrays of {code}")
            much = int(np.prod(shape, dtype=np.int64)) * SIZES[code]
            data = np.frombuffer(bytearray(body[place : place + much]), STORAGE[code])
            place += much
            output = kind == "outputs"
            known = not output or bool(case.get("known"))
            buffer = Buffer(name, code, data, writable=output, known=known)
            if output:
                outputs.append(buffer)
            made.append(Handle(buffer, shape, code))
    arrays = [handle for handle in made if isinstance(handle, Handle)]
    for handle in space.chance.sample(arrays, len(arrays)):
        assert isinstance(handle.buffer, Buffer)
        space.add(handle.buffer)
    yield from made


def _line(error: BaseException) -> int:
    """The innermost line of the answer on the way to an error."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
