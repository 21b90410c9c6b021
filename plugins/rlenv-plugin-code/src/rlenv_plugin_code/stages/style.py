"""``code/style``: how well a program is written, by its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, ClassVar

from attrs import Attribute, field, frozen
from rlenv import Attempt, ConfigError, Outcome, Task, TaskError

from rlenv_plugin_code.artifacts import Answer, Compiled
from rlenv_plugin_code.boxed import Boxed
from rlenv_plugin_code.compiler import asked
from rlenv_plugin_code.names import are_lines
from rlenv_plugin_code.programs import program_in, source_problem, tests_in

__all__ = ["Style"]

_BOOT = "import rlenv_style; rlenv_style.serve()"
_words = re.compile(r"\w+").findall


def _pair(value: Sequence[float]) -> tuple[float, ...]:
    return tuple(value)


def _rises(_: object, option: Attribute[Any], value: tuple[float, ...]) -> None:
    good = len(value) == 2 and all(type(n) in (int, float) and isfinite(n) for n in value)
    if not good or not 0 <= value[0] < value[1]:
        raise ConfigError(
            f"{option.name} is [full, none], two numbers with 0 <= full < none, not {list(value)}"
        )


def _limits(full: float, none: float) -> Any:
    return field(default=(full, none), converter=_pair, validator=_rises)


@frozen(kw_only=True)
class Style(Boxed):
    """How well a Python program is written: the mean of six parts, each from 0 to 1.

    A part is 1 up to the first number of its option, 0 from the second, and falls evenly between
    them.  A program that does nothing, or does not define the function that the task asks for,
    scores 0, and so does one that holds Python code in a text, or uses ``exec``, ``eval`` or other
    ways to run what is not in its tree.  A text that is no Python until it is decoded is only long:
    this steers honest programs and is no wall.  Nothing is run, so a program that is wrong has a
    style too: give this stage a bonus or a small weight, behind a gate on ``code/diff``.

    Args:
        length: statements of the longest function; the module is one too, without its functions.
            Expressions count as a statement for 12 nodes of their tree, and texts for 40 letters,
            so that neither one long line nor code in a text is short.  Pylint (R0915) allows 50
            statements.
        line: characters of the longest line.
        nesting: blocks inside one another: functions, classes, loops, conditions, ``with``,
            ``try``, comprehensions, ``lambda``.  Pylint (R1702) allows 5 in a function.
        complexity: of the most complex function, as T. J. McCabe counts it ("A Complexity Measure",
            1976): 1, and 1 for each loop, condition, ``except``, ``case``, ``assert``,
            comprehension and its ``if``, and each ``and`` or ``or``.  He recommends 10 at most.
        naming: names that are not written as PEP 8 has them, or are ``l``, ``O`` or ``I``; names
            that the prompt holds are the task's.
        dead: statements that cannot be reached, values and imports that are not used, variables of
            a function that nothing reads, conditions that are constants.

    Example:
        ``[[stage]]`` with ``use = "code/style"``, ``bonus = 0.2``, ``options = { nesting = [2, 5]
        }``.
    """

    phase: ClassVar[str] = "constrain"
    where: ClassVar[str] = "worker"
    takes: ClassVar[tuple[type, ...]] = (Compiled,)

    length: tuple[float, ...] = _limits(20, 60)
    line: tuple[float, ...] = _limits(100, 160)
    nesting: tuple[float, ...] = _limits(4, 8)
    complexity: tuple[float, ...] = _limits(10, 25)
    naming: tuple[float, ...] = _limits(0, 5)
    dead: tuple[float, ...] = _limits(0, 5)

    def validate(self, task: Task) -> None:
        """Refuse programs in another language.

        Raises:
            TaskError: naming the task and what to do.
        """
        language = tests_in(task, self.language).language
        if language != "python":
            raise TaskError(
                f"code/style reads Python only, and this task is in {language}; give such tasks an "
                "environment of their own, without code/style",
                task.id,
            )

    async def check(self, attempt: Attempt) -> Outcome:
        """The mean; the detail has each part, and the first line that costs something.

        Raises:
            ConfigError: such a sandbox cannot be had here.
            VerifierFault: the sandbox broke on every try.
        """
        tests = tests_in(attempt.task, self.language)
        program = program_in(attempt, tests, self.prefix)
        problem = source_problem(program, tests.limits.source_bytes or 1 << 18)
        if problem:
            return attempt.with_hidden(Outcome.failed(problem))
        answer = await asked(self.runs(tests), program, _BOOT)
        if answer.status == "ok" and not _is_known(answer.value):
            answer = Answer("protocol", error="an answer of no known form")
        if answer.status != "ok":
            return attempt.with_hidden(Outcome.failed(f"it cannot be read: {answer.error}"))
        *measures, defined = answer.value
        wanted = tests.entry_point or ""
        if attempt.task.info.get("tests") is not None and not {wanted, "*"} & {*defined}:
            said = f"it does not define {wanted}" if wanted else "it prints nothing"
            return attempt.with_hidden(Outcome.failed(said))
        known = {*_words(attempt.task.prompt), wanted}
        return attempt.with_hidden(self._scored(measures, known, program.first_line - 1))

    def _scored(self, measures: list[Any], known: set[str], shift: int) -> Outcome:
        deeds, length, line, nesting, complexity, names, dead, dynamic = measures
        if dynamic:
            return Outcome.failed(
                f"line {dynamic[0][1] + shift}: it uses {dynamic[0][0].lstrip('.')}"
            )
        if not deeds:
            return Outcome.failed("it does nothing")
        names = [row for row in names if row[0] not in known]
        found = {
            "length": length,
            "line": line,
            "nesting": nesting,
            "complexity": complexity,
            "naming": len(names),
            "dead": len(dead),
        }
        parts = {name: _part(value, *getattr(self, name)) for name, value in found.items()}
        detail = ", ".join(f"{name} {found[name]} ({part:.2f})" for name, part in parts.items())
        for what, at in sorted([*names, *dead], key=lambda row: int(row[1]))[:1]:
            detail += f"; line {at + shift}: {what}"
        return Outcome(sum(parts.values()) / len(parts), detail, dict(found))


def _part(value: float, full: float, none: float) -> float:
    return min(1.0, max(0.0, (none - value) / (none - full)))


def _is_known(body: Any) -> bool:
    return (
        type(body) is list
        and len(body) == 9
        and all(type(count) is int and count >= 0 for count in body[:5])
        and all(map(are_lines, body[5:8]))
        and type(body[8]) is list
        and all(type(name) is str for name in body[8])
    )
