"""What core itself supplies, as a plugin like any other: exact match and the composites."""

from __future__ import annotations

from attrs import evolve

from .hooks import Examples, hookimpl
from .stages import Stages
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
    from .composites import Slot
    from .equal import Equal

    task = Task("Which city is the capital of France?", "Paris")
    other = Task("Which city is the capital of Italy?", "Rome")
    equal = Examples(
        right=[(task, "Paris"), (task, " Paris\n"), (other, "Rome")],
        wrong=[(task, "paris"), (task, "Paris, France"), (task, ""), (task, "London")],
    )
    two = evolve(equal, options={"slots": [Slot("one", Equal()), Slot("two", Equal())]})
    quorum = evolve(two, options={**two.options, "k": 2})
    names = ("pipeline", "any", "all", "product", "first")
    return {"equal": equal, **dict.fromkeys(names, two), "quorum": quorum}
