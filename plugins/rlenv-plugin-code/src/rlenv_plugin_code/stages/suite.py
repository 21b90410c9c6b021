"""``code/tests``: a response that is a test suite, worth the share of mistakes that it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Outcome, Task, VerifierFault

from rlenv_plugin_code.boxed import WALL, Boxed
from rlenv_plugin_code.drive.clock import Clock
from rlenv_plugin_code.drive.runs import Runs
from rlenv_plugin_code.drive.suites import Suite, Trial
from rlenv_plugin_code.drive.turns import suite_lock
from rlenv_plugin_code.mutated import Mutated, mutated, suite_of
from rlenv_plugin_code.programs import source_problem
from rlenv_plugin_code.retry import worth_a_retry
from rlenv_plugin_code.source import program_of
from rlenv_plugin_code.spec import Tests as Spec

__all__ = ["Tests"]

_LARGEST = 1 << 18  # bytes of a suite
_CAUGHT = ("fail", "hang")


@frozen(kw_only=True)
class Tests(Boxed):
    """Run a response's test suite on the golden program and on programs with one mistake each.

    Each program is shown equally often, in an order that nobody can foresee, and each time in a
    fresh place.  The suite must never complain of the golden program; its score is the share of the
    others of which it complains every time.  It sees of a program what its calls return.  A suite
    is ``def check(candidate)``, ``test_...`` functions, asserts, or classes of ``unittest``; it
    finds the function under its name, as ``candidate`` and in the module ``solution``.

    Args:
        mutants: number of mutants, unless the task sets it.
        trials: how often each program is shown; what is found by chance is not found so often.
        timeout: seconds for one answer of a program, of CPU and on its clock; a task's ``time`` has
            precedence.
        score: "fraction": the share of mistakes found; "all": 1 when all are, else 0.
    """

    __test__: ClassVar[bool] = False  # pytest: no tests in here

    phase: ClassVar[str] = "execute"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.tests",)
    draws: ClassVar[bool] = True

    mutants: int = field(default=12, validator=[validators.ge(1), validators.le(200)])
    trials: int = field(default=3, validator=[validators.ge(1), validators.le(20)])
    timeout: float = field(default=2.0, validator=validators.gt(0))
    score: str = field(default="fraction", validator=validators.in_(("fraction", "all")))

    @property
    def default_timeout(self) -> float:
        """Wall seconds: 30 times its own budget, and twice as much for the task's programs, before
        it.
        """
        return 3 * WALL * self.budget

    @property
    def at_once(self) -> int:
        """One: its trials take turns, and the time in which one waits for another would count as
        its own.
        """
        return 1

    def validate(self, task: Task) -> None:
        """Refuse tasks that make no sense.

        Raises:
            TaskError: naming the key, what was expected and what to do.
        """
        suite_of(task, self.mutants)
        self.sound(task)

    async def check(self, attempt: Attempt) -> Outcome:
        """The share of the mutants that the suite tells from the golden program.

        Raises:
            TaskError: the golden program fails, or no mutant differs from it.
            VerifierFault: the sandbox broke on every try.
        """
        return attempt.with_hidden(await self._scored(attempt))

    async def _scored(self, attempt: Attempt) -> Outcome:
        program = program_of(attempt, "python")
        problem = source_problem(program, _LARGEST)
        if problem:
            return Outcome.failed(problem)
        spec = suite_of(attempt.task, self.mutants)
        tests = self.sound(attempt.task)
        timeout = tests.time or self.timeout
        found = await mutated(attempt.task, spec, self._reference(tests, timeout))
        runs = self.runs(tests)
        assert tests.entry_point is not None
        suite = Suite(program.source, tests.entry_point, runs.clock, timeout)
        chance = Random(attempt.key())  # noqa: S311 - keyed by the secret
        order = list(range(len(found.sources))) * self.trials
        chance.shuffle(order)
        return self._outcome(await self._tried(suite, order, found, runs), found, runs)

    def _reference(self, tests: Spec, seconds: float) -> Runs:
        """Runs of the task's own programs, which are no response's expense."""
        runs = self.runs(tests)
        runs.timeout = seconds
        runs.clock = Clock(2 * self.budget)
        return runs

    async def _tried(
        self, suite: Suite, order: Sequence[int], found: Mutated, runs: Runs
    ) -> list[tuple[int, Trial]]:
        fault: VerifierFault | None = None
        for _ in range(self.retries + 1):
            try:
                async with suite_lock():
                    return await suite.trials(order, found.sources, runs.pair())
            except VerifierFault as err:
                if not worth_a_retry(err.fault) or not err.fault.transient:
                    raise
                fault = err
        assert fault is not None
        raise fault

    def _outcome(self, said: list[tuple[int, Trial]], found: Mutated, runs: Runs) -> Outcome:
        data: dict[str, Any] = {"isolation": self.tier(runs)}
        bad = _fails(said)
        if bad is not None:
            why = "it complains" if bad.said == "fail" else bad.why
            return Outcome(0.0, f"it does not pass on a correct program: {why}", data)
        if not all(trial.calls for i, trial in said if i == 0):
            return Outcome(0.0, "it does not call the function that it tests", data)
        lived = {i for i, trial in said if trial.said not in _CAUGHT}
        killed = {i for i in range(1, len(found.sources)) if i not in lived}
        data |= {"mutants": len(found.sources) - 1, "killed": len(killed)}
        data["trials"] = dict(sorted(Counter(_said(said).values()).items()))
        share = len(killed) / data["mutants"]
        survivors = [found.what[i - 1] for i in range(1, len(found.sources)) if i not in killed]
        return Outcome(
            share if self.score == "fraction" else float(share == 1.0),
            f"{len(killed)} of {data['mutants']} mistakes found",
            data,
            private={"survivors": survivors},
        )


def _fails(said: list[tuple[int, Trial]]) -> Trial | None:
    """The first trial that shows that the suite does not pass the golden program."""
    for number, trial in said:
        ends_so_with_all = trial.said in ("fail", "broken") and not trial.calls
        if ends_so_with_all or (number == 0 and trial.said != "pass"):
            return trial
    return None


def _said(said: list[tuple[int, Trial]]) -> dict[int, str]:
    """What the suite made of each mutant: of several trials the one that counts least."""
    worst: dict[int, str] = {}
    for number, trial in said:
        if number and worst.get(number, "fail") in _CAUGHT:
            worst[number] = trial.said
    return worst
