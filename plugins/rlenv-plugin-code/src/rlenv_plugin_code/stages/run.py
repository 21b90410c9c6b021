"""``code/run``: the program of a response on the hidden inputs.

What it answers is for later stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, cast

from attrs import evolve, field, frozen, validators
from rlenv import Attempt, ConfigError, Outcome, PluginError, Task, TaskError, VerifierFault
from rlenv.sandbox import Tier

from rlenv_plugin_code.artifacts import SENT_BYTES, Answer, Answers, Compiled, Sent
from rlenv_plugin_code.borrowed import warnings
from rlenv_plugin_code.boxed import Boxed
from rlenv_plugin_code.drive.box import OUTPUT_BYTES, PIDS
from rlenv_plugin_code.drive.clock import Clock
from rlenv_plugin_code.drive.compiling import compiled
from rlenv_plugin_code.drive.proof import prove, usable
from rlenv_plugin_code.drive.runs import Runs
from rlenv_plugin_code.drive.work import agree, answers_of, inputs_of
from rlenv_plugin_code.prepared import Prepared, prepared
from rlenv_plugin_code.programs import program_in
from rlenv_plugin_code.soundness import check_tests, not_a_suite
from rlenv_plugin_code.spec import Tests

__all__ = ["Run"]

_TOO_LARGE = Answer(
    "output", error=f"answers and executable of more than {SENT_BYTES >> 20} MiB in all"
)
_UNSTABLE = (
    "with another hash seed it answers differently: it depends on chance, or on the order of a set"
)
_NO_PROGRAM = Answer("error", error="the response has no program")
_LARGEST = 64 << 20  # bytes of one output, however long the expected one is


@frozen(kw_only=True)
class Run(Boxed):
    """Run a response's program on the hidden inputs of ``task.info["tests"]``, in a sandbox.

    The score is the share of cases that gave an answer, right or wrong; ``code/diff`` compares
    them.

    Args:
        timeout: seconds for one case, of CPU and on the program's clock; a task's ``time`` has
            precedence.
        repeat: how often everything is run, each time with another hash seed; different answers
            score 0. With 1, an answer in the order of a set is judged in the one order of hash seed
            0.
        early: stop a stdio task at the first case that gives no answer.
        check_golden: run every golden program on its task's own cases when tasks load.
    """

    phase: ClassVar[str] = "execute"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.tests",)
    makes: ClassVar[tuple[type, ...]] = (Answers,)
    takes: ClassVar[tuple[type, ...]] = (Compiled,)
    draws: ClassVar[bool] = True

    timeout: float = field(default=5.0, validator=validators.gt(0))
    repeat: int = field(default=1, validator=[validators.ge(1), validators.le(16)])
    early: bool = False
    check_golden: bool = False

    def validate(self, task: Task) -> None:
        """Refuse tests that cannot be run here.

        Raises:
            TaskError: naming the task and what to do.
        """
        tests = check_tests(task, self.default)
        not_a_suite(tests, task)
        ready = prepared(task, self.default)
        seconds = self._seconds(tests)
        if lacks := self.chosen.lacks(tests.min_isolation):
            raise TaskError(f"tests: {lacks}", task.id)
        if tests.kind == "asserts" and tests.language != "python":
            raise TaskError("tests.language: asserts are for programs in python", task.id)
        if tests.language != "python" and any(case.kwargs for case in tests.cases):
            raise TaskError(f"tests: {tests.language} has no keyword arguments: use args", task.id)
        if seconds > self.budget:
            said = f"tests.time is {seconds:g} s, more than the stage's budget of {self.budget:g} s"
            raise TaskError(f"{said}: raise budget, and with it the slot's timeout", task.id)
        runs = self._runs(tests, Clock(self.budget))
        try:
            usable(runs.box, tests.language)
        except (ConfigError, PluginError, VerifierFault) as err:
            raise TaskError(f"this task cannot be run here: {err}", task.id) from None
        if self.check_golden and tests.golden:
            prove(runs, task, ready)

    def survey(self, tasks: Sequence[Task]) -> list[str]:
        """Tasks whose tests take from the solution what nobody asked it for, one line each."""
        return warnings(tasks, self.default)

    async def check(self, attempt: Attempt) -> Outcome:
        """Run, and hand on the answers.

        Raises:
            ConfigError: such a sandbox cannot be had here.
            TaskError: a golden program, or a generator of inputs, fails.
            VerifierFault: the sandbox broke on every try, or a test fails by itself.
        """
        answers = await self._answers(attempt, prepared(attempt.task, self.default))
        attempt.put(answers)
        return attempt.with_hidden(_outcome(answers))

    async def _answers(self, attempt: Attempt, ready: Prepared) -> Answers:
        tests = ready.tests
        program = program_in(attempt, tests, self.prefix)
        clock = Clock(self.budget)
        runs = self._runs(tests, clock)
        if not program.source.strip():
            return self._alike(tests, _NO_PROGRAM)
        made = attempt.find(Compiled) or await compiled(runs, program)
        if isinstance(made, Answer):
            return self._alike(tests, made, runs.tier)
        key = attempt.key() if tests.count else b""
        inputs = await inputs_of(self.reference(runs), attempt.task, ready, key)
        rounds = [await answers_of(runs, tests, made, inputs, early=self.early)]
        for seed in range(1, self.repeat):
            again = self._runs(tests, clock, seed)
            rounds.append(await answers_of(again, tests, made, inputs, early=self.early))
        tier = runs.tier or "process"
        texts = None
        if tests.kind == "golden" and tests.checker:
            texts = tuple([Sent(frame, is_text=True) for frame in inputs.frames])
        answers = Answers(
            kind=tests.kind,
            answers=rounds[0],
            expected=inputs.expected,
            isolation=tier,
            stable=agree(rounds),
            inputs=texts,
        )
        if answers.size + len(made.binary or b"") <= SENT_BYTES:
            return answers
        given = evolve(answers, answers=())
        if given.size > SENT_BYTES // 2:
            said = f"tests: inputs and outputs of golden come to more than {SENT_BYTES >> 21} MiB"
            raise TaskError(f"{said}; use fewer or shorter ones", attempt.task.id)
        return self._alike(tests, _TOO_LARGE, tier)

    def _alike(self, tests: Tests, answer: Answer, tier: Tier | None = None) -> Answers:
        """The same answer for every case, without a run."""
        count = len(tests.scored) + tests.count
        at_least = tier or self.chosen.at_least
        return Answers(tests.kind, (answer,) * count, isolation=at_least)

    def _seconds(self, tests: Tests) -> float:
        return self.timeout if tests.time is None else tests.time

    def _runs(self, tests: Tests, clock: Clock, seed: int = 0) -> Runs:
        box = evolve(
            self.runs(tests).box,
            hash_seed=seed,
            pids=tests.limits.processes or PIDS,
            output_bytes=tests.limits.output_bytes or _kept(tests),
        )
        return Runs(box, clock, self._seconds(tests), self.retries)


def _kept(tests: Tests) -> int:
    """Bytes of output that are kept: what is expected and some more, in steps, so that profiles are
    few.
    """
    longest = max((len(case.stdout) for case in tests.cases), default=0)
    kept = OUTPUT_BYTES
    while kept < 4 * longest and kept < _LARGEST:
        kept *= 4
    return kept


def _outcome(answers: Answers) -> Outcome:
    count = len(answers.answers)
    statuses = Counter(answer.status for answer in answers.answers)
    answered = statuses["ok"]
    data = {
        "isolation": answers.isolation,
        "cases": count,
        "answered": answered,
        "statuses": cast("dict[str, int]", dict(sorted(statuses.items()))),
    }
    if not answers.stable:
        return Outcome.failed(_UNSTABLE, **data)
    detail = f"{answered} of {count} cases answered"
    for number, answer in enumerate(answers.answers, 1):
        if answer.status != "ok":
            why = f", {answer.error}" if answer.error else ""
            detail += f"; case {number}: {answer.status}{why}"
            break
    return Outcome(answered / count if count else 0.0, detail, data)
