"""``constraints/all``: how many of the constraints of an environment or of its tasks a response
satisfies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from attrs import field, frozen
from rlenv import Attempt, ConfigError, Outcome, Task, TaskError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Constraint, Finding
from rlenv_plugin_constraints.content import earnings, remedy, says_nothing
from rlenv_plugin_constraints.contradictions import contradictions
from rlenv_plugin_constraints.registry import build_all
from rlenv_plugin_constraints.text import Text

__all__ = ["All", "outcome"]

_SHOWN = 100  # spans of one constraint
_Named = tuple[str, Constraint]


def _tables(given: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple(given)


@frozen(slots=False)
class All:
    """Constraints that a program can check.

    The score is the share that holds, or 1 only when all do.

    Args:
        constraints: tables such as ``{kind = "max_words", n = 400}``, for every task.
        source: where a task has its own, ``info.constraints`` for example: a list of such tables,
            that come after those of ``constraints``.
        score: ``fraction`` (satisfied / total) or ``all`` (1 or 0).
        content: give 0 to a response without content (blank, the prompt again, a refusal, only
            fillers and markers).  Default: on if no stage of another phase has a weight.  Otherwise
            that stage decides whether ``42`` or ``(B)`` is right, and only a blank response gets 0.
        thinking: ``drop`` what the environment's ``[response] thinking`` hides, or ``keep`` all of
            the response, which a form such as ``<think>…</think><answer>…</answer>`` needs.
    """

    phase: ClassVar[str] = "constrain"
    where: ClassVar[str] = "inline"
    inline_limit: ClassVar[int] = (
        1024  # one constraint costs up to 4 µs a character, and there may be several
    )
    survey_if_alone: ClassVar[bool] = True

    constraints: Safe[tuple[Mapping[str, Any], ...]] = field(default=(), converter=_tables)
    source: Safe[str] = ""
    score: Literal["fraction", "all"] = "fraction"
    content: bool | None = None
    thinking: Literal["drop", "keep"] = "drop"
    _common: tuple[_Named, ...] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if not self.constraints and not self.source:
            raise ConfigError(
                'name constraints, or where the tasks have them: source = "info.constraints"'
            )
        if self.source and not self.source.startswith("info."):
            raise ConfigError(f'source is a path such as "info.constraints", not {self.source!r}')
        common = _named(self.constraints, "constraints") if self.constraints else ()
        _refuse_contradictions(common)
        object.__setattr__(self, "_common", common)

    @property
    def uses(self) -> tuple[str, ...]:
        """What it needs of a task."""
        return (self.source,) if self.source else ()

    @property
    def tells(self) -> tuple[str, ...]:
        """What of a task its outcomes repeat: the prompt says it too."""
        return self.uses

    def validate(self, task: Task) -> None:
        """Refuse constraints of a task that are none, or that contradict one another."""
        try:
            _refuse_contradictions(self._of(task))
        except ConfigError as err:
            raise TaskError("; ".join(err.problems) or str(err), task.id) from None

    def survey(self, tasks: Sequence[Task]) -> list[str]:
        """What policies that read nothing earn on these tasks."""
        return earnings(lambda task, said: self.check(Attempt(task, said)).score, tasks)

    def check(self, attempt: Attempt) -> Outcome:
        """The share of constraints that hold, and of each what was measured, wanted and where."""
        named = self._of(attempt.task)
        keeps = self.thinking == "keep"
        text = Text(attempt.response if keeps else attempt.visible, attempt.task.prompt)
        reason = says_nothing(text, [part for _, part in named], attempt, content=self.content)
        findings = [(name, part.check(text)) for name, part in named]
        return outcome(findings, self.score, reason, None if keeps else attempt)

    def _of(self, task: Task) -> tuple[_Named, ...]:
        if not self.source:
            return self._common
        tables: Any = task.info
        for key in self.source.split(".")[1:]:
            tables = tables[key]
        return (*self._common, *_read(json.dumps(tables), self.source))


@lru_cache(maxsize=1024)  # a task is verified many times
def _read(tables: str, path: str) -> tuple[_Named, ...]:
    return _named(json.loads(tables), path)


def _named(tables: Any, path: str) -> tuple[_Named, ...]:
    parts = build_all(tables, path)
    return tuple((str(table["kind"]), part) for table, part in zip(tables, parts, strict=True))


def _refuse_contradictions(named: Sequence[_Named]) -> None:
    if found := contradictions([part for _, part in named]):
        raise ConfigError(*found)


def outcome(
    findings: Sequence[tuple[str, Finding]],
    score: str,
    reason: str = "",
    attempt: Attempt | None = None,
) -> Outcome:
    """What a stage says of named findings.

    Args:
        findings: (kind as it was asked for, what was found).
        score: ``fraction`` or ``all``.
        reason: why the response is worth nothing whatever it satisfies; "" where it is not so.
        attempt: that whose visible text was looked at; None where it was the whole response.
    """
    held = sum(found.satisfied for _, found in findings)
    share = held / len(findings) if score == "fraction" else float(held == len(findings))
    failed = [_said(kind, found) for kind, found in findings if not found.satisfied]
    detail = f"{held} of {len(findings)} constraints hold"
    data: dict[str, Any] = {
        "satisfied": held,
        "total": len(findings),
        "constraints": [_row(kind, found, attempt) for kind, found in findings],
    }
    if reason:
        data["contentless"] = reason
        nothing = f"the response has no content: {reason} ({remedy(reason)})"
        said = Outcome(0.0, f"{nothing}; {detail}", data)
    else:
        said = Outcome(share, "; ".join([detail, *failed])[:1000], data)
    return said if attempt is None else attempt.with_hidden(said)


def _row(kind: str, found: Finding, attempt: Attempt | None) -> dict[str, Any]:
    return {
        "kind": kind,
        "satisfied": found.satisfied,
        "measured": found.measured,
        "wanted": found.wanted,
        "spans": [list(attempt.reading.span(*s) if attempt else s) for s in found.spans[:_SHOWN]],
        "note": found.note,
    }


def _said(kind: str, found: Finding) -> str:
    words = f"{kind}: {found.measured!r:.80}, wanted {found.wanted!r:.80}"
    return f"{words} ({found.note})" if found.note else words
