"""``constraints/ifeval``: IFEval's and IFBench's instructions, from their own columns, strictly or
as published.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, TypeGuard

from attrs import evolve, frozen
from rlenv import Attempt, ConfigError, Outcome, Task, TaskError

from rlenv_plugin_constraints.constraint import Constraint, Finding
from rlenv_plugin_constraints.content import earnings, says_nothing
from rlenv_plugin_constraints.contradictions import contradictions
from rlenv_plugin_constraints.ids import specs_of
from rlenv_plugin_constraints.official import verdict
from rlenv_plugin_constraints.registry import build
from rlenv_plugin_constraints.stages.all import outcome
from rlenv_plugin_constraints.text import Text

__all__ = ["IFEval", "loose_forms"]

_Ids = tuple[tuple[str, str], ...]  # of each instruction: its id, and its parameters as JSON


@frozen
class IFEval:
    """The instructions of a task, as IFEval and IFBench publish them.

    They are in its columns ``instruction_id_list`` and ``kwargs``.

    Args:
        mode: ``strict`` checks the literal meaning of each instruction; ``official`` gives the
            verdicts of the published checkers, faults included (the page "instructions" lists where
            they differ).
        score: ``all`` (1 when every instruction is followed, else 0) or ``fraction``.
        loose: an instruction is also followed when it is by the response without its first line,
            its last line, both, or its asterisks, as the benchmarks' loose accuracy has it.
        content: give 0 to a response without content.  Default: on in ``strict`` if no stage of
            another phase has a weight.
        thinking: ``drop`` what the environment's ``[response] thinking`` hides, or ``keep`` all of
            the response; ``official`` always keeps it, as the published checkers do.
    """

    phase: ClassVar[str] = "constrain"
    where: ClassVar[str] = "inline"
    inline_limit: ClassVar[int] = (
        1024  # one constraint costs up to 4 µs a character, and there may be several
    )
    uses: ClassVar[tuple[str, ...]] = ("info.instruction_id_list", "info.kwargs")
    tells: ClassVar[tuple[str, ...]] = uses
    deterministic: ClassVar[bool] = True
    survey_if_alone: ClassVar[bool] = True

    mode: Literal["strict", "official"] = "strict"
    score: Literal["all", "fraction"] = "all"
    loose: bool = False
    content: bool | None = None
    thinking: Literal["drop", "keep"] = "drop"

    def validate(self, task: Task) -> None:
        """Read the task's columns, and build what they ask for.

        Raises:
            TaskError: naming the instruction and the key that is missing, unknown or wrong.
        """
        try:
            named = _built(_columns(task))
        except ConfigError as error:
            raise TaskError("; ".join(error.problems), task.id) from None
        if self.mode == "strict" and (found := contradictions([part for _, part in named])):
            raise TaskError("; ".join(found), task.id)

    def survey(self, tasks: Sequence[Task]) -> list[str]:
        """What policies that read nothing earn on these tasks."""
        return earnings(lambda task, said: self.check(Attempt(task, said)).score, tasks)

    def check(self, attempt: Attempt) -> Outcome:
        """Whether each instruction is followed; never raises on a response."""
        columns = _columns(attempt.task)
        strict = self.mode == "strict"
        keeps = not strict or self.thinking == "keep"
        response = attempt.response if keeps else attempt.visible
        prompt = attempt.task.prompt
        forms = loose_forms(response) if self.loose else (response,)
        named = _built(columns)
        reason = ""
        if strict or self.content:
            asked = [*(part for _, part in named), _Named(tuple(name for name, _ in columns))]
            reason = says_nothing(Text(response, prompt), asked, attempt, content=self.content)
        if strict:
            texts = [Text(form, prompt) for form in forms]
            findings = [(name, _first(part.check, texts)) for name, part in named]
        else:
            findings = [
                (name, _first(partial(_official, name, kwargs), forms)) for name, kwargs in columns
            ]
        return outcome(findings, self.score, reason, None if keeps else attempt)


@frozen
class _Named:
    """The names of instructions: a response of nothing else says nothing."""

    kind: ClassVar[str] = "named"
    names: tuple[str, ...]

    def markers(self) -> tuple[str, ...]:
        return (*self.names, *(name.replace(":", " ").replace("_", " ") for name in self.names))

    def check(self, _: Text) -> Finding:
        return Finding(satisfied=True)


def loose_forms(response: str) -> tuple[str, ...]:
    """The forms of a response that loose accuracy looks at: itself first."""
    lines = response.split("\n")
    cut = (lines[1:], lines[:-1], lines[1:-1])
    forms = [response, *("\n".join(part).strip() for part in cut)]
    forms += [form.replace("*", "") for form in forms]
    return tuple(dict.fromkeys(forms))


def _first(check: Callable[[Any], Finding], forms: Sequence[Any]) -> Finding:
    """The finding on the first form that satisfies; else that on the response itself."""
    first = check(forms[0])
    if first.satisfied:
        return first
    for form in forms[1:]:
        if (found := check(form)).satisfied:
            return evolve(found, spans=(), note="loosely")
    return first


def _official(name: str, kwargs: str, response: str) -> Finding:
    held = bool(response.strip()) and verdict(name, json.loads(kwargs), response)
    return Finding(held, measured=held, wanted=True)


def _columns(task: Task) -> _Ids:
    ids = task.info.get("instruction_id_list")
    kwargs = task.info.get("kwargs")
    if not _texts(ids) or not ids:
        raise TaskError(f"info.instruction_id_list is a list of ids, not {ids!r:.80}", task.id)
    if not isinstance(kwargs, Sequence) or len(kwargs) != len(ids):
        raise TaskError(f"info.kwargs is a list of {len(ids)} tables, not {kwargs!r:.80}", task.id)
    try:
        tables = [dict(table or {}) for table in kwargs]
    except (TypeError, ValueError):
        raise TaskError(f"info.kwargs is a list of tables, not {kwargs!r:.80}", task.id) from None
    return tuple(
        (name, json.dumps(table, sort_keys=True, default=list))
        for name, table in zip(ids, tables, strict=True)
    )


def _texts(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, Sequence) and all(isinstance(item, str) for item in value)


@lru_cache(maxsize=4096)  # a task is verified many times
def _built(columns: _Ids) -> tuple[tuple[str, Constraint], ...]:
    specs = specs_of([(name, json.loads(kwargs)) for name, kwargs in columns])
    return tuple((name, build(spec, name)) for (name, _), spec in zip(columns, specs, strict=True))
