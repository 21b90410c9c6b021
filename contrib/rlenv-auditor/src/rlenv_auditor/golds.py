"""Right responses: given by a person, or made of a task's answer in the form that the verifier
reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Protocol

from rlenv.model.values import Task

from .derived import forms
from .model import Reply
from .responses import CARRIERS, written
from .solved import plainly_in, text_of
from .target.process import OutOfBudget, Pair, Target

__all__ = ["Golds", "elsewhere"]


class Asked(Protocol):
    """What is needed of a ``Bench``: see there."""

    target: Target
    tasks: tuple[Task, ...]

    def ask(self, pairs: Sequence[Pair]) -> list[Reply]: ...
    def answered(self, pairs: Sequence[Pair]) -> list[tuple[int, Reply]]: ...
    def pays(self, reply: Reply) -> bool: ...


class Golds:
    """The right responses of an audit's tasks.

    ``form`` is the text, with ``{}`` in the place of an answer, in which most answers pass, and
    ``carrier`` its name; None where no form does, or no task has an answer.
    """

    def __init__(self, bench: Asked, right: Mapping[str, Sequence[str]]) -> None:
        self._bench = bench
        self._right = right
        self.carrier: str | None = None
        self._passing: dict[str, int] | None = None

    def find(self) -> None:
        """Try every form on a few tasks, and keep the one that is paid most often."""
        if self._passing is not None:
            return
        bench = self._bench
        self._passing = {}
        silent = 0
        with_answer = [task for task in bench.tasks if text_of(task.answer) is not None][:4]
        for name, form in self.forms.items() if with_answer else ():
            pairs = [(task, written(form, str(text_of(task.answer)))) for task in with_answer]
            with suppress(OutOfBudget):
                bench.ask(pairs)
            replies = [reply for _, reply in bench.answered(pairs)]
            self._passing[name] = sum(bench.pays(reply) for reply in replies)
            silent += all(reply.reward is None for reply in replies)
            if silent == 2 or len(replies) < len(pairs):  # it answers nobody, or too slowly
                break
            if self._passing[name] == len(pairs):
                break
        most = max(self._passing.values(), default=0)
        if most:
            self.carrier = next(name for name, paid in self._passing.items() if paid == most)

    @cached_property
    def derived(self) -> Mapping[str, str]:
        """Forms that the verifier's own texts and the prompts ask for."""
        texts = [str(m.get("content")) for task in self._bench.tasks[:1] for m in task.messages]
        return forms(self._bench.target.words, texts)

    @property
    def forms(self) -> Mapping[str, str]:
        """All that are tried."""
        return {**CARRIERS, **self.derived}

    @property
    def form(self) -> str | None:
        """The form that is paid."""
        self.find()
        return None if self.carrier is None else self.forms[self.carrier]

    def dressed(self, *texts: str) -> list[str]:
        """These texts in the form that is paid; nothing where there is none, or it adds nothing."""
        form = self.form
        return [] if form in (None, "{}") else [written(str(form), text) for text in texts]

    def write(self, task: Task, answer: str | None = None) -> str:
        """An answer in the form that is paid, else as it is; the task's own where none is given."""
        return written(self.form or "{}", answer or str(text_of(task.answer)))

    def given(self, task: Task) -> str | None:
        """What a person gave for it."""
        found = self._right.get(task.id or "")
        return found[0] if found else None

    def of(self, task: Task) -> str | None:
        """A response that should pass, or None where none is known."""
        if given := self.given(task):
            return given
        if program := _program(task):
            return f"```python\n{program}\n```"
        if text_of(task.answer) is None or (self.form is None and not self._guess):
            return None
        return self.write(task)

    @property
    def _guess(self) -> bool:
        """Where no form was paid, a person would still expect the bare answer to pass; but not
        where calls of tools are asked for.
        """
        return bool(self._passing) and not self._bench.target.acts

    def known(self) -> list[tuple[Task, str]]:
        """(task, right response) for every task that has one."""
        return [(task, gold) for task in self._bench.tasks if (gold := self.of(task)) is not None]

    def wrong(self) -> list[tuple[Task, str]]:
        """(task, the right response of the next task) where it neither holds the task's answer nor
        is paid.

        One that is paid may be right here too, as a puzzle has several solutions, or is a finding
        of ``gold.swap``: what is added to it shows nothing.
        """
        strange = [(task, other) for task, _, other in elsewhere(self.known())]
        replies = self._bench.ask(strange)
        return [pair for pair, r in zip(strange, replies, strict=True) if not self._bench.pays(r)]


def elsewhere(
    known: Sequence[tuple[Task, str]], steps: Sequence[int] = (1,)
) -> Iterator[tuple[Task, str, str]]:
    """(task, its right response, one that is right for a task some steps further and does not hold
    this one's answer).
    """
    for place, (task, own) in enumerate(known):
        for step in steps:
            there, other = known[(place + step) % len(known)]
            same = (there.prompt, there.answer, there.info) == (task.prompt, task.answer, task.info)
            if not same and other != own and not plainly_in(task, other):
                yield task, own, other


def _program(task: Task) -> str | None:
    """The golden or canonical program of a task of code."""
    tests = task.info.get("tests")
    if (
        isinstance(tests, Mapping)
        and isinstance(tests.get("golden"), str)
        and tests.get("kind") != "suite"
    ):
        return str(tests["golden"])
    canonical = task.info.get("canonical_solution")
    if not isinstance(canonical, str) or not canonical.strip():
        return None
    whole = canonical.lstrip().startswith(("def ", "import ", "from ", "class "))
    return canonical if whole else task.prompt + canonical
