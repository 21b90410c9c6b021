"""Many attempts at once: streams of verdicts, and groups of responses to one task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from operator import attrgetter
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union

from rlenv.compose.stages import Attempt
from rlenv.engine.engine import Evaluation, GroupBarrier, Waited, future_of, run_steps
from rlenv.model.values import Verdict

if TYPE_CHECKING:
    from .executor import CallerExecutor

T = TypeVar("T")
Row: TypeAlias = Union[Attempt, Verdict]  # a verdict where there is nothing to run: an input fault
Evaluate: TypeAlias = Callable[..., Evaluation[Verdict]]  # of an Attempt and maybe an Executor
Numbered: TypeAlias = Iterator[tuple[int, Verdict]]

IN_FLIGHT = 256


def in_order(results: Iterable[tuple[int, T]]) -> Iterator[T]:
    """Numbered results in the order of their numbers, each as soon as it can be."""
    early: dict[int, T] = {}
    wanted = 0
    for index, result in results:
        early[index] = result
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1


def streamed(rows: Iterator[Row], executor: CallerExecutor, evaluate: Evaluate) -> Numbered:
    """Whole attempts through the workers, numbered, as they are done."""
    workers = executor.workers
    assert workers is not None
    flying: dict[int, Row] = {}

    def attempts() -> Iterator[Attempt | None]:
        for index, row in enumerate(rows):
            flying[index] = row
            yield row if isinstance(row, Attempt) else None

    with closing(workers.stream(attempts(), executor.size)) as replies:
        for index, reply in replies:
            row = flying.pop(index)
            if isinstance(row, Verdict):
                yield index, row
            elif getattr(reply, "kind", "") == "unsent":  # it cannot travel whole: by itself
                yield index, run_steps(evaluate(row))
            else:
                workers.learn(row, workers.plan.leaves[0], reply)
                yield index, run_steps(evaluate(row, executor))


def concurrent(
    rows: Iterator[Row], executor: CallerExecutor, evaluate: Evaluate, *, grouped: bool = False
) -> Numbered:
    """Many evaluations in flight, each continued in this thread whenever what it waited for is
    there.

    Left early, it cancels what is still waited for.

    Args:
        rows: what to evaluate.
        executor: where its stages run.
        evaluate: makes the steps of an evaluation.
        grouped: the rows are responses to one task; group stages see all that are still in the
            running.
    """
    ready: SimpleQueue[int] = SimpleQueue()
    flying: dict[int, tuple[Evaluation[Verdict], Waited]] = {}  # with what it waits for
    numbered = enumerate(rows)
    more = True
    try:
        while more or flying:
            if more and (grouped or len(flying) < IN_FLIGHT) and ready.empty():
                index, row = next(numbered, (-1, None))
                if row is None:
                    more = False
                    continue
                if isinstance(row, Verdict):
                    yield index, row
                    continue
                row.grouped = grouped
                steps = evaluate(row, executor)
                value = None
            else:
                if grouped and ready.empty():
                    _judge_group([flying[at][1] for at in sorted(flying)], executor)
                index = ready.get()
                steps, done = flying.pop(index)
                value = future_of(done).result()
            try:
                step = steps.send(value)
            except StopIteration as stop:
                yield index, stop.value
            else:
                flying[index] = steps, step
                future_of(step).add_done_callback(partial(lambda at, _: ready.put(at), index))
    finally:
        for _, step in flying.values():
            future_of(step).cancel()


def _judge_group(waiting: list[Waited], executor: CallerExecutor) -> None:
    """Where all wait for a group, let the first stage that is waited for judge the attempts that
    wait for it.
    """
    barriers = [step for step in waiting if isinstance(step, GroupBarrier)]
    if len(barriers) < len(waiting):
        return
    slot = min((one.slot for one in barriers), key=attrgetter("index"))
    members = [one for one in barriers if one.slot is slot]
    results = executor.check_group(slot, [one.attempt for one in members])
    for one, result in zip(members, results, strict=True):
        one.future.set_result(result)
