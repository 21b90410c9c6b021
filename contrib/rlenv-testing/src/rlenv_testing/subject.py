"""A stage under the laws, with its examples and how much is to be tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NoReturn, cast

import pytest
from attrs import define, evolve, field, frozen
from rlenv.compose.stages import attribute, deadline_of
from rlenv.hooks import Attack, Examples, Rewrite
from rlenv.model.errors import RlenvError
from rlenv.model.values import StageResult, Task

from .bench import Bench, Pair, Unchecked

HURRIED = 5.0  # wall seconds for a response that may never end
DRAWN = 100  # examples that Hypothesis draws for a law, unless told otherwise


@frozen
class Effort:
    """How much a law tries.

    Args:
        examples: drawn by Hypothesis for each law.
        seed: what they are drawn with.
        seconds: wall time after which a law draws no more; what it has tried counts.
        patience: seconds that a stage may take for one response; its own deadline when that is
            shorter.
    """

    examples: int = DRAWN
    seed: int = 0
    seconds: float = 8.0
    patience: float = 10.0


@define(eq=False)
class Subject:
    """One stage with one set of examples.

    Args:
        use: ``plugin/short``.
        stage: built with the options of its examples.
        origin: its target's name and options, for a fresh process; None: it is pickled.
        before: stages that make the artifacts it needs.
        number: which of the stage's sets of examples, from 0; None when there is only one.
        others: tasks and responses of unknown worth, where there are few examples.
        command: how ``rlenv check`` was asked for it, where it is not a stage of a plugin.
        made_up: whether even its task is the kit's own.
        counted: examples that the law that runs now has tried.
        unscored: by the kind of fault, how many of them were left unscored; not where the kit broke
            the task.
    """

    use: str
    stage: object
    examples: Examples
    rewrites: Sequence[Rewrite] = ()
    attacks: Sequence[Attack] = ()
    before: Sequence[object] = ()
    origin: tuple[str, Mapping[str, object]] | None = None
    number: int | None = None
    effort: Effort = field(factory=Effort)
    others: Sequence[Pair] = ()
    command: str = ""
    made_up: bool = False
    counted: int = 0
    unscored: Counter[str] = field(factory=Counter)
    memory: dict[str, object] = field(factory=dict)

    @property
    def name(self) -> str:
        return self.use if self.number is None else f"{self.use}[{self.number}]"

    @property
    def right(self) -> list[Pair]:
        return [(task, response) for task, response in self.examples.right]

    @property
    def wrong(self) -> list[Pair]:
        return [(task, response) for task, response in self.examples.wrong]

    @property
    def tasks(self) -> list[Task]:
        """The tasks of the examples, each once."""
        return once([task for task, _ in (*self.right, *self.wrong, *self.others)])

    @property
    def mixture(self) -> list[Pair]:
        """Right and wrong examples by turns, then others, at most 40."""
        turns = [pair for two in zip(self.right, self.wrong, strict=False) for pair in two]
        rest = [pair for pair in (*self.right, *self.wrong) if not any(pair is t for t in turns)]
        return [*turns, *rest, *self.others][:40]

    @property
    def bench(self) -> Bench:
        """The stage in its environment; where no environment takes it, the law is not checked."""
        return self._built("bench", self.effort.patience)

    @property
    def patient(self) -> Bench:
        """The same under the stage's own deadline, where that is longer than the patience of the
        kit.
        """
        own = self._own
        return self.bench if own <= self.effort.patience else self._built("patient", own)

    @property
    def _own(self) -> float:
        """Its own deadline; 0 where an inline stage has none."""
        inline = getattr(self.stage, "where", "worker") == "inline"
        none = inline and attribute(self.stage, "default_timeout") is None
        return 0.0 if none else deadline_of(self.stage)

    @property
    def hurried(self) -> Bench:
        """The same under a deadline that leaves time to try many responses that may never end."""
        return self.patient if self._own <= HURRIED else self._built("hurried", HURRIED)

    def _built(self, name: str, patience: float) -> Bench:
        if name not in self.memory:
            try:
                self.memory[name] = Bench(
                    self.stage,
                    [*self.right, *self.wrong, *self.others],
                    before=self.before,
                    patience=patience,
                )
            except RlenvError as err:
                self.memory[name] = err
        found = self.memory[name]
        if isinstance(found, RlenvError):
            self._not_taken(found)
        assert isinstance(found, Bench)
        return found

    def _not_taken(self, error: RlenvError) -> NoReturn:
        """Report a stage that no environment takes: as unchecked by the first law that asks,
        skipped by the others.

        Raises:
            Unchecked: the first time, so that a check of such a stage never succeeds.
        """
        why = f"no environment takes this stage: {str(error).splitlines()[0]}"
        if "not-taken" in self.memory:
            pytest.skip(why)
        self.memory["not-taken"] = why
        raise Unchecked(why)

    @property
    def level(self) -> float:
        """What a wrong response may earn: the most that a wrong example earns without passing."""
        if "level" not in self.memory:
            outcomes = [result.outcome for result in self.bench.results(self.wrong)]
            scores = [outcome.score for outcome in outcomes if outcome is not None]
            self.memory["level"] = max((s for s in scores if s < self.bench.gate), default=0.0)
        return cast("float", self.memory["level"])

    def pays(self, task: Task, response: str) -> bool:
        """Whether it earns more than a wrong example does."""
        outcome = self.result(task, response).outcome
        return outcome is not None and outcome.score > self.level

    def passes(self, task: Task, response: str, like: Task | None = None) -> bool:
        return self.bench.passes(task, response, like)

    def result(self, task: Task, response: str, like: Task | None = None) -> StageResult:
        found = self.bench.result(task, response, like)
        return found if like is not None else self.noted(found)

    def noted(self, found: StageResult) -> StageResult:
        """The same; an unscored one is counted."""
        if found.fault is not None:
            self.unscored[found.fault.kind] += 1
        return found

    def close(self) -> None:
        for name in ("bench", "hurried", "patient"):
            bench = self.memory.pop(name, None)
            if isinstance(bench, Bench):
                bench.close()


def once(tasks: Sequence[Task]) -> list[Task]:
    found: list[Task] = []
    for task in tasks:
        if task not in found:
            found.append(task)
    return found


def with_answer(task: Task, other: Task) -> Task:
    """``task`` with what the verifier knows of ``other``."""
    return evolve(task, answer=other.answer, info=other.info)
