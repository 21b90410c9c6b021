"""The optimizer: a policy without a model, which climbs the reward while an independent check says that nothing is solved.

A pool of fragments (corpora, pieces of prompts, shapes of answers, what probes asked before) is spliced and mutated; what is
paid more stays.  Hypothesis drives the first draws, so that what it has learned of the reward directs them; the rest of the
budget is an evolutionary climb.  Every find is shrunk to the smallest response that is still paid.
"""

from __future__ import annotations

import random
import string
import warnings
from collections.abc import Sequence
from contextlib import suppress

from attrs import define, evolve, field
from rlenv.values import Task

from rlenv_audit.bench import Bench, OutOfBudget
from rlenv_audit.golds import CARRIERS
from rlenv_audit.model import Finding, Reply, Result
from rlenv_audit.probes.base import Probe, finding, result
from rlenv_audit.probes.baselines import CONSTANTS
from rlenv_audit.probes.exploits import INJECTIONS
from rlenv_audit.solved import plainly_in, text_of
from rlenv_audit.statistics import rate

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
        ordered = sorted(
            ((worth, text) for text, worth in merged.items()),
            key=lambda one: (-one[0], len(one[1])),
        )
        self.pool = ordered[:POOL]

    @property
    def best(self) -> tuple[float, str]:
        return self.pool[0] if self.pool else (0.0, "")

    def children(self, count: int) -> list[str]:
        return [self._child() for _ in range(count)]

    def _child(self) -> str:
        chance = self.chance
        parent = (
            chance.choice(self.pool)[1]
            if self.pool and chance.random() < 0.8
            else chance.choice(self.fragments)
        )
        return chance.choice(
            (self._spliced, self._wrapped, self._cut, self._typed, self._repeated)
        )(parent)

    def _spliced(self, text: str) -> str:
        other = self.chance.choice(self.fragments)
        at = self.chance.randrange(len(text) + 1)
        return (
            text[:at] + self.chance.choice(("", " ", "\n")) + other + text[at:]
            if self.chance.random() < 0.5
            else f"{text}\n{other}"
        )

    def _wrapped(self, text: str) -> str:
        return self.chance.choice(tuple(CARRIERS.values())).format(text)

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
    answers = [
        text
        for other in bench.tasks
        if (text := text_of(other.answer)) is not None and other.id != task.id
    ]
    shapes = [_shape(text) for text in answers[:10]]
    found = [*CONSTANTS, *INJECTIONS.values(), *pieces, *answers[:20], *shapes]
    for _, build in bench.corpora[:40]:
        try:
            made = build(task)
        except Exception:  # noqa: BLE001, S112 - an attack of somebody's plugin, on a task that it does not know
            continue
        if isinstance(made, str):
            found.append(made)
    return list(dict.fromkeys(text for text in found if len(text) <= LONGEST))


def _shape(text: str) -> str:
    """An answer's form without its content: digits become 0, letters x."""
    return "".join("0" if c.isdigit() else "x" if c.isalpha() else c for c in text)


def _directed(climb: _Climb, draws: int, seed: int) -> None:
    """Hypothesis draws responses out of fragments and is told what each earned, so that it looks near what pays."""
    from hypothesis import HealthCheck, Phase, given, settings, strategies, target
    from hypothesis import seed as seeded
    from hypothesis.errors import HypothesisWarning

    piece = strategies.one_of(
        strategies.sampled_from(list(climb.fragments)), strategies.text(max_size=12)
    )
    response = strategies.builds(
        lambda carrier, parts, glue: CARRIERS[carrier].format(glue.join(parts)),
        strategies.sampled_from(sorted(CARRIERS)), strategies.lists(piece, min_size=1, max_size=3), strategies.sampled_from(["", " ", "\n"]),
    )  # fmt: skip

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


def _optimized(bench: Bench, probe: Probe) -> Result:
    tasks = bench.tasks[: 12 if bench.full else 4]
    rounds, size = (40, 32) if bench.full else (8, 24)
    found: list[Finding] = []
    best: list[float] = []
    complete = True
    for task in tasks:
        fragments = _fragments(bench, task)
        climb = _Climb(bench, task, fragments, bench.chance("optimizer", task.id))
        try:
            climb.keep(climb.score(fragments))
            if climb.best[0] < bench.pass_mark:
                _directed(
                    climb,
                    60 if bench.full else 25,
                    bench.chance("directed", task.id).randrange(1 << 30),
                )
            for _ in range(rounds):
                if climb.best[0] >= bench.pass_mark:
                    break
                climb.keep(climb.score(climb.children(size)))
        except OutOfBudget:
            complete = False
        best.append(min(1.0, climb.best[0]))
        if climb.best[0] >= bench.pass_mark:
            found.append(_reported(bench, probe, climb))
        if not complete:
            break
    if not best:
        raise OutOfBudget
    hits = len(found)
    found = _once(found, len(best))
    status = "found" if found else "clean" if complete else "incomplete"
    figures = {
        "best reward without solving": max(best),
        "mean of the best": sum(best) / len(best),
        "tasks": len(best),
    }
    return result(
        probe, status, rate=rate(hits, len(best)), findings=tuple(found[:3]), figures=figures
    )


def _once(found: Sequence[Finding], tasks: int) -> list[Finding]:
    """The smallest first; a response that pays on several tasks is one finding."""
    groups: dict[str, list[Finding]] = {}
    for one in sorted(found, key=lambda f: len(f.response)):
        groups.setdefault(one.response, []).append(one)
    return [
        evolve(some[0], title=f"{some[0].title}, on {len(some)} of {tasks} tasks searched")
        for some in groups.values()
    ]


def _reported(bench: Bench, probe: Probe, climb: _Climb) -> Finding:
    worth, text = climb.best

    def holds(candidate: str) -> bool:
        return not plainly_in(climb.task, candidate) and bench.pays(
            bench.ask([(climb.task, candidate)])[0]
        )

    with suppress(OutOfBudget):
        text = shrunk(text, holds)
    paid = bench.target.ask(climb.task, text).reward
    title = f"found by search, in {climb.calls} tries: paid {worth:g} without the answer"
    return finding(
        probe, climb.task, text, paid, title, f"below {bench.pass_mark:g}", tries=climb.calls
    )


PROBES = (
    Probe("optimizer.search", "no search finds a reward without a solution", "critical", "see what its smallest response has that the verifier counts", special=_optimized),
)  # fmt: skip
