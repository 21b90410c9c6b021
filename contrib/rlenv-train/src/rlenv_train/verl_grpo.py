"""GRPO of verl that leaves out the responses without a score; verl loads this module as a
plugin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rlenv import ConfigError

if TYPE_CHECKING:
    import torch


def rlenv_grpo(
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: Iterable[object],
    config: Mapping[str, object] | None = None,
    **_: object,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Advantages of verl's GRPO over the scored rows; 0 for the unscored ones, and for one that is
    scored alone.

    Args:
        token_level_rewards: shape (rows, tokens); a row of ``verl_score`` without a score holds a
            negative zero.
        response_mask: shape (rows, tokens), 1 for a token that the policy sampled.
        index: the group of each row, shape (rows,).
        config: ``algorithm`` of verl's configuration; ``norm_adv_by_std_in_grpo`` is read.

    Returns:
        Advantages and returns, both of the shape (rows, tokens).

    Raises:
        ConfigError: with ``use_kl_in_reward``, which changes the rewards by which a row is known.
    """
    import torch
    from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

    settings = config or {}
    if settings.get("use_kl_in_reward"):
        lack = "rlenv_grpo does not find unscored responses with algorithm.use_kl_in_reward"
        raise ConfigError(f"{lack}; use actor_rollout_ref.actor.use_kl_loss instead")
    groups = list(index)
    lost = is_unscored(token_level_rewards).tolist()
    rows = [at for at, missing in enumerate(lost) if not missing]
    many = Counter(groups)
    scored = Counter(groups[at] for at in rows)
    rows = [at for at in rows if scored[groups[at]] > 1 or many[groups[at]] == 1]
    advantages = torch.zeros_like(token_level_rewards * response_mask)  # in the data type of verl's
    advantages[rows], _ = compute_grpo_outcome_advantage(
        token_level_rewards[rows],
        response_mask[rows],
        [groups[at] for at in rows],
        norm_adv_by_std_in_grpo=bool(settings.get("norm_adv_by_std_in_grpo", True)),
    )
    return advantages, advantages


def is_unscored(token_level_rewards: torch.Tensor) -> torch.Tensor:
    """For each row, whether it has no score: no reward but a zero with the sign that no score
    has.
    """
    return (token_level_rewards == 0).all(-1) & token_level_rewards.signbit().any(-1)


if find_spec("verl") is not None:  # it loads this module, and calls nothing in it
    from verl.trainer.ppo.core_algos import register_adv_est

    register_adv_est("rlenv_grpo")(rlenv_grpo)
