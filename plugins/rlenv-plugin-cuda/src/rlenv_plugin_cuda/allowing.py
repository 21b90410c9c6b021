"""What answers may say, held against the rules of their language on the judge's side: reading runs
nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .artifacts import Program
from .programs import Bad

__all__ = ["refused"]

_RULES = {
    "numba": "rlenv_plugin_cuda.guest.kernel_rules",
    "triton": "rlenv_plugin_cuda.lang_triton.rules",
    "cuda": "rlenv_plugin_cuda.lang_cuda.rules",
}


def refused(program: Program) -> Bad | None:
    """The first thing that a program may not say, with the line of the response.

    None where there is none.
    """
    rules: Any = import_module(_RULES[program.lang])
    try:
        rules.read(program.source)
    except rules.Refused as wrong:
        return Bad(wrong.said, program.place(wrong.line))
    except (MemoryError, RecursionError, ValueError) as error:  # however odd it is, it is an answer
        return Bad(f"it cannot be read: {type(error).__name__}", program.line)
    return None
