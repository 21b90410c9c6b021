"""Samples to train on: the calls of a rollout, joined where each was given exactly what came
before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from attrs import frozen
from rlenv import ConfigError, StageResult, Tokens, Trajectory, Verdict

from rlenv_plugin_agent.tools.subagent import Child

# Its index among the messages of the assistant, -1 for a subagent, and the call.
Turn: TypeAlias = tuple[int, Tokens]


@frozen
class Sample:
    """One sequence of ids that a trainer trains on, with the reward of its rollout.

    Args:
        prompt_ids: what the policy was given first.
        ids: what came after: what it sampled, and between turns what it was given.
        mask: for each of ``ids`` 1 if the policy sampled it, else 0.
        logprobs: for each of ``ids`` its log-probability, 0.0 where the mask is 0; None where a
            call tells none.
        reward: of the rollout, in [0, 1]; None where it is unscored.
        steps: (place in ``ids``, score) of each score that a stage gave to a turn of this sample:
            the place is that of the last id that the policy sampled in the turn, the score is in
            [0, 1].
    """

    prompt_ids: tuple[int, ...]
    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    reward: float | None
    steps: tuple[tuple[int, float], ...]


def samples_of(
    trajectory: Trajectory,
    verdict: Verdict,
    *,
    inexact: bool = False,
    children: Iterable[Child] = (),
) -> list[Sample]:
    """Return the samples of a trajectory, in order; the mask of each is 1 exactly for the ids that
    the policy sampled.

    A call continues a sample only if its prompt begins with all ids of the sample.  Otherwise a
    sample begins, as where a template strips thinking from the history or writes calls anew, and
    where the history was folded.

    Args:
        trajectory: with ``tokens``.
        verdict: on it.
        inexact: leave out calls whose ids the server did not tell, instead of raising.
        children: subagents of the policy, whose samples come last, with the same reward.

    Raises:
        ConfigError: for a call whose ids are not exact, and where no call is left.
    """
    said = sum(each.get("role") == "assistant" for each in trajectory.messages)
    turns = [*enumerate(trajectory.tokens, said - len(trajectory.tokens))]
    talks = [turns, *([(-1, call) for call in child.tokens] for child in children)]
    if not inexact and (
        unknown := [turn for talk in talks for turn, call in talk if not call.exact]
    ):
        where = f"in turn {unknown[0]}" if unknown[0] >= 0 else "in a subagent"
        raise ConfigError(
            f"the server did not tell which ids were sampled {where}; {REMEDY}, or pass"
            " inexact=True to leave out such turns"
        )
    found = [_sample(run, verdict) for talk in talks for run in _join_turns(talk)]
    if not found:
        raise ConfigError(f"this rollout holds no sampled token ids: {REMEDY}")
    return found


REMEDY = "use endpoint(…, token_ids=True) with vLLM, or token_endpoint"


def _join_turns(turns: Iterable[Turn]) -> Iterator[list[Turn]]:
    """Yield the turns whose ids are known, in runs of which each was given the ids of the turns
    before it.
    """
    run: list[Turn] = []
    for turn, call in turns:
        if not (call.exact and call.ids):
            continue
        held = (*run[-1][1].prompt_ids, *run[-1][1].ids) if run else ()
        if run and call.prompt_ids[: len(held)] != held:
            yield run
            run = []
        run.append((turn, call))
    if run:
        yield run


def _sample(run: Sequence[Turn], verdict: Verdict) -> Sample:
    """The last call of a run was given, or sampled, all ids of the run."""
    _, first = run[0]
    _, last = run[-1]
    start = len(first.prompt_ids)
    ids = (*last.prompt_ids, *last.ids)[start:]
    mask = [0] * len(ids)
    logprobs = [0.0] * len(ids)
    ends = dict[int, int]()
    for turn, call in run:
        place = slice(len(call.prompt_ids) - start, len(call.prompt_ids) - start + len(call.ids))
        mask[place] = [1] * len(call.ids)
        logprobs[place] = call.logprobs or mask[place]
        ends[turn] = place.stop - 1
    known = None not in [call.logprobs for _, call in run]
    scored = [(turn, score) for turn, score in _steps(verdict.results) if turn >= 0]
    steps = [(ends[turn], score) for turn, score in scored if turn in ends]
    return Sample(
        prompt_ids=first.prompt_ids,
        ids=ids,
        mask=tuple(mask),
        logprobs=tuple(logprobs) if known else None,
        reward=verdict.value,
        steps=tuple(steps),
    )


def _steps(results: Iterable[StageResult]) -> Sequence[tuple[int, float]]:
    """Return the (turn, score) pairs of the first stage that scored turns."""
    for result in results:
        own = result.outcome.steps if result.outcome else None
        if found := own or _steps(result.children):
            return found
    return ()
