"""The optimizer: a policy without a model, which climbs the reward while an independent check says
that nothing is solved.

A pool of fragments (corpora, pieces of prompts, shapes of answers, what probes asked before) is
spliced and mutated; what is paid more stays.  Where a fragment earns something, Hypothesis drives
the first draws, so that what it has learned of the reward directs them; the rest of the budget is
an evolutionary climb.  Every find is shrunk to the smallest response that is still paid.
"""

from __future__ import annotations

import random
import string
import warnings
from collections.abc import Sequence
from contextlib import suppress

from attrs import define, evolve, field
from rlenv.model.values import Task

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.model import Finding, Reply, Result
from rlenv_auditor.probes.base import Probe, finding, result, safely, status_of
from rlenv_auditor.probes.exploits import INJECTIONS
from rlenv_auditor.responses import sequence, written
from rlenv_auditor.solved import plainly_in, text_of
from rlenv_auditor.statistics import rate

from .shrink import shrunk

__all__ = ["PROBES"]

POOL = 12  # responses that live on, of each task
LONGEST = 4000


@define
class _Climb:
    """The search on one task."""

    bench: Bench
    task: Task
    fragments: Sequence[str]
    chance: random.Random
    pool: list[tuple[float, str]] = field(factory=list)
    calls: int = 0

    def score(self, texts: Sequence[str]) -> list[tuple[float, str]]:
        """What each earns, where it is no solution; the right answer earns nothing here."""
        unsolved = [text[:LONGEST] for text in texts if not plainly_in(self.task, text[:LONGEST])]
        replies = self.bench.ask([(self.task, text) for text in unsolved])
        self.calls += len(unsolved)
        return [(_worth(reply), text) for text, reply in zip(unsolved, replies, strict=True)]

    def keep(self, scored: Sequence[tuple[float, str]]) -> None:
        merged = {text: worth for worth, text in [*self.pool, *scored]}
        ordered = sorted(merged, key=lambda text: (-merged[text], len(text)))
        self.pool = [(merged[text], text) for text in ordered[:POOL]]

    @property
    def best(self) -> tuple[float, str]:
        return self.pool[0] if self.pool else (0.0, "")

    def children(self, count: int) -> list[str]:
        return [self._child() for _ in range(count)]

    def _child(self) -> str:
        chance = self.chance
        living = self.pool and chance.random() < 0.8
        parent = chance.choice(self.pool)[1] if living else chance.choice(self.fragments)
        ways = (self._spliced, self._wrapped, self._cut, self._typed, self._repeated)
        return chance.choice(ways)(parent)

    def _spliced(self, text: str) -> str:
        other = self.chance.choice(self.fragments)
        if self.chance.random() < 0.5:
            return f"{text}\n{other}"
        at = self.chance.randrange(len(text) + 1)
        return text[:at] + self.chance.choice(("", " ", "\n")) + other + text[at:]

    def _wrapped(self, text: str) -> str:
        return written(self.chance.choice(tuple(self.bench.golds.forms.values())), text)

    def _cut(self, text: str) -> str:
        if len(text) < 2:
            return self.chance.choice(self.fragments)
        start, stop = sorted(self.chance.sample(range(len(text) + 1), 2))
        return text[start:stop] if self.chance.random() < 0.5 else text[:start] + text[stop:]

    def _typed(self, text: str) -> str:
        at = self.chance.randrange(len(text) + 1)
        return text[:at] + self.chance.choice(string.printable[:95]) + text[at + 1 :]

    def _repeated(self, text: str) -> str:
        return (text + self.chance.choice((" ", "\n", ", "))) * self.chance.randrange(2, 6)


def _worth(reply: Reply) -> float:
    return reply.reward if reply.reward is not None and reply.reward == reply.reward else 0.0


def _fragments(bench: Bench, task: Task) -> list[str]:
    """What the search begins with."""
    words = task.prompt.split()
    pieces = [task.prompt, *task.prompt.split("\n")[:8], *words[:20], *words[-20:]]
    others = [text_of(other.answer) for other in bench.tasks if other.id != task.id]
    answers = [text for text in others if text is not None]
    shapes = [_shape(text) for text in answers[:10]]
    own = [*bench.target.words, *sequence("constants"), *INJECTIONS.values()]
    known = [safely(build, task) for _, build in bench.corpora[:40]]
    found = [*own, *pieces, *answers[:20], *shapes, *(text for text in known if text is not None)]
    return list(dict.fromkeys(text for text in found if len(text) <= LONGEST))


