"""GPU kernels, for rlenv: compiled, run, compared with a golden model, limited and timed.

Stages: ``cuda/compile``, ``cuda/run``, ``cuda/diff``, ``cuda/limits`` and ``cuda/speed``.
Importing this module imports none of them, and neither numpy, numba, triton nor torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rlenv.hooks import hookimpl

if TYPE_CHECKING:
    from rlenv.hooks import Attack, Examples, Rewrite

__all__ = ["RLENV_API", "rlenv_attacks", "rlenv_examples", "rlenv_rewrites", "rlenv_stages"]

RLENV_API = 1


@hookimpl
def rlenv_stages() -> Mapping[str, str]:
    """The stages, as targets that are imported when they are used."""
    home = "rlenv_plugin_cuda.stages"
    return {
        "compile": f"{home}.compile:Compile",
        "run": f"{home}.run:Run",
        "diff": f"{home}.diff:Diff",
        "limits": f"{home}.limits:Limits",
        "speed": f"{home}.speed:Speed",
    }


@hookimpl
def rlenv_examples() -> Mapping[str, Sequence[Examples]]:
    """Kernels that are surely right and surely wrong."""
    from .examples import examples

    return examples()


@hookimpl
def rlenv_rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Ways to write the same kernels, and ways to write others."""
    from .rewrites import rewrites

    return rewrites()


@hookimpl
def rlenv_attacks() -> Mapping[str, Sequence[Attack]]:
    """Responses that try to be paid without a kernel."""
    from .attacks import attacks

    return attacks()
