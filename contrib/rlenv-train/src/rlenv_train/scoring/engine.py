"""`ScoringEngine`: an environment with what a training run asks of its reward."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Lock

from attrs import evolve
from rlenv import Environment, Task, UnknownTask, Verdict
from rlenv.stages import attribute

from rlenv_train.environments import AnyEnvironment, open_environment
from rlenv_train.mixing import EnvironmentGroup
from rlenv_train.mixing.group import Response, Row

from .metrics import Metrics, Recorder
from .queue import SubmitQueue
from .reuse import key_of, not_reusable, stages_of
from .stream import Given, Stream

logger = logging.getLogger("rlenv_train")


class ScoringEngine(Environment):
    """An environment for a training run; everything that takes an ``Environment`` takes an engine.

    Its verdicts are those of the environment. Equal pairs of task and response of one batch are verified once, where all
    stages are deterministic. ``submit`` verifies responses while the policy writes others.

    Example:

        engine = ScoringEngine("env.toml", workers=8)
        GRPOTrainer(reward_funcs=trl_reward(engine), ...)

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        reuse: paths of stages that are not deterministic, and whose verdicts may still be used again.
        workers: worker processes; None as for ``Environment.evaluate_many``.
        queue: how many submitted responses may wait.
        at_once: how many submitted responses are verified at the same time; by default two for each worker, and 64 where
            a stage runs in the caller's process, as judges do.
        observers: called with the ``Metrics`` of each batch when it is done.

    Raises:
        ConfigError: when the environment or an argument makes no sense.
    """

    def __init__(
        self,
        env: AnyEnvironment,
        *,
        reuse: Sequence[str] = (),
        workers: int | None = None,
        queue: int = 1024,
        at_once: int | None = None,
        observers: Sequence[Callable[[Metrics], object]] = (),
    ) -> None:
        self.env = open_environment(env)
        self._reusable = not not_reusable(self.env, reuse)
        places = {attribute(stage, "where") for _, stage in stages_of(self.env)}
        cores = os.cpu_count() or 1
        self._size, self._watchers = workers, tuple(observers)
        self._most = (workers or cores) if workers or "worker" in places else 0
        many = 64 if "caller" in places else 2 * (workers or cores)
        self._make_queue = partial(SubmitQueue, self._verified, queue, at_once or many)
        self._begin()

    def _begin(self) -> None:
        """What has threads and locks; a forked child begins anew."""
        self._process = os.getpid()
        self._recorder, self._queue = Recorder(), self._make_queue()
        self._told, self._telling = Metrics(), Lock()

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
        key, verdict = self._looked_up((prompt, response))
        if verdict is None:
            with self._recorder:
                verdict = self.env.evaluate(prompt, response)
            self._keep(key, verdict)
        return verdict

    async def aevaluate(self, prompt: str | Task, response: Response) -> Verdict:
        """``evaluate`` for callers with an event loop."""
        key, verdict = self._looked_up((prompt, response))
        if verdict is None:
            with self._recorder:
                verdict = await self.env.aevaluate(prompt, response)
            self._keep(key, verdict)
        return verdict

    def evaluate_group(self, prompt: str | Task, responses: Sequence[Response]) -> list[Verdict]:
        """Verdicts for several responses to one task, which stages that compare see together; none is used again."""
        self._after_fork()
        with self._recorder:
            verdicts = self.env.evaluate_group(prompt, responses)
        for verdict in verdicts:
            self._recorder.verdict(verdict, "verified")
        self._finish_batch()
        return verdicts

    def evaluate_as_completed(
        self, rows: Iterable[Row], workers: int | None = None
    ) -> Iterator[tuple[int, Verdict]]:
        """As of an environment; equal rows are verified once.

        Args:
            rows: as for ``Environment.evaluate_many``.
            workers: as for ``Environment.evaluate_many``; by default those of the engine.
        """
        self._needs_no_group()
        self._after_fork()
        return self._batch(self._stream(workers).verdicts(rows))

    def submit(
        self,
        task: str | Task,
        response: Response,
        *,
        priority: float = 0.0,
        timeout: float | None = None,
    ) -> Future[Verdict]:
        """The verdict to come; the response is verified in other threads and in workers.

        The future never raises for a response: a task or response that makes no sense is unscored with a fault of
        kind ``input``. One that is cancelled before it starts is never verified.

        Args:
            task: a Task, or the prompt of one of the environment's own.
            response: text, messages or a Trajectory.
            priority: a higher one starts earlier; equal ones start in the order of their submission.
            timeout: seconds to wait for room in the queue; None waits as long as it takes.

        Raises:
            queue.Full: when no room came in time.
            ConfigError: when a stage compares the responses to one task.
            RuntimeError: when the engine is closed.
        """
        self._needs_no_group()
        self._after_fork()
        return self._queue.put((task, response), priority, timeout)

    # -- how -------------------------------------------------------------------------------------

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            self._begin()

    def _stream(self, workers: int | None = None) -> Stream:
        judge = partial(self.env.evaluate_as_completed, workers=workers or self._size)
        return Stream(judge, self._key, self._find, self._store)

    def _batch(self, given: Iterator[Given]) -> Iterator[tuple[int, Verdict]]:
        """Verdicts as they come; the time of whoever takes them does not count."""
        while True:
            with self._recorder:
                found = next(given, None)
            if found is None:
                break
            index, verdict, origin = found
            self._recorder.verdict(verdict, origin)
            yield index, verdict
        self._finish_batch()

    def _verified(self, row: Row) -> Verdict:
        """The verdict of a submitted row."""
        with self._recorder:
            ((_, verdict, origin),) = self._stream().verdicts([row])
        self._recorder.verdict(verdict, origin)
        return verdict

    def _looked_up(self, row: Row) -> tuple[bytes | None, Verdict | None]:
        """The key of a row, and its verdict where that is known."""
        self._after_fork()
        key = self._key(row)
        verdict = None if key is None else self._find(key)
        if verdict is not None:
            self._recorder.verdict(verdict, "cached")
        return key, verdict

    def _keep(self, key: bytes | None, verdict: Verdict) -> None:
        self._recorder.verdict(verdict, "verified")
        if key is not None:
            self._store(key, verdict)

    def _find(self, _key: bytes) -> Verdict | None:
        return None

    def _store(self, _key: bytes, _verdict: Verdict) -> None:
        pass

    def _key(self, row: Row) -> bytes | None:
        """What names a row; None where its verdict is good for no other."""
        if not self._reusable:
            return None
        try:
            fingerprint, task = self._route(self._task_of(row))
            return key_of((fingerprint,), task, row[-1])
        except Exception:  # noqa: BLE001 - the environment says what is wrong with the row
            return None

    def _task_of(self, row: Row) -> Task:
        if len(row) == 2:
            return row[0] if isinstance(row[0], Task) else self.tasks.by_prompt(row[0])
        task = self.tasks.by_id(row[0])
        if row[1] not in (None, task.prompt):
            raise UnknownTask(f"the prompt of this row is not that of task {task.id!r}")
        return task

    def _route(self, task: Task) -> tuple[str, Task]:
        """The fingerprint of the environment that verifies a task, and the task that it is given."""
        if not isinstance(self.env, EnvironmentGroup):
            return self.fingerprint, task
        name, own = self.env.route(task)
        return self.env.environments[name].fingerprint, own

    # -- metrics ---------------------------------------------------------------------------------

    def metrics(self) -> Metrics:
        """The numbers since the engine was made."""
        waiting, running = self._queue.waiting, self._queue.running
        return evolve(
            self._recorder.snapshot(), queued=waiting, running=running, workers=self._most
        )

    def _finish_batch(self) -> None:
        self._recorder.count("batches")
        self._tell()

    def _tell(self) -> None:
        """Call the observers with what came since their last call."""
        with self._telling:
            now = self.metrics()
            since, self._told = now.since(self._told), now
            for observer in self._watchers:
                try:
                    observer(since)
                except Exception as error:  # noqa: BLE001 - an observer changes nothing
                    logger.error("an observer of %s raised %s", self.name, type(error).__name__)

    def close(self) -> None:
        """Cancel what was submitted and has not started, wait for the rest, and close the environment."""
        self._queue.close()
        self.env.close()
