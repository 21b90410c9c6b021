"""Where a right response has its answer, as far as the audit can be sure of it."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from rlenv.model.values import Task

from .bench import Bench
from .items import place_of
from .programs import program_of
from .solved import text_of
from .target.forms import read

__all__ = ["Place", "places"]


@frozen
class Place:
    """A task, its answer, and the right response around it."""

    task: Task
    before: str
    answer: str
    after: str

    def written(self, answer: str) -> str:
        """The right response with another answer."""
        return f"{self.before}{answer}{self.after}"


def places(bench: Bench) -> Iterator[Place]:
    """The place of the answer in each right response of one text, where it has one.

    Where a task does not state its answer, the place is a guess. It holds only if the response
    without what is there is not paid: else the verifier reads another part of the response.
    """
    if set(bench.archetypes) == {"constraints"}:
        return
    for task, gold in bench.golds.known():
        if not isinstance(read(gold), str) or program_of(gold) is not None:
            continue
        wanted = text_of(task.answer)
        before, own, after = place_of(gold, wanted)
        if not own.strip() or own in before + after:
            continue
        stated = wanted is not None and own == wanted
        if stated or not bench.pays(bench.ask([(task, before + after)])[0]):
            yield Place(task, before, own, after)
