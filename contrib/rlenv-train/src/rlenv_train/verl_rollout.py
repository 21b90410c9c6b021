"""Trajectories with token ids as what an agent loop of verl returns, rewarded token by token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, Unpack

from rlenv import Trajectory

from .environments import AnyEnvironment
from .single import Options
from .tokens import checked_weight, token_rewards, token_sequences
from .verl import VerlJudge

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
    inexact: bool = False,
    **options: Unpack[Options],
) -> Outputs:
    """An async function that judges a trajectory and returns what an agent loop of verl returns.

    In ``run(self, sampling_params, **row)`` of the loop: ``return await outputs(trajectory, row)``.
    There is one output for each sequence of the trajectory, with a response mask that is 1 exactly
    for the ids that the policy sampled.  The verdict's reward is at the last token of each, those
    of steps at the last tokens of their turns.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        step_weight: what the mean of the scores of steps adds to the reward, times this.
        inexact: as for ``token_sequences``.
        **options: as for ``verl_score``; the steps of an unscored trajectory have no reward.

    Raises:
        ConfigError: when a stage compares the responses to one task, or a number is none of a
            trainer.
    """
    from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics, AgentLoopOutput

    judge = VerlJudge(env, "verl", **options)
    weight = checked_weight(step_weight)

    class RewardedOutput(AgentLoopOutput):  # type: ignore[misc] # verl is not installed with rlenv
        token_rewards: list[float]

        def as_dict(self) -> dict[str, Tensor]:
            made: dict[str, Tensor] = super().as_dict()
            made["rm_scores"] = made["rm_scores"].new_tensor(made.pop("token_rewards"))
            return made

    async def outputs(trajectory: Trajectory, row: Mapping[str, object]) -> list[AgentLoopOutput]:
        sequences = token_sequences(trajectory, inexact=inexact)
        verdict = await judge.of_row(row, trajectory)
        extras = judge.extras(verdict)
        found = []
        for each in sequences:
            rewards = token_rewards(each, trajectory, verdict, weight)
            if not verdict.scored:
                rewards[max(each.ends.values())] = float(extras["score"])
            known = {"extra_fields": {"reward_extra_info": extras}, "metrics": AgentLoopMetrics()}
            known |= {"num_turns": len(trajectory.messages), "token_rewards": rewards}
            known |= {"prompt_ids": each.prompt_ids, "response_ids": each.ids}
            known |= {"response_mask": each.mask, "response_logprobs": each.logprobs}
            found.append(RewardedOutput(reward_score=sum(rewards), **known))
        return found

    return outputs
