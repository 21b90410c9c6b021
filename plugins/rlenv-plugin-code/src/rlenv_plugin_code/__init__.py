"""Untrusted programs, for rlenv: compiled, run, compared, limited and timed.

Stages: ``code/compile``, ``code/run``, ``code/diff``, ``code/limits``, ``code/speed`` and ``code/tests``.
Importing this module imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import hookimpl

__all__ = ["RLENV_API", "rlenv_stages"]

RLENV_API = 1


@hookimpl
def rlenv_stages() -> Mapping[str, str]:
    """The stages, as targets that are imported when they are used."""
    home = "rlenv_plugin_code.stages"
    return {
        "compile": f"{home}.compile:Compile",
        "run": f"{home}.run:Run",
        "diff": f"{home}.diff:Diff",
        "limits": f"{home}.limits:Limits",
        "speed": f"{home}.speed:Speed",
        "tests": f"{home}.suite:Tests",
    }
