"""What a law is: a test of one subject that says what it protects, and reports its smallest
example.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any, NoReturn, TypeAlias

import pytest
from _pytest.outcomes import Failed
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.strategies import SearchStrategy
from rlenv.model.values import StageResult, Task

from .bench import Pair, Unchecked, told
from .subject import DRAWN, Subject

Law: TypeAlias = Callable[[Subject], None]
LAWS: dict[str, Law] = {}
SHOWN = 400  # characters of a task or a response in a message


class Broken(Exception):
    """What a law found, in words."""


class LawBroken(Failed):
    """A stage breaks a law; the message has the law, smallest example, seed and a command."""


class LawUnchecked(Failed):
    """The kit could not check a law on a stage; the message says which and why."""


# What a law needs that only examples of known worth have.
RIGHT = {"uses", "broken", "right-passes", "swap", "hedging", "keeps", "changes"}
WRONG = {"wrong-fails", "padding", "gate"}
TASKS = {"empty", "constants", "refusals", "echo", "forged", "secrecy"}


def lacking(subject: Subject, name: str) -> str:
    """What a law needs that nobody gave for this subject, and how to give it; "" where nothing is
    missing.
    """
    if name in RIGHT and not subject.right:
        return "no right response is known: give some with --right FILE"
    if name in WRONG and not subject.wrong:
        return "no wrong response is known: give some with --right FILE, in rows with right: false"
    if name in TASKS and subject.made_up:
        return "its tasks are not known: give some with --tasks FILE"
    return ""


def law(test: Law) -> Law:
    """Make a test ``test_NAME(subject)`` the law NAME; its docstring says what it protects."""
    name = test.__name__.removeprefix("test_").replace("_", "-")
    protects = " ".join((test.__doc__ or "").split())
    assert protects, f"the law {name} does not say what it protects"

    @functools.wraps(test)
    def run(subject: Subject) -> None:
        subject.counted = 0
        subject.unscored.clear()
        if lack := lacking(subject, name):
            pytest.skip(lack)
        failed: Failed
        try:
            test(subject)
        except Broken as found:
            failed = LawBroken(_message(name, protects, subject, str(found)), pytrace=False)
        except Exception as err:  # noqa: BLE001 - what the kit itself raises is no broken law of the author's
            why = str(err) if isinstance(err, Unchecked) else f"{type(err).__name__}: {err}"
            failed = LawUnchecked(
                f"{subject.name}: could not check the law '{name}': {why}", pytrace=False
            )
        else:
            return
        raise failed

    LAWS[name] = run
    return run


def _message(name: str, protects: str, subject: Subject, found: str) -> str:
    return (
        f"{subject.name} breaks the law '{name}': {protects}\n{found}\n"
        f"seed: {subject.effort.seed}\nreproduce: {_again(name, subject)}"
    )


def _again(name: str, subject: Subject) -> str:
    """How to see it again; a stage at hand has no plugin to name."""
    seed = subject.effort.seed
    drawn = subject.effort.examples
    more = "" if drawn == DRAWN else f" --examples {drawn}"
    if subject.command:
        return f"{subject.command} --law {name} --seed {seed}{more}"
    if subject.origin is None:
        return f"broken_laws(stage, examples, laws=[{name!r}], max_examples={drawn}, seed={seed})"
    plugin, _, short = subject.use.partition("/")
    return f"rlenv check {plugin} --law {name} --stage {short} --seed {seed}{more}"


def require(holds: object, found: str, *shown: tuple[str, object]) -> None:
    """Go on when it holds.

    Raises:
        Broken: with what was found, and what it was found with.
    """
    if not holds:
        broken(found, *shown)


def _short(value: object) -> str:
    if isinstance(value, StageResult):
        return told(value)
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text):,} characters)"


def broken(found: str, *shown: tuple[str, object]) -> NoReturn:
    """The law does not hold.

    Raises:
        Broken: always.
    """
    raise Broken("\n".join([found, *(f"  {label}: {_short(value)}" for label, value in shown)]))


def case(pair: Pair, result: StageResult | None = None) -> list[tuple[str, object]]:
    """A task, a response and what was said of it, for ``require``."""
    shown: list[tuple[str, object]] = [("task", pair[0]), ("response", pair[1])]
    return shown if result is None else [*shown, ("said", result)]


def for_each(subject: Subject, pairs: Iterable[Pair]) -> Callable[[Callable[..., None]], None]:
    """Try a body on every pair, shortest response first: the first failure is the smallest."""

    def run(body: Callable[..., None]) -> None:
        for task, response in sorted(pairs, key=lambda p: (len(p[1]), len(p[0].prompt))):
            subject.counted += 1
            body(task, response)

    return run


def for_all(
    subject: Subject, **strategies: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], None]:
    """Try a body on what Hypothesis draws; it shrinks what fails, within the subject's time."""

    def run(body: Callable[..., None]) -> None:
        trial = _Trial(subject, body)
        test = given(**strategies)(lambda **drawn: trial(drawn))
        effort = subject.effort
        configured = settings(
            max_examples=effort.examples,
            deadline=None,
            database=None,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.explicit, Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(test)
        try:
            seeded(effort.seed)(configured)()
        except Broken as last:
            found = str(last)  # Hypothesis' own notes stay behind
        else:
            if trial.unchecked is not None:
                raise trial.unchecked
            return
        raise Broken(found)

    return run


class _Trial:
    """One body under Hypothesis; remembers what failed, so that it may stop in the midst of
    shrinking.
    """

    def __init__(self, subject: Subject, body: Callable[..., None]) -> None:
        self.subject = subject
        self.body = body
        self.until = monotonic() + subject.effort.seconds
        self.failed: dict[str, str] = {}
        self.unchecked: Unchecked | None = None

    def __call__(self, drawn: dict[str, Any]) -> None:
        key = repr(drawn)
        found = self.failed.get(key)
        if found is None and monotonic() < self.until:
            self.subject.counted += 1
            found = self._tried(drawn)
        if found is not None:
            self.failed[key] = found
            raise Broken(found)

    def _tried(self, drawn: dict[str, Any]) -> str | None:
        try:
            self.body(**drawn)
        except Broken as found:
            return str(found)
        except Unchecked as err:  # not to be shrunk: nothing more is drawn
            self.unchecked = err
            self.until = 0.0
        return None


def unpaid(subject: Subject, pairs: Iterable[Pair], what: str) -> None:
    """None of these responses passes; ``what`` says what it means that one does."""

    @for_each(subject, pairs)
    def _(task: Task, response: str) -> None:
        refuse(subject, (task, response), what)


def worthless(subject: Subject, pairs: Iterable[Pair], what: str) -> None:
    """None of these responses earns more than a wrong example does."""

    @for_each(subject, pairs)
    def _(task: Task, response: str) -> None:
        if subject.pays(task, response):
            shown = case((task, response), subject.result(task, response))
            broken(what, *shown, ("wrong examples earn at most", subject.level))


def refuse(subject: Subject, pair: Pair, what: str, *shown: tuple[str, object]) -> None:
    """This response does not pass."""
    if subject.passes(*pair):
        broken(what, *shown, *case(pair, subject.result(*pair)))


def skip(reason: str) -> NoReturn:
    """This law does not apply to this stage; skipped is not passed."""
    pytest.skip(reason)
