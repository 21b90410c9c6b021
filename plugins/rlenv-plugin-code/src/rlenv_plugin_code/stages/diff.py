"""``code/diff``: are the answers of a program the expected ones?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Outcome, Task

from rlenv_plugin_code.artifacts import Answer, Answers
from rlenv_plugin_code.boxed import Boxed
from rlenv_plugin_code.compare import Rules, difference
from rlenv_plugin_code.drive.checker import checked
from rlenv_plugin_code.leaks import warnings
from rlenv_plugin_code.programs import tests_in
from rlenv_plugin_code.shown import shown
from rlenv_plugin_code.soundness import not_a_suite
from rlenv_plugin_code.spec import Tests
from rlenv_plugin_code.stdout import output_difference

__all__ = ["Diff"]

_SHOWN = 5  # failures that are written out, for the operator


@frozen
class _Result:
    """What came of one case: "" for passed, else why not; ``private`` says what was expected."""

    why: str = ""
    private: str = ""


@frozen(kw_only=True)
class Diff(Boxed):
    """Compare what ``code/run`` collected with what the task expects.

    The sandbox is for its checker.

    ``data`` has tests_passed and total_tests; what was expected is in ``private`` only.

    Args:
        score: "fraction": the share of the tests that pass; "all": 1 when all do, else 0.
    """

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.tests",)
    needs: ClassVar[tuple[type, ...]] = (Answers,)

    score: str = field(default="fraction", validator=validators.in_(("fraction", "all")))

    def validate(self, task: Task) -> None:
        """Refuse tests that make no sense.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        not_a_suite(self.sound(task), task)

    def survey(self, tasks: Sequence[Task]) -> list[str]:
        """Tasks whose prompt gives hidden cases away, one line each."""
        return warnings(tasks, self.default)

    async def check(self, attempt: Attempt) -> Outcome:
        """The share of the tests that pass.

        Raises:
            VerifierFault: the checker's sandbox broke.
        """
        answers = attempt.get(Answers)
        tests = tests_in(attempt.task, self.language)
        expected = _expected(tests, answers)
        if len(expected) != len(answers.answers):
            raise ValueError(f"{len(answers.answers)} answers to {len(expected)} tests")
        if tests.checker:
            results = await self._by_checker(tests, answers, expected)
        else:
            results = [_result(a, e, tests) for a, e in zip(answers.answers, expected, strict=True)]
        return self._outcome(results, answers)

    async def _by_checker(
        self, tests: Tests, answers: Answers, expected: Sequence[Any]
    ) -> list[_Result]:
        """The verdicts of the task's own checker, which sees each output that there is."""
        results = [_failed(answer) for answer in answers.answers]
        places = [i for i, answer in enumerate(answers.answers) if answer.status == "ok"]
        stdins = answers.inputs or [case.stdin for case in tests.scored]
        outputs = [(stdins[i], answers.answers[i].value, expected[i]) for i in places]
        for i, verdict in zip(places, await self._verdicts(tests, outputs), strict=True):
            if verdict is True:
                results[i] = _Result()
            else:
                said = f"the checker failed ({verdict})" if isinstance(verdict, str) else "refused"
                results[i] = _Result("wrong output", f"{said}: {shown(answers.answers[i].value)}")
        return results

    async def _verdicts(
        self, tests: Tests, outputs: list[tuple[str, str, str]]
    ) -> list[bool | str]:
        return await checked(self.runs(tests), tests.checker, outputs) if outputs else []

    def _outcome(self, results: Sequence[_Result], answers: Answers) -> Outcome:
        passed = sum(not result.why for result in results)
        total = len(results)
        data = {
            "tests_passed": passed,
            "total_tests": total,
            "isolation": answers.isolation,
            "stable": answers.stable,
        }
        failures = [
            {"test": place, "why": result.why, "difference": result.private}
            for place, result in enumerate(results, 1)
            if result.why
        ]
        private = {"failures": failures[:_SHOWN]} if failures else {}
        detail = f"{passed} of {total} tests passed"
        if failures:
            detail += f"; test {failures[0]['test']}: {failures[0]['why']}"
        share = passed / total if total else 0.0
        score = share if self.score == "fraction" else float(total > 0 and passed == total)
        if not answers.stable:
            score = 0.0
            detail = f"{detail}; with another hash seed, it answers differently"
        return Outcome(score, detail, data, None, private)


def _expected(tests: Tests, answers: Answers) -> Sequence[Any]:
    if answers.expected is not None:
        return answers.expected
    if tests.kind == "golden":  # there was no program to run
        if any(answer.status == "ok" for answer in answers.answers):
            raise ValueError("answers to a golden task without the golden program's")
        return [None] * len(answers.answers)
    if tests.kind == "asserts":
        return [True] * len(tests.scored)
    return [case.stdout if tests.programs else case.expected for case in tests.scored]


def _failed(answer: Answer) -> _Result:
    if answer.status == "ok":
        return _Result()
    return _Result(f"{answer.status}: {answer.error}" if answer.error else answer.status)


def _result(answer: Answer, expected: Any, tests: Tests) -> _Result:
    if answer.status != "ok":
        return _failed(answer)
    if tests.kind == "asserts":
        return _Result() if answer.value is True else _Result(answer.error or "it does not pass")
    rules = Rules(tests.rtol, tests.atol, tests.unordered, tests.loose)
    if not tests.programs:
        found = difference(expected, answer.value, rules)
        return _Result() if found is None else _Result("wrong answer", str(found))
    if type(answer.value) is not str:
        return _Result("wrong output", "no text")
    found = output_difference(expected, answer.value, rules)
    return _Result() if found is None else _Result("wrong output", str(found))
