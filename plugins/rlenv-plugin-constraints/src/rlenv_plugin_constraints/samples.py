"""What the hooks tell of the stages: examples, rewrites and attacks of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlenv.hooks import Attack, Examples, Rewrite

__all__ = ["attacks", "examples", "rewrites"]


def examples() -> Mapping[str, Sequence[Examples]]:
    """Right and wrong responses of every stage."""
    from . import examples_all, examples_ast, examples_ifeval, examples_schema

    return {
        "all": examples_all.examples(),
        "ifeval": examples_ifeval.examples(),
        "ast": examples_ast.examples(),
        "schema": examples_schema.examples(),
    }


def rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Rewrites that keep what a response satisfies, and such as break it."""
    from . import rewrites

    return {"all": rewrites.rewrites(), "ifeval": rewrites.keeping()}


def attacks() -> Mapping[str, Sequence[Attack]]:
    """Known exploits of checkers of instructions."""
    from . import attacks

    every = attacks.attacks()
    return {"all": every, "ifeval": every, "ast": attacks.fixed(), "schema": attacks.fixed()}
