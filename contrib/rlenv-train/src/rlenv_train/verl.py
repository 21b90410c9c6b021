"""An environment as a reward of verl, which has no value for an unscored response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, SupportsInt, TypeAlias, Unpack, cast

from rlenv import ConfigError, Verdict

from .environments import AnyEnvironment
from .metrics import reason, stage_scores
from .rows import Message, Response, inner_field
from .single import Asked, Judge, Options

if TYPE_CHECKING:
    from verl import DataProto
    from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

Extras: TypeAlias = dict[str, float | str]
ComputeScore: TypeAlias = Callable[..., Awaitable[Extras]]


def verl_score(
    env: AnyEnvironment, *, prompt: str = "prompt", **options: Unpack[Options]
) -> ComputeScore:
    """The environment as an async ``compute_score`` of verl.

    It returns the same keys for each response, since verl takes those of the first one of a batch:
    ``score``, ``unscored`` (0 or 1), ``fault`` (the kind, "" if there is none) and ``stage/PATH``
    for each stage, which is 0 for a stage that did not run.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        prompt: the key of ``extra_info`` that holds the prompt, which verl does not pass.
        **options: ``unscored``, the score of an unscored response, 0.0 by default, since verl has
            no value that says so; ``id``, the key of ``extra_info`` that holds the id of a task of
            the environment, "id" by default; ``patience``, how many responses in a row may stay
            without a score, 1000 by default.

    Raises:
        ConfigError: when a stage compares the responses to one task; in a call, when the response
            has several turns, of which the policy did not write all.
    """
    judge = VerlJudge(env, "verl", **options)

    async def compute_score(
        data_source: str,  # noqa: ARG001 - verl passes it by name
        solution_str: str,
        ground_truth: object,
        extra_info: Mapping[str, object] | None = None,
        **_: object,
    ) -> Extras:
        info = dict(extra_info or {})
        _check_turns(info.get("num_turns"))
        text = info.get(prompt, "")
        asked = text if isinstance(text, (str, list, tuple)) else ""
        return judge.extras(await judge.averdict(Asked(asked, solution_str, ground_truth, info)))

    return compute_score


def verl_manager(env: AnyEnvironment, **options: Unpack[Options]) -> type[RewardManagerBase]:
    """The environment as a class for verl's reward loop, which sees the prompt as the policy got
    it.

    Where verl passes a response mask, a response of several turns becomes a conversation, in which
    ``tool`` says what the policy did not sample.

    Args:
        env, **options: as for ``verl_score``.

    Raises:
        ConfigError: as ``verl_score``; in a call, for several turns without a mask.
    """
    from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

    judge = VerlJudge(env, "verl", **options)

    class RlenvRewardManager(RewardManagerBase):  # type: ignore[misc] # verl is not installed with rlenv
        def __init__(
            self, config: object, tokenizer: object, compute_score: object = None, **_: object
        ) -> None:
            super().__init__(config, tokenizer, compute_score)

        async def run_single(self, data: DataProto) -> dict[str, object]:
            item = data[-1]
            ids = item.batch["responses"]
            many = int(item.batch["attention_mask"][-ids.shape[-1] :].sum())
            mask = item.batch.get("response_mask", None)
            if mask is None:
                _check_turns(item.non_tensor_batch.get("__num_turns__"))
            marks = [1] * many if mask is None else mask[:many].tolist()
            text = _response(marks, ids[:many].tolist(), self.tokenizer.decode)
            extras = judge.extras(await judge.of_row(item.non_tensor_batch, text))
            return {"reward_score": extras["score"], "reward_extra_info": extras}

    return RlenvRewardManager


def _response(marks: list[int], ids: list[int], decode: Callable[..., str]) -> Response:
    """The text where the policy sampled all, else the messages of several turns."""
    found: list[Message] = []
    for sampled, part in groupby(zip(marks, ids, strict=True), itemgetter(0)):
        text = decode([at for _, at in part], skip_special_tokens=True)
        found.append({"role": "assistant" if sampled else "tool", "content": text})
    return found if 0 in marks else "".join(str(each["content"]) for each in found)


def _check_turns(turns: object) -> None:
    if isinstance(turns, SupportsInt) and int(turns) > 2:  # the prompt is one
        lack = "the response has several turns, and verl does not say which of it the policy wrote"
        raise ConfigError(f"{lack}: use verl_rollout in the agent loop")


class VerlJudge(Judge):
    """Judges rows of verl's data set, and says what verl keeps of a verdict."""

    async def of_row(self, row: Mapping[str, object], response: Response) -> Verdict:
        """The verdict on a response to a row."""
        extra = row.get("extra_info")
        raw = row.get("raw_prompt")
        info = dict(extra) if isinstance(extra, Mapping) else {}
        prompt = info.get("prompt", "") if raw is None else raw
        asked = prompt if isinstance(prompt, str) else [*cast("Iterable[Message]", prompt)]
        gold = inner_field(row, "reward_model", "ground_truth")
        return await self.averdict(Asked(asked, response, gold, info))

    def extras(self, verdict: Verdict) -> Extras:
        """The same keys for each verdict."""
        reward = self.reward(verdict)
        scores = stage_scores(verdict)
        return {
            # A score is never -0.0, so rlenv_grpo knows an unscored response by it, and sums do not
            # change.
            "score": reward if verdict.scored else reward or -0.0,
            "unscored": float(not verdict.scored),
            "fault": "" if verdict.scored else reason(verdict).partition(" ")[0],
            **{f"stage/{path}": scores.get(path, 0.0) for path in self.env.stages},
        }
