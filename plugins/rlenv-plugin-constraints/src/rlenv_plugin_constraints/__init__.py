"""Verifiable instructions, for rlenv: words, forms, structure, languages and limits that a program
can check.

Stages: ``constraints/all``, ``constraints/ifeval``, ``constraints/ast`` and ``constraints/schema``.
Importing this module imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlenv.hooks import hookimpl

if TYPE_CHECKING:
    from rlenv.hooks import Attack, Examples, Rewrite

__all__ = [
    "RLENV_API",
    "rlenv_attacks",
    "rlenv_examples",
    "rlenv_parts",
    "rlenv_rewrites",
    "rlenv_stages",
]

RLENV_API = 1


@hookimpl
def rlenv_stages() -> Mapping[str, str]:
    """The stages, as targets that are imported when they are used."""
    home = "rlenv_plugin_constraints.stages"
    return {
        "all": f"{home}.all:All",
        "ifeval": f"{home}.ifeval:IFEval",
        "ast": f"{home}.ast:Ast",
        "schema": f"{home}.schema:Schema",
    }


@hookimpl
def rlenv_parts() -> Mapping[str, Mapping[str, Any]]:
    """Our kinds of constraints; another plugin's are next to them as ``plugin/kind``."""
    from .own_kinds import KINDS

    home = "rlenv_plugin_constraints.kinds"
    return {"constraint": {name: f"{home}.{target}" for name, target in KINDS.items()}}


@hookimpl
def rlenv_examples() -> Mapping[str, Sequence[Examples]]:
    """Responses that surely satisfy what is asked, and such as surely do not."""
    from .samples import examples

    return examples()


@hookimpl
def rlenv_rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Ways to write the same response, and ways to break what it satisfies."""
    from .samples import rewrites

    return rewrites()


@hookimpl
def rlenv_attacks() -> Mapping[str, Sequence[Attack]]:
    """Responses that try to be paid without saying anything."""
    from .samples import attacks

    return attacks()
