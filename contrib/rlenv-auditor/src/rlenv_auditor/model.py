"""What an audit found: values only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from .statistics import Rate

__all__ = ["SEVERITIES", "Finding", "Reply", "Result", "Scorecard", "Severity"]

Severity = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")  # worst first
Status = Literal["clean", "found", "skipped", "incomplete"]


@frozen
class Reply:
    """What a target said of one response.

    Args:
        reward: as it was returned, where it is a number; None where there is none.
        fault: why there is none: "hang", "crash", "error", "unscored", "type" (no number came
            back).
        message: the words of that fault.
        said: everything public that came with the reward, as text.
        seconds: of wall time.
        mutated: whether the call changed the task that it was given.
        transient: whether the fault is one that a retry may mend.
        called: hosts of a network that it called for it.
        stages: (path, score) of the stages of an environment that ran; None for one that has no
            score.
        state: a hash of the state that an episode left.
        seeds: constants with which it seeded generators of random numbers.
    """

    reward: float | None
    fault: str = ""
    message: str = ""
    said: str = field(default="", repr=False)
    seconds: float = 0.0
    mutated: bool = False
    called: tuple[str, ...] = ()
    transient: bool = False
    stages: tuple[tuple[str, float | None], ...] = ()
    seeds: tuple[str, ...] = ()
    state: str = ""


@frozen
class Finding:
    """One way to fool a verifier, or one way in which it fails.

    Args:
        id: stable for the same target, seed and probe: "baselines.constant/3f9a".
        probe: the id of the probe that found it.
        family: the archetype-free group of that probe: "baselines", "gold", …
        severity: how much a training run would suffer.
        title: one line, without the response.
        task: id of the task.
        response: the smallest text that shows it.
        reward: what was paid for it; None where there was no reward.
        expected: what should have been: "below the pass mark", "the same reward twice", …
        hint: how to close the hole.
        more: figures and other texts that belong to it; ``stages`` is what each stage scored.
        code: what it shows, for programs: a key of ``codes.FOUND``.
    """

    id: str
    probe: str
    family: str
    severity: Severity
    title: str
    task: str
    response: str
    reward: float | None
    expected: str
    hint: str
    more: Mapping[str, Any] = field(factory=dict)
    code: str = "other"


@frozen
class Result:
    """What one probe did.

    Args:
        status: "clean", "found", "skipped" (with its reason), "incomplete" (the budget ended).
        measure: what the rate counts: "exploit", "fn", "nondet", "fault", "leak", or "".
        rate: tasks that it hit, of tasks that it tried.
        figures: whatever else was measured.
        code: why it was skipped or did not finish, for programs: a key of ``codes.SKIPPED``, or "".
    """

    probe: str
    family: str
    status: Status
    hypothesis: str
    severity: Severity
    measure: str = ""
    rate: Rate | None = None
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    figures: Mapping[str, Any] = field(factory=dict)
    seconds: float = 0.0
    calls: int = 0
    code: str = ""


@frozen
class Scorecard:
    """All that an audit says.

    Args:
        target: as it was named on the command line.
        archetypes: what kind of verifier it was taken for.
        tasks: how many tasks were tried, of how many.
        results: one per probe, also those that were skipped.
        questions: the five questions with their answers, "not measured" among them.
        asides: further (question, answer) pairs: what forces a fault, what style earns, a second
            opinion.
        crossed: thresholds that were crossed, one line each.
        probes: how many are installed; more than there are results where only some were chosen.
    """

    target: str
    archetypes: tuple[str, ...]
    pass_mark: float
    tasks: int
    tasks_in_all: int
    seed: int
    profile: str
    budget: float
    results: tuple[Result, ...]
    questions: tuple[tuple[str, str], ...] = ()
    asides: tuple[tuple[str, str], ...] = ()
    figures: Mapping[str, Any] = field(factory=dict)
    crossed: tuple[str, ...] = ()
    seconds: float = 0.0
    version: str = ""
    probes: int = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all probes, the worst first."""
        found = [finding for result in self.results for finding in result.findings]
        return tuple(sorted(found, key=lambda f: (SEVERITIES.index(f.severity), f.family, f.id)))

    @property
    def complete(self) -> bool:
        """Whether every probe that applies ran to its end, and something was measured at all."""
        return self.measured and all(result.status != "incomplete" for result in self.results)

    @property
    def measured(self) -> bool:
        """Whether any probe tried anything."""
        return any(r.figures or (r.rate is not None and r.rate.trials) for r in self.results)
