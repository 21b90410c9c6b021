"""The environment: tasks, a composition of stages, and the verdicts they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, Union, Unpack

from .compose.composites import Composite, Slot, composite_of
from .compose.keys import set_key_source
from .compose.signatures import Signature, set_signature_source
from .compose.stages import THINKING, AnyStage, Attempt
from .engine.engine import Evaluation, Executor, await_steps, evaluate, run_steps
from .engine.plan import Plan
from .model.errors import ConfigError, TaskError, UnknownTask, reject
from .model.lazy import lazy
from .model.values import Fault, Response, Task, Trajectory, Verdict
from .runtime import forks  # noqa: F401 - what a fork waits for is registered with any import of rlenv
from .runtime.executor import AsyncExecutor, CallerExecutor

if TYPE_CHECKING:
    from pathlib import Path

    from .config.load import Options, TableOptions
    from .runtime.batch import Numbered
    from .runtime.batch import Row as AttemptOrVerdict
    from .runtime.worker_executor import WorkerExecutor
    from .text import Thinking

Prompt: TypeAlias = Union[str, Task]
Row: TypeAlias = Union[tuple[Prompt, Response], tuple[str, str | None, Response]]
Verifier: TypeAlias = Union[Composite, AnyStage, Callable[..., object], Iterable["Member"]]
Member: TypeAlias = Union[Slot, Composite, AnyStage, Callable[..., object]]


# What the engine and the fingerprint are handed from the rooms above them; each is imported when it
# is needed, so that `import rlenv` stays cheap.


def _attempt_key(task: Task, response: str) -> bytes:
    from .identity.secret import attempt_key

    return attempt_key(task, response)


def _makers_of(kind: type, use: str) -> list[str]:
    from .plugins.registry import makers_of

    return makers_of(kind, use)


def _reject_unsendable(plan: Plan) -> None:
    """Raise what keeps a stage from its worker."""
    from .runtime.worker_runtime import pickle_plan

    for env in {leaf.env for leaf in plan.leaves if leaf.place == "worker"}:
        pickle_plan(plan, env)


def _signatures() -> dict[str, Signature]:
    from .plugins.registry import signatures

    return signatures()


set_key_source(_attempt_key)
set_signature_source(_signatures)


class RowExecutor(Protocol):
    """Evaluates rows elsewhere, for ``evaluate_many(rows, on=...)``; ``rlenv_ray`` has one."""

    def evaluate(self, env: Environment, rows: Iterator[AttemptOrVerdict]) -> Numbered:
        """Exactly one (index from 0, verdict) for each row, in any order, rows read as needed.

        Args:
            env: what evaluates; ``env.fingerprint`` is that of every verdict.
            rows: an attempt each, or the verdict of a row that makes no sense, to be given back.
        """


class Environment:
    """Scores responses: ``verify(prompt, response) -> float``; ``evaluate`` gives the verdict.

    Args:
        name: how logs and reports call it.
        verifier: a composite, a stage, a function, or a sequence of slots, stages and functions,
            which runs as a Pipeline.
        tasks: what a prompt given as text is looked up in.
        pass_mark: a reward at or above it is a pass; in (0, 1].
        thinking: what of a response is hidden reasoning, which text stages do not read: "hide",
            "closed" or "keep"; see ``rlenv.text.read``.
        tables: what plugins read of the tables that they claim of an env.toml, by name; part of the
            fingerprint.
        observers: plugins (modules or objects with hooks) that watch verdicts.
        isolate: run inline stages in workers too.
        memory_mb: limit of each worker's memory in MiB; 2048 when None, none when 0.
        source: where it was read from, for messages.

    ``slots`` are those of the outermost composite, ``stages`` all slots by path, composites last,
    ``places`` where its stages run (any of worker, caller, inline), and ``group_only`` the paths of
    the stages that can only judge a whole group.

    Raises:
        ConfigError: for a composition that makes no sense, for a stage that holds an object whose
            state no fingerprint can cover, and for every task that its stages refuse.
    """

    def __init__(
        self,
        name: str,
        verifier: Verifier,
        tasks: Iterable[Task] = (),
        *,
        pass_mark: float = 1.0,
        thinking: Thinking = "hide",
        tables: Mapping[str, object] | None = None,
        observers: Sequence[object] = (),
        isolate: bool = False,
        memory_mb: int | None = None,
        source: str = "",
    ) -> None:
        from .identity.fingerprint import made_of
        from .model.tasks import Tasks

        if isinstance(pass_mark, bool) or not 0 < pass_mark <= 1:
            raise ConfigError(f"pass_mark is in (0, 1], not {pass_mark!r}")
        if thinking not in THINKING:
            raise ConfigError(f"thinking is one of {', '.join(THINKING)}, not {thinking!r}")
        self.name = name
        self.source = source
        self.root = composite_of(verifier)
        self.slots = self.root.slots
        self.pass_mark = float(pass_mark)
        self.thinking: Thinking = thinking
        self.tables = dict(tables or {})
        for each in self.tables.values():
            if hasattr(each, "check_tables"):
                each.check_tables(self.tables)
        self._plan = Plan(self.root, makers_of=_makers_of)
        for slot in self._plan.leaves if isolate else ():
            slot.isolate()
        self.places = frozenset(slot.place for slot in self._plan.leaves)
        self.stages = {at.path: at.slot for at in (*self._plan.leaves, *self._plan.composites)}
        self.group_only = tuple(self._plan.group_only)
        self.warnings: list[str] = list(self._plan.warnings)
        # Before tasks are checked, since a stage may keep what it made of them.
        self._made = made_of(self._plan, self.tables, _reject_unsendable)
        self.tasks = tasks if isinstance(tasks, Tasks) else Tasks(tasks)
        if self.tasks:
            self._plan.check_tasks(self.tasks)
            self.warnings += self._plan.survey(self.tasks)
        self.memory_mb = memory_mb
        self._observers: Callable[..., None] | None = None
        if observers:
            from .plugins.observers import Observers

            self._observers = Observers(observers).tell
        # Last, since it may start workers: whoever gets an exception has nothing to close.
        self._workers = self._hired if "worker" in self.places else None
        self._executor = CallerExecutor(self._workers)

    # -- what it holds ---------------------------------------------------------------------------

    @lazy
    def fingerprint(self) -> str:
        """Names the configuration and the code that make this environment's verdicts."""
        from .identity.fingerprint import fingerprint

        return fingerprint(self._plan, self._made, self.pass_mark, self.thinking)

    def __rlenv_state__(self) -> str:
        return self.fingerprint  # of an environment that a stage holds

    @classmethod
    def from_file(cls, path: str | Path, **options: Unpack[Options]) -> Self:
        """Read an ``env.toml``; see ``rlenv.config.load.load_file`` for the options and errors."""
        from .config.load import load_file

        return load_file(cls, path, **options)

    @classmethod
    def from_dict(cls, mapping: Mapping[str, object], **options: Unpack[TableOptions]) -> Self:
        """Build from what an ``env.toml`` would hold; see ``rlenv.config.load.load_dict``."""
        from .config.load import load_dict

        return load_dict(cls, mapping, **options)

    @classmethod
    def load(cls, name: str, **options: Unpack[Options]) -> Self:
        """An environment by installed name (entry-point group ``rlenv.environments``) or path."""
        from .config.load import load_named

        return load_named(cls, name, **options)

    # -- one response ----------------------------------------------------------------------------

    def verify(self, prompt: Prompt, response: Response) -> float:
        """The reward of this response, in [0, 1].

        Raises:
            VerifierFault: when the verifier broke; a 0 would be a false negative.
            UnknownTask: when no task has this prompt.
            TaskError: when the task lacks what a stage needs.
            TypeError: when the response is neither text, a Trajectory nor a list of messages.
        """
        return self.evaluate(prompt, response).reward

    __call__ = verify

    def evaluate(self, prompt: Prompt, response: Response) -> Verdict:
        """The whole verdict.

        Never raises for a response or a broken stage (see ``verify`` for misuse).
        """
        if self.group_only:
            self._needs_no_group()
        return run_steps(self._steps(self._attempt(prompt, response)))

    async def averify(self, prompt: Prompt, response: Response) -> float:
        """``verify`` for callers with an event loop, which stays free: see ``aevaluate``."""
        return (await self.aevaluate(prompt, response)).reward

    async def aevaluate(self, prompt: Prompt, response: Response) -> Verdict:
        """``evaluate`` for callers with an event loop, which stays free.

        An inline stage runs on the loop for up to its ``inline_limit`` of characters, and above in
        a worker.
        """
        self._needs_no_group()
        if type(response) in (str, Trajectory) and "fingerprint" in vars(self):
            attempt = self._attempt(prompt, response)
        else:  # imports cost more than half a microsecond each time
            from asyncio import wrap_future

            from .runtime.event_loop import off_loop

            attempt = await wrap_future(off_loop(partial(self._prepare, prompt, response)))
        executor = AsyncExecutor(self._workers, hire=lambda: self._hired)
        return await await_steps(self._steps(attempt, executor))

    def _prepare(self, prompt: Prompt, response: Response) -> Attempt:
        """An attempt, and before the first what else takes a moment: the hash of the code, the
        index of prompts.
        """
        _ = self.fingerprint, self.tasks.of_prompt
        return self._attempt(prompt, response)

    # -- many ------------------------------------------------------------------------------------

    def evaluate_many(
        self, rows: Iterable[Row], workers: int | None = None, *, on: RowExecutor | None = None
    ) -> Iterator[Verdict]:
        """Verdicts for many responses, lazily, in the order of the rows.

        Args:
            rows: (task or prompt, response) pairs or (id, prompt, response) triples, tuples or
                lists, read as needed.  The id finds the task, also where several tasks share a
                prompt; the prompt of a triple is None or exactly that task's.  A row that makes no
                sense gets a verdict with a fault of kind ``input``; the other rows are not
                affected.
            workers: how many worker processes; given, even inline stages run there.  None: as many
                as there are cores where a stage wants a worker, else none.
            on: where to evaluate instead of on this machine, such as ``rlenv_ray.RayWorkers()``;
                observers are then told there, and ``workers`` is left out.
        """
        from .runtime.batch import in_order

        return in_order(self.evaluate_as_completed(rows, workers, on=on))

    def evaluate_as_completed(
        self, rows: Iterable[Row], workers: int | None = None, *, on: RowExecutor | None = None
    ) -> Iterator[tuple[int, Verdict]]:
        """``evaluate_many`` as pairs (index of the row from 0, verdict), each once it is done.

        Args:
            rows: as for ``evaluate_many``.
            workers: as for ``evaluate_many``.
            on: as for ``evaluate_many``.
        """
        self._needs_no_group()
        if workers is not None and (on is not None or type(workers) is not int or workers < 1):
            raise ConfigError(f"workers is an integer ≥ 1, and None beside on=, not {workers!r}")
        from .runtime.batch import concurrent, streamed

        attempts = map(self._attempt_or_fault, rows)
        if on is not None:
            return on.evaluate(self, attempts)
        hired = self._workers
        if workers is not None and hired is None and "caller" not in self.places:
            hired = self._hired
            reject(hired.left.values())
        if hired is None or not (workers or hired.complete):
            return concurrent(attempts, self._executor, self._steps)
        executor = CallerExecutor(hired, workers, isolate=True)
        return (streamed if hired.complete else concurrent)(attempts, executor, self._steps)

    def evaluate_group(self, prompt: Prompt, responses: Sequence[Response]) -> list[Verdict]:
        """Verdicts for several responses to one task, which group stages judge together.

        A response of a wrong type is unscored by itself and takes no part in the group.
        """
        from .runtime.batch import concurrent, in_order

        task = self._task(prompt)
        rows = iter([self._attempt_or_fault((task, response)) for response in responses])
        return list(in_order(concurrent(rows, self._executor, self._steps, grouped=True)))

    # -- its life --------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the workers; the last environment to do so ends them.  May be called twice."""
        if "_hired" in vars(self):
            self._hired.close()
        if "caller" in self.places:
            from .runtime.event_loop import shared_loop

            shared_loop.leave(self._plan.leaves)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Environment {self.name!r}: {self.root!r}>"

    # -- how -------------------------------------------------------------------------------------

    def _steps(self, attempt: Attempt, executor: Executor | None = None) -> Evaluation[Verdict]:
        steps = evaluate(self._plan, attempt, executor or self._executor, self.fingerprint)
        verdict = yield from steps
        if self._observers is not None:
            self._observers(self, attempt.task, attempt.response, verdict)
        return verdict

    @lazy
    def _hired(self) -> WorkerExecutor:
        """The workers, also of inline stages where no other wants one."""
        from .runtime.worker_executor import WorkerExecutor

        workers = WorkerExecutor(self._plan, self.memory_mb)
        self.warnings += workers.warnings
        return workers

    def _needs_no_group(self) -> None:
        if self.group_only:
            only = "judges responses side by side only; use evaluate_group, or rlenv score --group"
            raise ConfigError(f"{', '.join(self.group_only)}: {only}")

    def _task(self, prompt: object) -> Task:
        if type(prompt) is str:
            return self.tasks.by_prompt(prompt)
        if not isinstance(prompt, Task):
            raise TypeError(f"a prompt is a text or a Task, not {type(prompt).__name__}")
        if self._plan.uses and (problem := self._plan.missing(prompt)):
            raise TaskError(problem, prompt.id)
        return prompt

    def _attempt(self, prompt: object, response: object) -> Attempt:
        task = self._task(prompt)
        if isinstance(response, str):
            return Attempt(task, str.__str__(response), thinking=self.thinking)
        said = response.messages if isinstance(response, Trajectory) else response
        if isinstance(said, (list, tuple)) and all(isinstance(m, Mapping) for m in said):
            talk = Trajectory(said)  # without tokens
            held = {
                type(a): a
                for a in getattr(response, "artifacts", ())
                if type(a) in self._plan.takes
            }
            return Attempt(task, talk.final, talk, held, self.thinking)
        wanted = "a text, or message dicts in a list or a Trajectory"
        raise TypeError(f"a response is {wanted}, not {type(response).__name__}")

    def _attempt_or_fault(self, row: object) -> Attempt | Verdict:
        try:
            match row:
                case [prompt, response]:
                    return self._attempt(prompt, response)
                case [name, prompt, response]:
                    return self._attempt(self._named(name, prompt), response)
            what = type(row).__name__ + (f" of {len(row)}" if isinstance(row, Sequence) else "")
            wanted = "(task|prompt, response) or (id, prompt, response)"
            raise TypeError(f"a row is {wanted}, not {what}")
        except Exception as err:  # noqa: BLE001 - objects of the caller may raise anything
            fault = Fault("input", str(err))
            return Verdict(value=None, fingerprint=self.fingerprint, fault=fault)

    def _named(self, name: object, prompt: object) -> Task:
        """The task that the id and the prompt of a row name together."""
        if not isinstance(name, str):
            raise TypeError(f"the id of a row is a text, not {type(name).__name__}")
        task = self.tasks.by_id(name)
        if prompt not in (None, task.prompt):
            said = f"the prompt of this row is not that of task {task.id!r}, compared by exact text"
            raise UnknownTask(f"{said}; pass None, or the prompt as the task has it")
        return task
