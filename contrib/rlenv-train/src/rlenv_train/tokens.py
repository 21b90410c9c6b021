"""The token ids of trajectories as sequences to train on, and where in them rewards are."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from attrs import define, field
from rlenv import ConfigError, Tokens, Trajectory, Verdict

from .combine import LARGEST
from .metrics import every_result


@define
class TokenSequence:
    """One sequence to train on: calls of the policy, each of which was given what came before it.

    Args:
        prompt_ids: what the policy was given first.
        ids: what came after: what it sampled, and between turns what it was given.
        mask: for each of ``ids`` 1 if the policy sampled it, else 0.
        logprobs: for each of ``ids`` its logarithm of the probability, 0.0 where the mask is 0;
            None where a call tells none.
        ends: the place in ``ids`` of the last sampled token of each turn, by the turn.
    """

    prompt_ids: list[int]
    ids: list[int] = field(factory=list)
    mask: list[int] = field(factory=list)
    logprobs: list[float] | None = field(factory=list)
    ends: dict[int, int] = field(factory=dict)

    def continues_in(self, call: Tokens) -> bool:
        """Whether the call was given exactly this sequence, and perhaps more."""
        held = (*self.prompt_ids, *self.ids)
        return call.prompt_ids[: len(held)] == held

    def append(self, turn: int, call: Tokens) -> None:
        """Add a call, with what it was given that the sequence does not hold yet."""
        given = call.prompt_ids[len(self.prompt_ids) + len(self.ids) :]
        self.ids += [*given, *call.ids]
        self.mask += [0] * len(given) + [int(call.exact)] * len(call.ids)
        if self.logprobs is not None:
            told = call.logprobs if call.exact else (0.0,) * len(call.ids)
            self.logprobs += [*[0.0] * len(given), *(told or ())]
            self.logprobs = None if told is None else self.logprobs
        if call.exact:
            self.ends[turn] = len(self.ids) - 1


def token_sequences(trajectory: Trajectory, *, inexact: bool = False) -> list[TokenSequence]:
    """The sequences of a trajectory; the mask is 1 exactly for ids that the policy sampled.

    A call is joined to those before it only if its prompt begins with their ids.  Otherwise a
    sequence begins: after a change of the history, or where a chat template writes an earlier turn
    with other ids.  A sequence without a sampled id is left out.

    Args:
        trajectory: with ``tokens``.
        inexact: take calls that are not ``exact`` too.  Their ids were not sampled, so their mask
            is 0.

    Raises:
        ConfigError: for a call that is not ``exact``, and when there is nothing to train on.
    """
    if not inexact and (
        unknown := [at for at, call in enumerate(trajectory.tokens) if not call.exact]
    ):
        lack = f"the server did not tell which ids were sampled in call {unknown[0]}"
        raise ConfigError(f"{lack}; with inexact=True they are not trained on")
    found: list[TokenSequence] = []
    first = len(_turns(trajectory)) - len(trajectory.tokens)
    for turn, call in enumerate(trajectory.tokens, first):
        if not call.ids:
            continue
        if not found or not found[-1].continues_in(call):
            found.append(TokenSequence([*call.prompt_ids]))
        found[-1].append(turn, call)
    if not (found := [each for each in found if each.ends]):
        lack = "a trajectory has no sampled token ids to train on"
        raise ConfigError(f"{lack}; give it tokens=[Tokens(prompt_ids, ids), …], one for each call")
    return found


def _turns(trajectory: Trajectory) -> list[object]:
    return [each for each in trajectory.messages if each.get("role") == "assistant"]


def checked_weight(weight: float) -> float:
    """A weight of steps.

    Raises:
        ConfigError: when it is not a finite number of 0 or more.
    """
    if not 0.0 <= weight <= LARGEST:
        raise ConfigError(f"step_weight is a finite number, 0 or more, not {weight!r}")
    return weight


def step_scores(verdict: Verdict) -> Sequence[tuple[int, float]]:
    """(turn, score) of the first stage that scores steps, in the order of the verdict; none without
    a reward.
    """
    outcomes = [result.outcome for result in every_result(verdict.results) if verdict.scored]
    return next((each.steps for each in outcomes if each is not None and each.steps), ())


def with_steps(verdict: Verdict, weight: float) -> float | None:
    """The reward plus ``weight`` times the mean of the scores of steps; None for an unscored
    response.
    """
    scores = [score for _, score in step_scores(verdict)]
    return None if verdict.value is None else verdict.value + weight * fmean(scores or [0.0])


def token_rewards(
    sequence: TokenSequence, trajectory: Trajectory, verdict: Verdict, weight: float
) -> list[float]:
    """The reward of each of ``sequence.ids``.

    The verdict's reward is at the last sampled token.  ``weight`` times the mean of the scores of
    steps is divided among the last tokens of their turns, so more turns do not earn more.  Steps
    that are not turns of the trajectory, such as paragraphs, are those of its last turn.  All is 0
    for an unscored response.
    """
    found = [0.0] * len(sequence.ids)
    steps = step_scores(verdict)
    known = all(0 <= turn < len(_turns(trajectory)) for turn, _ in steps)
    last = max(sequence.ends.values())
    for turn, score in steps:
        place = sequence.ends.get(turn) if known else last
        if place is not None:
            found[place] += weight * score / len(steps)
    found[last] += verdict.value or 0.0
    return found
