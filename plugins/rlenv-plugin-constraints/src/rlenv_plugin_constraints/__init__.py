"""Verifiable instructions, for rlenv: words, forms, structure, languages and limits that a program can check.

Stages: ``constraints/all``, ``constraints/ifeval``, ``constraints/ast`` and ``constraints/schema``.
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
    return {}
