"""The launches of a numba answer and PTX for them, inside the sandbox: ``run`` is played with
arrays without content.

{"source": …, "cases": [as for PTX], "cc": [9, 0]} ->
{"kernels": [{"name", "registers"}, …], "plans": [{"temporaries": [[code, shape], …], "steps":
[[kernel, object, shape, arguments], …]}, …]} and the PTX of each; an argument is ["array", buffer,
code, shape] or [type, text].
"""

from __future__ import annotations

import json
import sys

import kernel_played
import kernel_ptx
import kernel_rules
import kernel_wire
from kernel_numba import aimed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["recorded", "serve"]

CODES = {name: code for code, name in kernel_played.NAMES.items() if code != "bf16"}
NUMBERS = {bool: "bool", int: "int", float: "float", complex: "complex"}


class _Recorder:
    """Launches of one case after another, in full."""

    def __init__(self) -> None:
        self.notes = kernel_played._Notes()
        self.plans: list[dict[str, Any]] = []
        self.handles: list[Any] = []

    def begin(self, arrays: Sequence[object]) -> None:
        self.notes.count = 0
        self.handles = list(arrays)
        self.plans.append({"temporaries": [], "steps": []})

    def noted(self, name: str, shape: object, arguments: Sequence[object]) -> None:
        self.notes.launched(name, arguments)
        key = name, tuple(map(kernel_played._type, arguments))
        number = list(self.notes.asked).index(key)
        given = [self._argument(argument) for argument in arguments]
        self.plans[-1]["steps"].append([name, number, shape, given])

    def _argument(self, argument: Any) -> list[Any]:
        if not isinstance(argument, kernel_played.Handle):
            kind = NUMBERS[type(argument)]
            return [kind, argument.hex() if kind == "float" else repr(argument)]
        places = [n for n, handle in enumerate(self.handles) if handle is argument]
        if not places:
            places = [len(self.handles)]
            self.handles.append(argument)
            self.plans[-1]["temporaries"].append([CODES[argument.dtype], argument.shape])
        return ["array", places[0], CODES[argument.dtype], argument.shape]


class _Launcher:
    def __init__(self, name: str, notes: _Recorder) -> None:
        self.name = name
        self.notes = notes

    def __getitem__(self, shape: object) -> Any:
        return lambda *arguments: self.notes.noted(self.name, shape, arguments)


def recorded(order: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """See the module."""
    sys.setrecursionlimit(10_000)
    try:
        answer = kernel_rules.read(order["source"])
        cuda = aimed(order["cc"])
        space = kernel_ptx._space(answer, cuda)
        notes = _played(answer, space, order["cases"])
        head, parts = kernel_ptx._compiled(
            answer, space, list(notes.notes.asked), tuple(order["cc"])
        )
        return {**head, "plans": notes.plans}, parts
    except (kernel_rules.Refused, kernel_played.Wrong) as wrong:
        return {"refused": wrong.said[:300], "line": wrong.line}, []


def _played(answer: Any, space: dict[str, Any], cases: Sequence[Any]) -> _Recorder:
    notes = _Recorder()
    plan = answer.functions["run"]
    for case in cases:
        if len(case) != len(plan.parameters):
            said = f"run takes {len(plan.parameters)} arguments, and is given {len(case)}"
            raise kernel_played.Wrong(said, plan.node.lineno)
        given = [
            value if shape is None else kernel_played.Handle(kernel_played.NAMES[dtype], shape)
            for dtype, shape, value in case
        ]
        notes.begin([one for one in given if isinstance(one, kernel_played.Handle)])
        here = kernel_played._host(answer, space, notes.notes)
        for function in answer.functions.values():
            if function.role != "plan":
                here[function.name] = _Launcher(function.name, notes)
        try:
            here["run"](*given)
        except kernel_played.Wrong as wrong:
            line = wrong.line or kernel_played._line(wrong)
            raise kernel_played.Wrong(wrong.said, line) from None
        except Exception as error:  # noqa: BLE001 - whatever a plan may raise
            said = f"run: {type(error).__name__}"
            raise kernel_played.Wrong(said, kernel_played._line(error)) from None
        if not notes.notes.count:
            raise kernel_played.Wrong("no kernel is launched", plan.node.lineno)
    return notes


def serve() -> None:
    """Answer one order."""
    frame = kernel_wire.read()
    if frame is None:
        return
    order = json.loads(frame)
    try:
        head, parts = recorded(order)
    except kernel_wire.Broken as broken:
        head = {"broken": str(broken)[:300]}
        parts = []
    head["sizes"] = [len(part) for part in parts]
    kernel_wire.say(head, parts)
