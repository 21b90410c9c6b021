"""Answers in mathematics, for rlenv: found in a response, read, and compared by meaning.

Stages: ``math/equal`` and ``math/boxed``.  Importing this module imports neither of them.
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
    return {"equal": "rlenv_plugin_math.equal:Equal", "boxed": "rlenv_plugin_math.boxed:Boxed"}


@hookimpl
def rlenv_examples() -> Mapping[str, Sequence[Examples]]:
    """Responses that are surely right and surely wrong."""
    from .examples import examples

    return examples()


@hookimpl
def rlenv_rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Ways to say the same, and ways to say something else."""
    from .rewrites import rewrites

    return rewrites()


@hookimpl
def rlenv_attacks() -> Mapping[str, Sequence[Attack]]:
    """Responses that try to be paid without an answer."""
    from .attacks import attacks

    return attacks()
