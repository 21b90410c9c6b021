"""``code/speed``: what a program costs, against the golden program on the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Outcome, Task, TaskError

from rlenv_plugin_code.artifacts import Answer, Compiled, Program, plain
from rlenv_plugin_code.boxed import WALL, Boxed
from rlenv_plugin_code.compare import Rules, difference
from rlenv_plugin_code.costs import Cost, cost_of, score
from rlenv_plugin_code.drive.compiling import compiled
from rlenv_plugin_code.drive.runs import Runs
from rlenv_plugin_code.drive.work import Inputs, answers_of, inputs_of
from rlenv_plugin_code.prepared import prepared
from rlenv_plugin_code.programs import program_in
from rlenv_plugin_code.spec import Tests
from rlenv_plugin_code.stdout import output_difference

__all__ = ["Speed"]

_METRICS = ("time", "memory", "both")
_EARLY = 3  # rounds after which agreement ends the measuring
_AGREED = 0.1
_LONGER = 2.0  # times the mean of the rounds before, as long as the next may take


@frozen(kw_only=True)
class Speed(Boxed):
    """Measure CPU time and peak memory, in turn with the golden program, and score what the golden
    one needs of it.

    The kernel measures, from outside, a fresh process for every run, with the CPU of everything
    that it starts, and the memory of all of it and of its files below /tmp (of its largest process,
    where no control group can be made); what an empty program costs is taken off.  The score is
    ``min(1, (golden * (1 + slack) + noise) / own)`` per metric, noise being 2 ms or 2 MiB
    (EffiBench's NET and NMU turned round, arXiv:2402.02037).  A program whose answers are not those
    of the golden one scores 0.

    Args:
        metric: "time", "memory", or "both": their mean.
        rounds: maximum number of pairs of runs; fewer if the first three agree, or the budget
            allows no more.
        slack: share by which a program may exceed the golden program and still get the full score.
        timeout: seconds for one case, of CPU and on the program's clock; a task's ``time`` has
            precedence.
    """

    phase: ClassVar[str] = "judge"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.tests",)
    takes: ClassVar[tuple[type, ...]] = (Compiled,)
    draws: ClassVar[bool] = True
    deterministic: ClassVar[bool] = False
    at_once: ClassVar[int] = 1  # two programs that are measured at one time measure each other

    metric: str = field(default="time", validator=validators.in_(_METRICS))
    rounds: int = field(default=5, validator=[validators.ge(1), validators.le(50)])
    slack: float = field(default=0.15, validator=[validators.ge(0), validators.le(10)])
    timeout: float = field(default=5.0, validator=validators.gt(0))

    @property
    def default_timeout(self) -> float:
        """Wall seconds: 30 times its own budget, and twice as much for the golden program, before
        it and in turn.
        """
        return 3 * WALL * self.budget

    def validate(self, task: Task) -> None:
        """Refuse tasks without a golden program.

        Raises:
            TaskError: naming the task and what to do.
        """
        tests = self.sound(task)
        if not tests.golden:
            raise TaskError(
                "info.tests.golden: code/speed measures against a correct program; add its source"
                " as golden",
                task.id,
            )
        if tests.kind in ("asserts", "suite"):
            raise TaskError(
                "info.tests.kind: code/speed needs inputs of its own (function, stdio, golden),"
                f" not {tests.kind}",
                task.id,
            )

    async def check(self, attempt: Attempt) -> Outcome:
        """Measure both, in turn.

        Raises:
            TaskError: the golden program fails.
            VerifierFault: the sandbox broke.
        """
        task = attempt.task
        ready = prepared(task, self.default)
        tests = ready.tests
        runs = self.runs(tests)
        runs.timeout = tests.time or self.timeout
        program = program_in(attempt, tests, self.prefix)
        if not program.source.strip():
            return Outcome.failed("the response has no program")
        own = attempt.find(Compiled) or await compiled(runs, program)
        if isinstance(own, Answer):
            return Outcome.failed("the program does not compile")
        reference = self.reference(runs)
        golden = await compiled(reference, Program(tests.language, tests.golden))
        if isinstance(golden, Answer):
            raise TaskError(f"tests.golden does not compile: {golden.error}", task.id)
        key = attempt.key() if tests.count else b""
        inputs = await inputs_of(self.reference(runs), task, ready, key)
        bench = _Bench(runs, reference, tests, inputs, task)
        return await self._measured(bench, golden, own)

    async def _measured(self, bench: _Bench, golden: Compiled, own: Compiled) -> Outcome:
        base = await bench.base()
        pairs: list[tuple[Cost, Cost]] = []
        for turn in range(self.rounds):
            first, second = (golden, own) if turn % 2 == 0 else (own, golden)
            costs = {
                id(made): await bench.run(made, right=made is golden) for made in (first, second)
            }
            theirs = costs[id(golden)]
            ours = costs[id(own)]
            if ours is None:
                return Outcome.failed("the program does not answer rightly")
            assert theirs is not None
            pairs.append((theirs.without(base), ours.without(base)))
            if turn + 1 == _EARLY and _agree(pairs):
                break
            if not bench.has_time(turn + 1):
                break
        return self._outcome(pairs, bench.runs)

    def _outcome(self, pairs: list[tuple[Cost, Cost]], runs: Runs) -> Outcome:
        theirs, ours = ([side[i] for side in pairs] for i in (0, 1))
        time = score(median(c.cpu for c in theirs), median(c.cpu for c in ours), self.slack, 0.002)
        memory = score(
            median(c.memory for c in theirs), median(c.memory for c in ours), self.slack, 2 << 20
        )
        value = {"time": time, "memory": memory, "both": (time + memory) / 2}[self.metric]
        data = {
            "time_score": round(time, 4),
            "memory_score": round(memory, 4),
            "cpu_ms": round(median(c.cpu for c in ours) * 1e3, 3),
            "peak_mb": round(median(c.memory for c in ours) / (1 << 20), 3),
            "rounds": len(pairs),
            "isolation": self.tier(runs),
        }
        private = {
            "golden_cpu_ms": round(median(c.cpu for c in theirs) * 1e3, 3),
            "golden_peak_mb": round(median(c.memory for c in theirs) / (1 << 20), 3),
        }
        said = f"CPU time {time:.2f}, memory {memory:.2f} of what is needed"
        return Outcome(value, said, data, private=private)


def _agree(pairs: Sequence[tuple[Cost, Cost]]) -> bool:
    ratios = [(theirs.cpu + 0.002) / (ours.cpu + 0.002) for theirs, ours in pairs]
    return max(ratios) - min(ratios) <= _AGREED * max(ratios)


class _Bench:
    """Runs both programs on the same inputs, each within a budget of its own."""

    def __init__(
        self, runs: Runs, reference: Runs, tests: Tests, inputs: Inputs, task: Task
    ) -> None:
        self.runs = runs
        self.reference = reference
        self.tests = tests
        self.inputs = inputs
        self.task = task
        self.expected: Sequence[Any] | None = inputs.expected and [*map(plain, inputs.expected)]
        self.rules = Rules(tests.rtol, tests.atol, tests.unordered, tests.loose)

    async def run(self, made: Compiled, *, right: bool) -> Cost | None:
        """What one run costs; None when its answers are not the golden program's.

        Raises:
            TaskError: the golden program gave no answer.
        """
        runs = self.reference if right else self.runs
        answers = await answers_of(runs, self.tests, made, self.inputs)
        if right and self.expected is None:
            self.expected = [answer.value for answer in answers]
        if right and any(answer.status != "ok" for answer in answers):
            raise TaskError("tests.golden fails on an input of its own task", self.task.id)
        expected = self.expected
        if expected is not None and not right and not self._same(answers, expected):
            return None
        return cost_of(answers)

    def has_time(self, rounds: int) -> bool:
        """Whether the budgets are enough for one more of so many rounds, even if it takes twice as
        long.
        """
        clocks = (self.runs.clock, self.reference.clock)
        return all(clock.left() >= _LONGER * clock.used() / rounds for clock in clocks)

    def _same(self, answers: Sequence[Answer], expected: Sequence[Any]) -> bool:
        differs = output_difference if self.tests.programs else difference
        return all(
            answer.status == "ok" and differs(wanted, answer.value, self.rules) is None
            for answer, wanted in zip(answers, expected, strict=True)
        )

    async def base(self) -> Cost:
        """What a program costs that does nothing."""
        entry = self.tests.entry_point
        empty = "" if entry is None else f"def {entry}(*args, **kwargs): pass\n"
        if self.tests.language != "python":
            return Cost(0.0, 0)
        made = Compiled(Program("python", empty))
        first = Inputs(self.inputs.frames[:1])
        runs = [
            cost_of(await answers_of(self.reference, self.tests, made, first)) for _ in range(3)
        ]
        # One process a case, or one for all.
        whole = len(self.inputs.frames) if self.tests.programs else 1
        return Cost(whole * min(c.cpu for c in runs), min(c.memory for c in runs))
