"""Untrusted programs, for rlenv: compiled, run, compared, limited and timed.

Stages: ``code/compile``, ``code/run``, ``code/diff``, ``code/limits``, ``code/style``,
``code/speed`` and ``code/tests``. Importing this module imports none of them.
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
    home = "rlenv_plugin_code.stages"
    return {
        "compile": f"{home}.compile:Compile",
        "run": f"{home}.run:Run",
        "diff": f"{home}.diff:Diff",
        "limits": f"{home}.limits:Limits",
        "style": f"{home}.style:Style",
        "speed": f"{home}.speed:Speed",
        "tests": f"{home}.suite:Tests",
    }


@hookimpl
def rlenv_examples() -> Mapping[str, Sequence[Examples]]:
    """Programs that are surely right and surely wrong."""
    from .examples import examples

    return examples()


@hookimpl
def rlenv_rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Ways to write the same program, and ways to write another."""
    from .rewrites import rewrites

    return rewrites()


@hookimpl
def rlenv_attacks() -> Mapping[str, Sequence[Attack]]:
    """Responses that try to be paid without a program."""
    from .attacks import attacks

    return attacks()
