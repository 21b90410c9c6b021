"""Determinism: the same response gets the same verdict, whoever asks, where, when and in which
order.
"""

from __future__ import annotations

import os
import random

from rlenv.model.values import Task

from rlenv_testing.bench import said
from rlenv_testing.drawn import attempts
from rlenv_testing.law import broken, case, for_all, law, require, skip
from rlenv_testing.probe import Report, Wish
from rlenv_testing.probing import probe
from rlenv_testing.subject import Subject


def steady(subject: Subject) -> None:
    if not getattr(subject.stage, "deterministic", True):
        skip("deterministic = False: it is measured or sampled")


@law
def test_repeats(subject: Subject) -> None:
    """The same response gets the same verdict when it is asked for again, else the reward is
    noise.
    """
    steady(subject)

    @for_all(subject, pair=attempts(subject))
    def _(pair: tuple[Task, str]) -> None:
        first = subject.result(*pair)
        again = subject.result(*pair)
        what = "it says something else the second time"
        require(said(first) == said(again), what, *case(pair, first), ("again", again))


@law
def test_batch(subject: Subject) -> None:
    """A batch over several workers gives what single calls give."""
    steady(subject)
    if subject.bench.group_only:
        skip("it judges groups only: see the law 'group'")
    env = subject.bench.env
    pairs = subject.mixture
    for pair, verdict in zip(pairs, env.evaluate_many(pairs), strict=True):
        subject.counted += 1
        alone = subject.result(*pair)
        same = bool(verdict.results) and said(verdict.results[-1]) == said(alone)
        require(same, "a batch says something else", *case(pair, alone), ("in a batch", verdict))


def compare(subject: Subject, wish: Wish, what: str) -> None:
    """A probe with this wish says what the plain one says."""
    steady(subject)
    plain = probe(subject)
    other = probe(subject, wish)
    known = dict(plain.said)
    _agree(subject, known, other.said, what)


def _agree(subject: Subject, known: dict[int, str], rows: list[tuple[int, str]], what: str) -> None:
    pairs = subject.mixture
    apart = [(i, text) for i, text in rows if text != known[i]]
    if apart:
        i, text = min(apart, key=lambda row: len(pairs[row[0]][1]))
        shown = *case(pairs[i]), ("plain", known[i]), (what, text)
        broken(f"it says something else {what}", *shown)


@law
def test_order(subject: Subject) -> None:
    """What was asked before does not matter: a stage keeps nothing from one response to the
    next.
    """
    steady(subject)
    count = len(subject.mixture)
    turned = list(range(count))[::-1]
    shuffled = random.Random(subject.effort.seed).sample(turned, count)  # noqa: S311 - no secret
    order = [*turned, *shuffled] * max(1, 120 // (2 * count))
    compare(subject, Wish(order=order), "in another order")


@law
def test_hash_seed(subject: Subject) -> None:
    """Another hash seed, and so another order of sets, gives the same verdicts."""
    compare(subject, Wish(environ={"PYTHONHASHSEED": "1"}), "with PYTHONHASHSEED=1")
    compare(subject, Wish(environ={"PYTHONHASHSEED": "4242"}), "with PYTHONHASHSEED=4242")


@law
def test_locale(subject: Subject) -> None:
    """Another locale, its encoding and its decimal comma give the same verdicts."""
    environ = {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0"}
    compare(subject, Wish(environ=environ, comma=True), "in another locale")


@law
def test_time_zone(subject: Subject) -> None:
    """Another time zone gives the same verdicts."""
    compare(subject, Wish(environ={"TZ": "KIT-13:45"}), "in another time zone")


@law
def test_clock(subject: Subject) -> None:
    """Another day gives the same verdicts."""
    compare(subject, Wish(shift=400 * 86_400 + 5 * 3_600 + 123.456), "on another day")


@law
def test_working_directory(subject: Subject) -> None:
    """Another working directory gives the same verdicts: a stage reads no file that happens to lie
    there.
    """
    compare(subject, Wish(cwd="/"), "in another working directory")
    compare(subject, Wish(cwd=os.getcwd()), "in this working directory")


@law
def test_together(subject: Subject) -> None:
    """Threads that ask at the same time get what one alone gets."""
    steady(subject)
    plain = probe(subject)
    found: Report = probe(subject, Wish(threads=4))
    _agree(subject, dict(plain.said), found.together, "to one of 4 threads at once")
