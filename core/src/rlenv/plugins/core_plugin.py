"""What core itself supplies, as a plugin like any other: exact match and the composites."""

from __future__ import annotations

from attrs import evolve

from rlenv.compose.composites import COMPOSITES, Slot
from rlenv.hooks import Examples, hookimpl
from rlenv.model.values import Task

RLENV_API = 1


@hookimpl
def rlenv_stages() -> dict[str, object]:
    return {"equal": "rlenv.compose.equal:Equal", **COMPOSITES}


@hookimpl
def rlenv_examples() -> dict[str, Examples]:
    from rlenv.compose.equal import Equal

    task = Task("Which city is the capital of France?", "Paris")
    other = Task("Which city is the capital of Italy?", "Rome")
    wrong = [(task, text) for text in ("paris", "Paris, France", "", "London")]
    equal = Examples([(task, "Paris"), (task, " Paris\n"), (other, "Rome")], wrong)
    two = evolve(equal, options={"slots": [Slot("one", Equal()), Slot("two", Equal())]})
    quorum = evolve(two, options={**two.options, "k": 2})
    return {"equal": equal, **dict.fromkeys(COMPOSITES, two), "quorum": quorum}
