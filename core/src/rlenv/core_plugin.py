"""What core itself supplies, as a plugin like any other: exact match and the composites."""

from __future__ import annotations

from .hooks import Examples, hookimpl
from .stage import Stages
from .values import Task

RLENV_API = 1


@hookimpl
def rlenv_stages() -> Stages:
    return {
        "equal": "rlenv.equal:Equal",
        "pipeline": "rlenv.composites:Pipeline",
        "any": "rlenv.composites:AnyOf",
        "all": "rlenv.composites:AllOf",
        "product": "rlenv.composites:Product",
        "quorum": "rlenv.composites:Quorum",
        "first": "rlenv.composites:First",
    }


@hookimpl
def rlenv_examples() -> dict[str, Examples]:
    task = Task("Which city is the capital of France?", "Paris")
    return {
        "equal": Examples(
            right=[(task, "Paris"), (task, " Paris\n")],
            wrong=[(task, "paris"), (task, "Paris, France"), (task, ""), (task, "London")],
        )
    }
