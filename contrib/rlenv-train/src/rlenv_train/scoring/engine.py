"""`ScoringEngine`: an environment with what a training run asks of its reward."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import islice
from threading import RLock
from time import perf_counter
from typing import TypeAlias
from weakref import WeakSet

from rlenv import Attempt, ConfigError, Environment, RowExecutor, Task, Verdict
from rlenv.authoring import key_id
from rlenv.compose.stages import attribute
from rlenv.workers import usable_cpus

from rlenv_train.environments import AnyEnvironment, leaves, open_environment
from rlenv_train.mixing import EnvironmentGroup
from rlenv_train.rows import Response, Row

from .budget import advice
from .cache import VerdictCache
from .metrics import Origin, Recorder, numbers, since, stage_seconds
from .queue import SubmitQueue
from .reuse import Key, key_of, lasts, not_reusable

Observer: TypeAlias = Callable[[Mapping[str, float]], object]
Numbered: TypeAlias = tuple[int, Verdict]
Equal: TypeAlias = Mapping[object, Sequence[tuple[int, Row]]]

CHUNK = 16_384  # rows that are read at once
logger = logging.getLogger("rlenv_train")


class ScoringEngine(Environment):
    """An environment for a training run; everything that takes an ``Environment`` takes an engine.

    Its verdicts are those of the environment. Where all stages are deterministic, equal pairs of
    task and response of one batch are verified once, and a cache remembers verdicts. ``submit``
    verifies while the policy writes other responses.

    Example:

        engine = ScoringEngine("env.toml", cache="verdicts.sqlite", step_seconds=10)
        GRPOTrainer(reward_funcs=trl_reward(engine), ...)

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        cache: a file of verdicts for all runs, which is made where there is none; not on a network
            file system.
        reuse: paths of stages that are not deterministic, and whose verdicts may still be used
            again.
        workers: worker processes; None as for ``Environment.evaluate_many``.
        queue: how many submitted responses may wait.
        at_once: how many submitted responses are verified at the same time; by default two for each
            worker, and 64 where a stage runs in the caller's process, as judges do.
        step_seconds: wall seconds that a batch may take; the first that takes longer is a warning
            with a remedy.
        observers: called with the ``metrics`` of each batch when it is done.

    Raises:
        ConfigError: when the environment or an argument makes no sense, or its verdicts cannot be
            cached.
    """

    def __init__(
        self,
        env: AnyEnvironment,
        *,
        cache: str | os.PathLike[str] | None = None,
        reuse: Sequence[str] = (),
        workers: int | None = None,
        queue: int = 1024,
        at_once: int | None = None,
        step_seconds: float | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.env: Environment = open_environment(env)
        self._size = workers
        self._budget = step_seconds
        self._observing = tuple(observers)
        problems = list(not_reusable(self.env, reuse, stored=cache is not None))
        if cache is not None and problems:
            raise ConfigError(*(f"cache: {problem}" for problem in problems))
        self._cache = None if cache is None else VerdictCache(cache)
        self._reusable = not problems
        self._key_id = key_id() if cache else ""
        places = {path: attribute(slot.stage, "where") for path, slot in leaves(self.env)}
        self._in_workers = [path for path in places if workers or places[path] == "worker"]
        self._processes = workers or usable_cpus()
        many = at_once or (64 if "caller" in places.values() else 2 * self._processes)
        self._make_queue = partial(SubmitQueue, self._verified, queue, many)
        self._begin(self._cache)
        ENGINES.add(self)

    def _begin(self, file: VerdictCache | None) -> None:
        """Make what has threads and locks; a forked child has its own, and no cache: SQLite forbids
        that.
        """
        self._telling = RLock()
        self._recorder = Recorder()
        self._queue = self._make_queue()
        self._file = file
        self._before = dict[str, float]()

    def __getattr__(self, name: str) -> object:
        """What an environment holds: its name, tasks, slots and so on."""
        if name == "env":  # it is not made yet
            raise AttributeError(name)
        return getattr(self.env, name)

    @property
    def fingerprint(self) -> str:
        """That of the environment: an engine gives the same verdicts."""
        return self.env.fingerprint

    # -- verdicts --------------------------------------------------------------------------------

    def evaluate(self, prompt: str | Task, response: Response) -> Verdict:
        """The whole verdict; see ``Environment.evaluate``."""
        with self._recorder:
            key, found = self._look_up((prompt, response))
            return found or self._store(key, self.env.evaluate(prompt, response))

    async def aevaluate(self, prompt: str | Task, response: Response) -> Verdict:
        """``evaluate`` for callers with an event loop."""
        with self._recorder:
            key = None
            found = None
            if self._file:  # in a thread: the first key takes a hash of all code
                key, found = await asyncio.to_thread(self._look_up, (prompt, response))
            return found or self._store(key, await self.env.aevaluate(prompt, response))

    def evaluate_group(self, prompt: str | Task, responses: Sequence[Response]) -> list[Verdict]:
        """Verdicts for several responses to one task, which stages that compare see together; none
        is used again.
        """
        return [verdict for _, verdict in self._batch(self._grouped(prompt, responses))]

    def evaluate_as_completed(
        self, rows: Iterable[Row], workers: int | None = None, *, on: RowExecutor | None = None
    ) -> Iterator[Numbered]:
        """As of an environment; 16,384 rows are read at once, and equal ones of these are verified
        once.

        Args:
            rows: as for ``Environment.evaluate_many``.
            workers: as for ``Environment.evaluate_many``; by default those of the engine.
            on: as for ``Environment.evaluate_many``.
        """
        self._needs_no_group()
        return self._batch(self._numbered(rows, workers, on))

    def submit(
        self,
        task: str | Task,
        response: Response,
        *,
        priority: float = 0.0,
        timeout: float | None = None,
    ) -> Future[Verdict]:
        """The verdict to come; the response is verified in other threads and in workers.

        The future never raises for a response: a task or response that makes no sense is unscored
            with a fault of
        kind ``input``. One that is cancelled before it starts is never verified.

        Args:
            task: a Task, or the prompt of one of the environment's own.
            response: text, messages or a Trajectory.
            priority: a higher one starts earlier; equal ones start in the order of their
                submission.
            timeout: seconds to wait for room in the queue; None waits as long as it takes.  A
                callback of a future gives 0, since the thread that calls it is one that makes room.

        Raises:
            queue.Full: when no room came in time.
            ConfigError: when a stage compares the responses to one task.
            RuntimeError: when the engine is closed.
        """
        self._needs_no_group()
        return self._queue.put((task, response), priority, timeout)

    def metrics(self) -> dict[str, float]:
        """Numbers by name since the engine was made; docs/how-to/gpu-waits.md explains each."""
        return self._numbers(self._recorder.sums())

    def close(self) -> None:
        """Cancel what was submitted and has not started, wait for the rest, and close the
        environment and the cache.
        """
        self._queue.close()
        self.env.close()
        if self._file is not None:
            self._file.close()

    # -- how -------------------------------------------------------------------------------------

    def _batch(self, numbered: Iterator[Numbered]) -> Iterator[Numbered]:
        """Verdicts as they come; the time of whoever takes them does not count."""
        before = self._recorder.sums()
        waited = 0.0
        while True:
            start = perf_counter()
            with self._recorder:
                found = next(numbered, None)
            waited += perf_counter() - start
            if found is None:
                return self._finish(waited, before)
            yield found

    def _grouped(self, prompt: str | Task, responses: Sequence[Response]) -> Iterator[Numbered]:
        for verdict in self.env.evaluate_group(prompt, responses):
            yield 0, self._store(None, verdict)

    def _verified(self, row: Row) -> Verdict:
        """The verdict of a submitted row."""
        with self._recorder:
            ((_, verdict),) = self._numbered([row], None)
        return verdict

    def _numbered(
        self, rows: Iterable[Row], workers: int | None, on: RowExecutor | None = None
    ) -> Iterator[Numbered]:
        """Verdicts of rows, each as soon as it is known."""
        numbered = enumerate(rows)
        while chunk := list(islice(numbered, CHUNK)):
            # Equal rows by their key, or by index where there is none.
            equal: dict[object, list[tuple[int, Row]]] = {}
            for index, row in chunk:
                key = self._key(row)
                if key not in equal and (verdict := self._find(key)):
                    yield index, verdict
                else:
                    equal.setdefault(key or index, []).append((index, row))
            size = workers if on else workers or self._size
            yield from self._judged(equal, size, on)

    def _judged(
        self, equal: Equal, workers: int | None, on: RowExecutor | None
    ) -> Iterator[Numbered]:
        """Verdicts of rows of which some are equal."""
        keys = list(equal)
        again = list[tuple[int, Row]]()
        rows = [members[0][1] for members in equal.values()]
        evaluate = partial(self.env.evaluate_as_completed, workers=workers, on=on)
        for place, verdict in evaluate(rows):
            (index, _), *others = equal[keys[place]]
            yield index, self._store(keys[place], verdict)
            if lasts(verdict):
                yield from ((other, self._seen(verdict, "repeated")) for other, _ in others)
            else:  # it may be no fault of the response, or come out otherwise
                again += others
        for place, verdict in evaluate([row for _, row in again]):
            yield again[place][0], self._store(None, verdict)

    def _look_up(self, row: Row) -> tuple[Key | None, Verdict | None]:
        """The key of a single row, which only a cache needs, and its verdict there."""
        key = self._key(row) if self._file else None
        return key, self._find(key)

    def _find(self, key: Key | None) -> Verdict | None:
        verdict = self._file.get(key) if self._file and key else None
        return verdict and self._seen(verdict, "cached")

    def _store(self, key: object, verdict: Verdict) -> Verdict:
        if self._file and isinstance(key, Key):
            self._file.put(key, verdict)
        return self._seen(verdict, "verified")

    def _seen(self, verdict: Verdict, origin: Origin) -> Verdict:
        self._recorder.verdict(verdict, origin)
        return verdict

    def _key(self, row: Row) -> Key | None:
        """What names a row; None where its verdict is good for no other, or the row makes no
        sense.
        """
        env = self.env
        where = self._key_id
        attempt = env._attempt_or_fault(row) if self._reusable else None
        if not isinstance(attempt, Attempt):
            return None
        task = attempt.task
        if isinstance(env, EnvironmentGroup):
            name, task = env.route(task)
            # A fingerprint may not tell members apart.
            env = env.environments[name]
            where = f"{where}/{name}"
        return key_of(env.fingerprint, where, task, row[-1])

    def _finish(self, waited: float, before: Mapping[str, float]) -> None:
        """Count a batch, compare it with the time of a step, and call the observers with what came
        since the last.
        """
        with self._telling:
            now = self._recorder.sums()
            budget = self._budget
            if budget is not None and waited > budget:
                if not now["verifier_bound"]:
                    stages = stage_seconds(since(now, before))
                    text = advice(waited, stages, self._in_workers, self._processes, budget)
                    logger.warning("%s: %s", self.name, text)
                self._recorder.add("verifier_bound")
            self._recorder.add("batches")
            now = self._recorder.sums()
            told = self._numbers(since(now, self._before))
            self._before = now
            for observer in self._observing:
                try:
                    observer(told)
                except Exception as error:  # noqa: BLE001 - an observer changes nothing
                    logger.error("an observer of %s raised %s", self.name, type(error).__name__)

    def _numbers(self, sums: Mapping[str, float]) -> dict[str, float]:
        errors = self._cache.errors if self._cache else 0
        now = {"queued": self._queue.waiting, "workers": self._processes, "cache_errors": errors}
        return {**numbers(sums), **now}


ENGINES = WeakSet[ScoringEngine]()


def _begin_again() -> None:
    for engine in list(ENGINES):
        engine._begin(None)


os.register_at_fork(after_in_child=_begin_again)
