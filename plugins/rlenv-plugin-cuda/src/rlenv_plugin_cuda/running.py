"""An answer on its cases: by one backend or by several, tried again where the machine broke."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from attrs import evolve
from rlenv import Attempt, VerifierFault

from .allowing import refused
from .artifacts import Program, Runs, Trial
from .box import Box
from .cases import Case, cases_of
from .choosing import Backend, chosen
from .programs import Bad, program_in
from .spec import Kernel

__all__ = ["TRIES", "readable", "runs_of", "shifted"]

TRIES = 3


def readable(attempt: Attempt, kernel: Kernel) -> Program | Bad:
    """The program of a response, if it keeps the rules.

    What ``cuda/compile`` made has kept them.
    """
    found = program_in(attempt, kernel.lang)
    if isinstance(found, Bad) or attempt.find(Program) == found:
        return found
    return refused(found) or found


async def runs_of(attempt: Attempt, kernel: Kernel, box: Box, name: str, small: int) -> Runs:
    """What comes of a response's program on the cases that its key draws.

    Args:
        name: of a backend, or "auto".
        small: elements of a case up to which "auto" interprets it.

    Raises:
        VerifierFault: no backend is here, or the machine broke on every try.
    """
    program = readable(attempt, kernel)
    if isinstance(program, Bad):
        return Runs("none", refused=program.said, line=program.line)
    cases = cases_of(kernel, attempt.key())
    parts = []
    for backend, places in chosen(kernel.lang, name, cases, small):
        mine = [cases[place] for place in places]
        found = shifted(await _tried(backend, program, kernel, mine, box), program)
        if found.refused:
            return found
        parts.append((places, found))
        if any(trial.broken for trial in found.trials):  # one is enough
            break
    return _together(parts, len(cases))


async def _tried(
    backend: Backend, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box
) -> Runs:
    begun = monotonic()
    for last in range(1, TRIES + 1):
        try:
            return await backend.run(program, kernel, cases, box)
        except VerifierFault as err:
            late = monotonic() - begun > box.budget or err.fault.kind == "timeout"
            if last == TRIES or late or not err.fault.transient:  # another would take too long
                raise
    raise AssertionError


def shifted(runs: Runs, program: Program) -> Runs:
    """With lines of the response in place of lines of its program."""
    trials = [evolve(trial, line=program.place(trial.line)) for trial in runs.trials]
    return evolve(runs, trials=trials, line=program.place(runs.line))


def _together(parts: Sequence[tuple[list[int], Runs]], count: int) -> Runs:
    """One list in the order of the cases; a case of which nothing came is the answer's loss."""
    trials: dict[int, Trial] = {}
    for places, runs in parts:
        for place, trial in zip(places, runs.trials, strict=False):
            trials[place] = evolve(trial, case=place)
    missing = Trial(0, None, "skipped", "it was not run, since the time was used up before")
    whole = [trials.get(place) or evolve(missing, case=place) for place in range(count)]
    names = "+".join(dict.fromkeys(runs.backend for _, runs in parts))
    tiers = [runs.isolation for _, runs in parts if runs.isolation]
    checked = next((runs.checked for _, runs in parts if runs.checked), {})
    return Runs(names, whole, isolation=min(tiers, key=_rank) if tiers else "", checked=checked)


def _rank(tier: str) -> int:
    from rlenv.sandbox import rank

    return rank(tier)
