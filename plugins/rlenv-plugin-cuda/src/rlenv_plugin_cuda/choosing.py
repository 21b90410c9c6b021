"""Which backend runs a case: what a task's language has, what is installed, and how large the case
is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol

from rlenv import Fault, VerifierFault

from .artifacts import Program, Runs
from .box import Box
from .cases import Case
from .spec import Kernel

__all__ = ["BACKENDS", "NAMES", "Backend", "backend", "chosen", "lacking"]

_HOME = "rlenv_plugin_cuda"
BACKENDS: Mapping[str, Mapping[str, str]] = {
    "numba": {
        "interpreter": f"{_HOME}.backends.interpreter:Interpreter",
        "njit": f"{_HOME}.backends.njit:Njit",
        "gpu": f"{_HOME}.gpu.backend:Gpu",
    },
    "triton": {
        "triton": f"{_HOME}.lang_triton.backend:Triton",
    },
    "cuda": {
        "cpu": f"{_HOME}.lang_cuda.backend:Cpu",
        "gpu": f"{_HOME}.gpu.backend:Gpu",
    },
}
AUTO: Mapping[
    str, Sequence[str]
] = {  # what finds most, and what runs larger cases; a device finds no race that it wins
    "numba": ("interpreter", "njit"),
    "triton": ("triton",),
    "cuda": ("cpu", "gpu"),
}
HALVES = "CUDA C++ kernels on arrays of float16 and bfloat16 run on a GPU only"
NAMES = ("auto", *dict.fromkeys(name for names in BACKENDS.values() for name in names))


class Backend(Protocol):
    """One way to run an answer."""

    @property
    def name(self) -> str:
        """As verdicts have it."""

    def usable(self) -> str:
        """ "" or why it cannot be used here, with the remedy."""

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:
        """Every case, in order; lines count within the program.

        Raises:
            VerifierFault: the machine broke, not the answer.
        """


@cache
def backend(lang: str, name: str) -> Backend:
    """The backend of this name, made once."""
    module, _, attribute = BACKENDS[lang][name].partition(":")
    made: Backend = getattr(import_module(module), attribute)()
    return made


def lacking(lang: str, name: str) -> str:
    """Why a language's kernels cannot be run by this backend here; "" where they can."""
    if name == "auto":
        found = [lacking(lang, each) for each in AUTO[lang]]
        return "" if "" in found else "; ".join(found)
    if name not in BACKENDS[lang]:
        others = ", ".join(BACKENDS[lang])
        return f"backend {name!r} runs no {lang} kernels; for these there are {others}"
    try:
        return backend(lang, name).usable()
    except ModuleNotFoundError as err:
        return f"backend {name!r} needs {err.name}, which is not installed"


def chosen(
    lang: str, name: str, cases: Sequence[Case], small: int
) -> list[tuple[Backend, list[int]]]:
    """Backends and the places of the cases that each of them runs.

    Args:
        lang: of the kernels.
        name: of ``NAMES``; "auto": what finds most of what is here, and by size.
        cases: what is to be run.
        small: elements of a case up to which it is interpreted.

    Raises:
        VerifierFault: no backend is here that could (kind "unavailable", with the remedy).
    """
    problem = lacking(lang, name)
    if problem:
        raise VerifierFault(Fault("unavailable", f"not run: {problem}"))
    everything = list(range(len(cases)))
    if name != "auto":
        return [(backend(lang, name), everything)]
    first = AUTO[lang][0]
    last = AUTO[lang][-1]
    large = [
        place
        for place, case in enumerate(cases)
        if case.elements > small or (lang == "cuda" and case.kernel.halves)
    ]
    if lacking(lang, first):
        large = everything
    elif first == last or lacking(lang, last):
        large = []
    rest = [place for place in everything if place not in set(large)]
    parts: Sequence[tuple[str, list[int]]] = ((first, rest), (last, large))
    return [(backend(lang, each), places) for each, places in parts if places]
