"""GPU kernels, for rlenv: compiled, run, compared with a golden model, limited and timed.

Stages: ``cuda/compile``, ``cuda/run``, ``cuda/diff``, ``cuda/limits`` and ``cuda/speed``.
Importing this module imports none of them, and neither numpy, numba, triton nor torch.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import hookimpl

__all__ = ["RLENV_API", "rlenv_stages"]

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
