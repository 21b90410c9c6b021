"""Trajectories with token ids as what an agent loop of verl returns, rewarded token by token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from rlenv import Trajectory

from .environments import AnyEnvironment
from .single import Judge
from .tokens import TokenSequence, checked_weight, token_rewards, token_sequences
from .verl import Record, verdict_of

if TYPE_CHECKING:
    from torch import Tensor
    from verl.experimental.agent_loop.agent_loop import AgentLoopOutput

Outputs: TypeAlias = Callable[
    [Trajectory, Mapping[str, object]], Awaitable[list["AgentLoopOutput"]]
]


def verl_rollout(
    env: AnyEnvironment,
    *,
    step_weight: float = 0.0,
    unscored: float = 0.0,
    id: str = "id",  # noqa: A002 - the field's name
    patience: int = 1000,
) -> Outputs:
    """An async function that judges a trajectory and returns what an agent loop of verl returns.

    In ``run(self, sampling_params, **row)`` of the loop: ``return await outputs(trajectory, row)``.  There is one
    output for each sequence of the trajectory, with a response mask that is 1 exactly for the ids that the policy
    sampled.  The verdict's reward is at the last token of each, those of steps at the last tokens of their turns.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        step_weight: what the mean of the scores of steps adds to the reward, times this.
        unscored: the reward of an unscored trajectory, whose steps have none.
        id: the key of ``extra_info`` that holds the id of a task of the environment.
        patience: how many trajectories in a row may stay without a score.

    Raises:
        ConfigError: when a stage compares the responses to one task, or a number is none of a trainer.
    """
    from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics, AgentLoopOutput

    judge = Judge(env, "verl", id, unscored=unscored, patience=patience)
    record, weight = Record(judge), checked_weight(step_weight)

    class RewardedOutput(AgentLoopOutput):  # type: ignore[misc] # verl is not installed with rlenv
        token_rewards: list[float]

        def as_dict(self) -> dict[str, Tensor]:
            made: dict[str, Tensor] = super().as_dict()
            made["rm_scores"] = made["rm_scores"].new_tensor(made.pop("token_rewards"))
            return made

    async def outputs(trajectory: Trajectory, row: Mapping[str, object]) -> list[AgentLoopOutput]:
        sequences = token_sequences(trajectory)
        verdict = await verdict_of(judge, row, trajectory)
        extras = record.of(verdict)
        found = []
        for each in sequences:
            rewards = token_rewards(each, trajectory, verdict, weight)
            if not verdict.scored:
                rewards[max(each.ends.values())] = float(extras["score"])
            known = {"extra_fields": {"reward_extra_info": extras}, "metrics": AgentLoopMetrics()}
            known |= {"num_turns": len(trajectory.messages), "token_rewards": rewards}
            found.append(RewardedOutput(**_fields(each), reward_score=sum(rewards), **known))
        return found

    return outputs


def _fields(sequence: TokenSequence) -> dict[str, list[int] | list[float] | None]:
    """What verl calls the parts of a sequence."""
    return {
        "prompt_ids": sequence.prompt_ids,
        "response_ids": sequence.ids,
        "response_mask": sequence.mask,
        "response_logprobs": sequence.logprobs,
    }
