"""A case as a frame for a runner, and a runner's word on it as a Trial."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from rlenv_plugin_cuda.artifacts import Launch, Trial
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.numbers import to_bytes

__all__ = ["filled", "order_of", "said_of", "trial_of"]

SAID = 300  # characters


def order_of(place: int, case: Case, **more: object) -> bytes:
    """``{"case", "seed", "inputs", "outputs", "known"}`` + NUL + the bytes of all arrays, in the
    order of ``run``.
    """
    kernel = case.kernel
    values = case.values
    inputs: list[list[Any]] = []
    parts: list[bytes] = []
    for array in kernel.inputs:
        value = values[array.name]
        if array.scalar:
            inputs.append([array.name, array.dtype, None, _scalar(value)])
        else:
            inputs.append([array.name, array.dtype, array.shape(case.sizes)])
            parts.append(to_bytes(value, array.dtype))
    outputs = [[array.name, array.dtype, array.shape(case.sizes)] for array in kernel.outputs]
    head = {
        "case": place,
        "seed": case.seed,
        "inputs": inputs,
        "outputs": outputs,
        "known": kernel.output_init == "zero",
        "contract": False,
        **more,
    }
    return b"\0".join((json.dumps(head).encode(), b"".join([*parts, *case.poison])))


def _scalar(value: Any) -> Any:
    """A float crosses in full: as its hexadecimal form."""
    return float(value).hex() if isinstance(value, float) else int(value)


def said_of(frame: bytes) -> tuple[Mapping[str, Any], bytes]:
    """(what a runner says, the bytes behind it); ({}, b"") for what no runner of ours would say."""
    head, _, body = frame.partition(b"\0")
    try:
        said = json.loads(head)
    except (ValueError, RecursionError):
        return {}, b""
    return (said, body) if isinstance(said, dict) else ({}, b"")


def trial_of(place: int, case: Case, frame: bytes, *, both: bool) -> Trial:
    """What came of a case.

    The runner is ours, and holds untrusted code: whatever is odd is the answer's loss.

    Args:
        place: of the case.
        case: what was run.
        frame: what the runner says of it.
        both: whether it was to be run with and without contraction.
    """
    said, body = said_of(frame)
    launched = tuple(launch for one in _listed(said.get("launched")) if (launch := _launch(one)))
    line, launches, threads, shared = (
        _count(said.get(key)) for key in ("line", "launches", "threads", "shared")
    )
    empty = Trial(
        place,
        None,
        line=line,
        launches=launches,
        threads=threads,
        shared=shared,
        launched=launched,
    )
    sizes = [len(poison) for poison in case.poison]
    if not both:
        return filled(empty, said, body, sizes)
    whole = filled(empty, said, body, sizes * 2)
    if whole.outputs is None:
        return whole
    count = len(sizes)
    return evolve(whole, outputs=whole.outputs[:count], fused=whole.outputs[count:])


def filled(empty: Trial, said: Mapping[str, object], body: bytes, sizes: Sequence[int]) -> Trial:
    """A trial with its outputs, of these sizes in bytes, or with what a runner says broke it."""
    if "broken" in said:
        what = str(said["broken"])[:40] or "error"
        words = str(said.get("said", ""))[:SAID]
        return evolve(empty, broken=what, said=words)
    if said.get("case") != empty.case or len(body) != sum(sizes):
        return evolve(empty, broken="lost", said="no outputs of the right size came back")
    outputs = []
    start = 0
    for size in sizes:
        outputs.append(body[start : start + size])
        start += size
    return evolve(empty, outputs=tuple(outputs))


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < 1 << 40 else 0


def _listed(value: object) -> list[Any]:
    return value[:64] if isinstance(value, list) else []


def _launch(said: object) -> Launch | None:
    if not isinstance(said, list) or len(said) != 4 or not isinstance(said[1], list):
        return None
    kernel, arguments, shared, threads = said
    return Launch(
        str(kernel)[:100],
        tuple(str(one)[:40] for one in arguments),
        _count(shared),
        _count(threads),
    )
