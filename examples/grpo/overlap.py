"""Rewards while the policy generates: each group is submitted as soon as it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from statistics import fmean

from policy import generate
from rlenv import Verdict
from rlenv_train import ScoringEngine
from transformers import PreTrainedTokenizerFast
from trl import GRPOTrainer

__all__ = ["Overlap"]


class Overlap:
    """A rollout function of TRL that submits responses, and the reward function that waits for
    their verdicts.

    Args:
        engine: what verifies.
        tokenizer: of the policy.
        size: responses that are generated at a time.
        tokens: length of a response at most.
        ahead: submit each part as soon as it is written; otherwise all responses after the last
            part.
    """

    def __init__(
        self,
        engine: ScoringEngine,
        tokenizer: PreTrainedTokenizerFast,
        size: int,
        tokens: int,
        *,
        ahead: bool,
    ) -> None:
        self.engine = engine
        self.tokenizer = tokenizer
        self.ahead = ahead
        self.size = size
        self.tokens = tokens

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, list[object] | None]:
        """Prompts and responses as token ids, and a verdict to come for each response."""
        asked = []
        written = []
        verdicts = []
        texts = []
        for start in range(0, len(prompts), self.size):
            part = prompts[start : start + self.size]
            ids, ended = generate(trainer.model, self.tokenizer, part, self.tokens, sample=True)
            asked += ids
            written += ended
            texts += self.tokenizer.batch_decode(ended, skip_special_tokens=True)
            if self.ahead or len(texts) == len(prompts):
                new = slice(len(verdicts), len(texts))
                verdicts += map(self.engine.submit, prompts[new], texts[new])
        ids = {"prompt_ids": asked, "completion_ids": written}
        return {**ids, "logprobs": None, "verdict": verdicts}

    def reward(
        self,
        verdict: Sequence[Future[Verdict]],
        log_metric: Callable[[str, float], None],
        **_: object,
    ) -> list[float | None]:
        """The rewards, as soon as the last verdict is there."""
        values = [future.result().value for future in verdict]
        scored = [value for value in values if value is not None]
        if scored:
            log_metric("rlenv/reward", fmean(scored))
        log_metric("rlenv/unscored", 1 - len(scored) / len(values))
        return values
