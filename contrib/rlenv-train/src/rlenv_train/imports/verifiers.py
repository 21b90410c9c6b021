"""``train/verifiers``: a rubric of verifiers before 0.2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from attrs import field, frozen
from rlenv import Attempt, ConfigError, Outcome
from rlenv.authoring import Unsafe

from .imported import Imported, called, completion_of, number_of, settled

if TYPE_CHECKING:
    from verifiers import Rubric
    from verifiers.types import State


@frozen(slots=False)
class Verifiers(Imported):
    """The weighted sum of the functions of a rubric of verifiers before 0.2, or of its
    environment's rubric.

    There, a function that raises counts as 0.  Here it is a fault, unless its weight is 0.  What
    each function returned is private data.

    Args:
        function: returns a rubric or an environment, as ``load_environment`` does, and is called
            once in each worker; written as ``package.module:name`` or ``./file.py:name``.
        arguments: what it is called with.
    """

    requires: ClassVar[tuple[str, ...]] = ("package:verifiers.types",)

    function: Callable[..., object]
    arguments: Unsafe[Mapping[str, object]] = field(factory=dict)

    def check(self, attempt: Attempt) -> Outcome | None:
        """The weighted sum of the rewards."""
        from verifiers.types import State

        task = attempt.task
        row = {
            "prompt": task.messages,
            "answer": task.answer,
            "info": dict(task.info),
            "example_id": 0,
        }
        state = State(
            input=row, completion=completion_of(attempt), task={}, timing={}, trajectory=[]
        )
        found = [row for rubric in self._rubrics for row in _rewards(rubric, state)]
        lacks = any(weight and reward is None for _, weight, reward in found)
        total = None if lacks else sum(weight * (reward or 0.0) for _, weight, reward in found)
        return self.outcome(total, {name: reward for name, _, reward in found})

    @cached_property
    def _rubrics(self) -> list[Rubric]:
        rubric = getattr(made := settled(self.function(**self.arguments)), "rubric", made)
        rubrics = [*getattr(rubric, "rubrics", [rubric])]  # of a RubricGroup
        if any(one.has_group_rewards or not one.funcs for one in rubrics):
            raise ConfigError("a rubric needs functions, none of which compares responses")
        weights = [weight for one in rubrics for weight in one.weights]
        if (low := sum(weight for weight in weights if weight < 0)) < 0 <= self.scale[0]:
            raise ConfigError(
                f"a weight is negative: set scale = [{low:g}, {sum(weights) - low:g}] in options"
            )
        return rubrics


def _rewards(rubric: Rubric, state: State) -> Iterator[tuple[str, float, float | None]]:
    """Name, weight and reward of each function, in order; None also for one of weight 0 that
    raises.
    """
    for function, weight in zip(rubric.funcs, rubric.weights, strict=True):
        reward = None
        with nullcontext() if weight else suppress(Exception):
            reward = number_of(called(function, rubric.score_objects(state)))
        yield getattr(function, "__name__", repr(function)), weight, reward
