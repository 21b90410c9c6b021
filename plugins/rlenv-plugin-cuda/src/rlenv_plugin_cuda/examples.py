"""Kernels whose worth is sure; hook ``rlenv_examples``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlenv import Task
from rlenv.hooks import Examples

__all__ = ["MATMUL", "SAXPY", "SUM", "VADD", "examples", "fenced"]

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_PROGRAMS: Mapping[str, str] = _DATA["programs"]
_VADD, _STRIDE, _SUM, _SAXPY, _MATMUL, _WIDE = _PROGRAMS.values()
_HEAD = "from numba import cuda, float32\n"
_RULES = (
    "Write numba kernels and run(*inputs, *outputs), which launches them. All arrays are f4; NaN"
    " stays NaN."
)


def _task(name: str) -> Task:
    found = _DATA["tasks"][name]
    kernel = {"lang": "numba", **found["kernel"]}
    return Task(f"{found['prompt']} {_RULES}", info={"kernel": kernel}, id=f"cuda-{name}")


VADD, SAXPY, SUM, MATMUL = map(_task, ("vadd", "saxpy", "sum", "matmul"))


def fenced(source: str) -> str:
    """A response that is this program and nothing else."""
    return f"```python\n{_HEAD}{source.rstrip()}\n```"


def _pairs(task: Task, *sources: str) -> list[tuple[Task, str]]:
    return [(task, fenced(source)) for source in sources]


def _body(statement: str) -> str:
    """vadd with another statement where it writes."""
    return _VADD.replace("o[i] = a[i] + b[i]", statement)


_RIGHT = (
    *_pairs(VADD, _VADD, _STRIDE),
    *_pairs(SAXPY, _SAXPY),
    *_pairs(SUM, _SUM),
    *_pairs(MATMUL, _MATMUL),
    (
        VADD,
        (
            "Each thread adds one element.\n\n"
            f"{fenced(_VADD)}\n\n"
            "The last block is cut off by the guard."
        ),
    ),
)
_STOPS = (  # what is interpreted and has no outputs
    *_pairs(
        VADD,
        _VADD.replace("if i < o.size", "if i <= o.size"),
        _VADD.replace("o[i] = a[i]", "o[0] = a[i]"),
        _body("a[i] = a[i] + b[i]"),
        _VADD.replace("128", "2048"),
    ),
    *_pairs(SUM, _SUM.replace("        cuda.syncthreads()\n        width", "        width")),
    *_pairs(
        MATMUL,
        _MATMUL.replace("        cuda.syncthreads()\n        for j", "        for j"),
    ),
)
_REFUSED = (
    *_pairs(
        VADD,
        "import os\n" + _VADD,
        _VADD.replace("    k[", "    o[0] = 1.0\n    k["),
        "def run(a, b, o):\n    o[:] = a + b",
    ),
    *_pairs(
        VADD,
        _VADD.replace("def run(a, b, o):", "def run(a, b, o)"),
        "import numpy as np\ndef run(a, b, o):\n    np.add(a, b, out=o)",
    ),
    (VADD, "Each thread adds one element."),
    (VADD, ""),
)
_FALSE = (  # what runs and is wrong
    *_pairs(
        VADD, _body("o[i] = a[i] - b[i]"), _body("o[i] = 0.0"), _body("pass"), _body("o[i] = a[i]")
    ),
    *_pairs(
        VADD, _VADD.replace("(o.size + 127) // 128", "1"), _body("o[i] = min(a[i] + b[i], 1e30)")
    ),
    *_pairs(SAXPY, _SAXPY.replace("alpha * x[i]", "x[i]")),
    *_pairs(SUM, _SUM.replace("range(t, x.size", "range(t + 1, x.size")),
    (VADD, f"{fenced(_VADD)}\nOr simply:\n{fenced(_body('o[i] = b[i]'))}"),
)
_MANY = (
    *_pairs(VADD, _VADD.replace("127) // 128, 128", "511) // 512, 512")),
    *_pairs(VADD, "def run(a, b, o):\n    pass"),
)


def examples() -> Mapping[str, Sequence[Examples]]:
    """Right and wrong responses for every stage.

    Those for limits of the compiler are there only where one is installed.
    """
    from .building.toolchain import missing

    limits = [Examples(right=_pairs(VADD, _VADD, _STRIDE), wrong=_MANY, gate_only=True)]
    if not missing("numba"):
        wide = [*_pairs(MATMUL, _WIDE), (MATMUL, "No matrix is multiplied here.")]
        limits.append(Examples(right=_pairs(MATMUL, _MATMUL), wrong=wide, gate_only=True))
    return {
        "compile": [Examples(right=_RIGHT, wrong=_REFUSED, gate_only=True)],
        "run": [
            Examples(
                right=(*_RIGHT, *_FALSE[:2]),
                wrong=(*_STOPS, *_REFUSED),
                options={"budget": 2.0},
                gate_only=True,
            )
        ],
        "diff": [Examples(right=_RIGHT, wrong=(*_FALSE, *_STOPS[:3], *_REFUSED[2:6]))],
        "limits": limits,
        "speed": [
            Examples(
                right=_RIGHT[:2], wrong=(*_FALSE[:3], _STOPS[0]), options={"clock": "rehearsal"}
            )
        ],
    }
