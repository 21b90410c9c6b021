"""Known ways to be paid for a kernel without writing one; hook ``rlenv_attacks``.

They need nothing but a task, so that any verifier of kernels can be tried with them.  The corpora
of the tests are larger.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rlenv import Task
from rlenv.hooks import Attack

__all__ = ["attacks"]


def attacks() -> Mapping[str, Sequence[Attack]]:
    """Attacks on every stage that runs or reads kernels."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    plans = _made(_numba, data["plans"])
    odd = _made(_numba, data["odd_plans"])
    kernels, stops, endless = (
        _made(_kernel, data[part]) for part in ("kernels", "stops", "endless")
    )
    texts = _made(_text, data["texts"])
    broken = _made(_numba, _UNREADABLE)
    return {
        "compile": [*plans, *broken],
        "run": [*plans, *odd, *stops, *endless, *broken],
        "diff": [*plans, *odd, *kernels, *stops, *texts, *broken],
        "limits": [*broken, *texts],
        "speed": [*plans, *odd, *kernels, *stops, *texts, *broken],
    }


def _made(build: Callable[[str], Callable[[Task], str]], texts: Mapping[str, str]) -> list[Attack]:
    return [Attack(name, build(text)) for name, text in texts.items()]


def _names(task: Task, key: str) -> list[str]:
    kernel: Any = task.info.get("kernel")
    arrays = kernel.get(key) if isinstance(kernel, Mapping) else None
    return [str(array[0]) for array in arrays or ()] or [f"{key[0]}0"]


def _arrays(task: Task) -> list[str]:
    """The inputs that have dimensions; a task without any has its first output twice."""
    kernel: Any = task.info.get("kernel")
    given = kernel.get("inputs") if isinstance(kernel, Mapping) else None
    return [str(array[0]) for array in given or () if len(array) > 2 and array[2]]


def _numba(source: str) -> Callable[[Task], str]:
    """A program with INPUTS, OUTPUTS, IN and OUT in the task's names."""

    def build(task: Task) -> str:
        outputs = _names(task, "outputs")
        text = source.replace("INPUTS", ", ".join(_names(task, "inputs")))
        text = text.replace("OUTPUTS", ", ".join(outputs))
        text = text.replace("IN", (_arrays(task) or outputs)[0]).replace("OUT", outputs[0])
        return f"```python\nfrom numba import cuda\n{text.strip()}\n```"

    return build


def _kernel(body: str) -> Callable[[Task], str]:
    """One kernel over the elements of the first output, of one or two dimensions.

    ITEM is one of them.
    """

    def build(task: Task) -> str:
        kernel: Any = task.info.get("kernel") or {}
        flat = all(len(array[2]) == 1 for array in kernel.get("outputs", ())[:1])
        item = "OUT[i]" if flat else "OUT[i // OUT.shape[1], i % OUT.shape[1]]"
        lines = "\n".join(f"        {line}" for line in body.replace("ITEM", item).split("\n"))
        source = (
            "@cuda.jit\n"
            "def k(INPUTS, OUTPUTS):\n"
            "    i = cuda.grid(1)\n"
            "    if i < OUT.size:\n"
            f"{lines}\n\n"
            "def run(INPUTS, OUTPUTS):\n"
            "    k[(OUT.size + 127) // 128, 128](INPUTS, OUTPUTS)"
        )
        return _numba(source)(task)

    return build


def _text(text: str) -> Callable[[Task], str]:
    return lambda task: text.replace("PROMPT", task.prompt)


_UNREADABLE: Mapping[str, str] = {
    "brackets without end": f"X = {'(' * 20_000}1{')' * 20_000}",
    "signs without end": f"X = {'-' * 50_000}1",
    "powers without end": "X = 9 ** 9 ** 9 ** 9",
    "a shift without end": "X = 1 << 99999999999",
    "a NUL": "X = 1\x00",
    "a lone surrogate": "X = '\ud800'",
    "no body": "def run(INPUTS, OUTPUTS):",
    "a name of another script": "def run(INPUTS, OUTPUTS):\n    ｅxec('1')",
}
