"""Trajectories with token ids as what TRL trains on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

from rlenv import Trajectory

from .rows import TRAJECTORY, Message, Text
from .tokens import token_sequences

logger = logging.getLogger("rlenv_train")

Play: TypeAlias = Callable[[list[Text], object], Sequence[Trajectory]]
Rollout: TypeAlias = dict[str, list[list[int]] | list[list[float]] | list[list[Message]] | None]


def trl_rollout(play: Play, *, inexact: bool = False) -> Callable[[list[Text], object], Rollout]:
    """A ``rollout_func`` of TRL from a function that plays episodes.

    The mask is 1 exactly for the ids that the policy sampled; nothing is decoded and encoded again.
    ``trl_reward`` judges the messages, which the column ``rlenv_trajectory`` holds.

    Args:
        play: gets the prompts of a batch, each as often as TRL wants responses to it, and the
            trainer.  It returns for each prompt a Trajectory that holds ``tokens``.
        inexact: as for ``token_sequences``.

    Returns:
        A function for ``GRPOTrainer(rollout_func=…)``.  TRL takes one sequence for a response: of a
        trajectory whose history changed, the last one, so the policy learns nothing from the turns
        before.  A warning says how many they were.
    """

    def rollout(prompts: list[Text], trainer: object) -> Rollout:
        played = list(play(prompts, trainer))
        if len(played) != len(prompts):
            raise ValueError(f"{len(played)} trajectories were played for {len(prompts)} prompts")
        found = [token_sequences(each, inexact=inexact) for each in played]
        if many := sum(len(each) > 1 for each in found):
            text = "%d of %d trajectories are more than one sequence, of which TRL takes the last"
            logger.warning(text, many, len(found))
        last = [each[-1] for each in found]
        told = [each.logprobs for each in last if each.logprobs is not None]
        return {
            "prompt_ids": [each.prompt_ids for each in last],
            "completion_ids": [each.ids for each in last],
            "logprobs": told if len(told) == len(last) else None,
            "env_mask": [each.mask for each in last],
            TRAJECTORY: [[*each.messages] for each in played],
        }

    return rollout