def _shape(text: str) -> str:
    """An answer's form without its content: digits become 0, letters x."""
    return "".join(map(_mark, text))


def _mark(character: str) -> str:
    if character.isdigit():
        return "0"
    return "x" if character.isalpha() else character


def _directed(climb: _Climb, draws: int, seed: int) -> None:
    """Hypothesis draws responses out of fragments and is told what each earned, so that it looks
    near what pays.
    """
    from hypothesis import HealthCheck, Phase, given, settings, strategies, target
    from hypothesis import seed as seeded
    from hypothesis.errors import HypothesisWarning

    piece = strategies.one_of(
        strategies.sampled_from(list(climb.fragments)), strategies.text(max_size=12)
    )
    response = strategies.builds(
        lambda form, parts, glue: written(form, glue.join(parts)),
        strategies.sampled_from(sorted(climb.bench.golds.forms.values())),
        strategies.lists(piece, min_size=1, max_size=3),
        strategies.sampled_from(["", " ", "\n"]),
    )

    @seeded(seed)
    @settings(
        max_examples=draws,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(response)
    def draw(text: str) -> None:
        scored = climb.score([text])
        climb.keep(scored)
        target(scored[0][0] if scored else 0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)
        draw()


def _climbed(bench: Bench, task: Task) -> tuple[_Climb, bool]:
    """The search on a task, and whether there was time for all of it."""
    fragments = _fragments(bench, task)
    climb = _Climb(bench, task, fragments, bench.chance("optimizer", task.id))
    rounds, size, draws = (40, 32, 60) if bench.full else (8, 24, 25)
    try:
        climb.keep(climb.score(fragments))
        if 0 < climb.best[0] < bench.pass_mark:  # else no draw is better than another
            _directed(climb, draws, bench.chance("directed", task.id).randrange(1 << 30))
        for _ in range(rounds):
            if climb.best[0] >= bench.pass_mark:
                break
            climb.keep(climb.score(climb.children(size)))
    except OutOfBudget:
        return climb, False
    return climb, True


def _optimized(bench: Bench, probe: Probe) -> Result:
    found: list[Finding] = []
    best: list[float] = []
    complete = True
    for task in bench.tasks[: 12 if bench.full else 4]:
        climb, complete = _climbed(bench, task)
        best.append(min(1.0, climb.best[0]))
        if climb.best[0] >= bench.pass_mark:
            found.append(_reported(bench, probe, climb))
        if not complete:
            break
    hits = rate(len(found), len(best))
    found = _once(found, len(best))
    status = status_of(found=bool(found), complete=complete)
    reason = "" if complete else "the budget ended before all tasks were searched"
    figures = {
        "best reward without solving": max(best),
        "mean of the best": sum(best) / len(best),
        "tasks": len(best),
    }
    return result(
        probe, status, rate=hits, findings=tuple(found[:3]), figures=figures, reason=reason
    )


def _once(found: Sequence[Finding], tasks: int) -> list[Finding]:
    """The smallest first; a response that pays on several tasks is one finding."""
    groups: dict[str, list[Finding]] = {}
    for one in sorted(found, key=lambda f: len(f.response)):
        groups.setdefault(one.response, []).append(one)
    share = "{}, on {} of {} tasks searched"
    titled = [(some[0], share.format(some[0].title, len(some), tasks)) for some in groups.values()]
    return [evolve(first, title=title) for first, title in titled]


def _reported(bench: Bench, probe: Probe, climb: _Climb) -> Finding:
    worth, text = climb.best

    def holds(candidate: str) -> bool:
        paid = bench.pays(bench.ask([(climb.task, candidate)])[0])
        return paid and not plainly_in(climb.task, candidate)

    with suppress(OutOfBudget):
        text = shrunk(text, holds)
    paid = bench.target.ask(climb.task, text).reward
    title = f"found by search, in {climb.calls} tries: reward {worth:g} without the answer"
    below = f"below {bench.pass_mark:g}"
    return finding(
        probe, climb.task, text, reward=paid, title=title, expected=below, tries=climb.calls
    )


PROBES = (
    Probe(
        "optimizer.search",
        "no search finds a reward without a solution",
        "critical",
        "see what its smallest response has that the verifier counts",
        special=_optimized,
    ),
)
