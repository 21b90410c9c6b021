"""An environment as a reward of OpenRLHF, slime and AReaL, and as a verifier of NeMo Gym.

None of them is imported: each calls a function by its signature.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from statistics import mean
from typing import TYPE_CHECKING, Protocol, TypeAlias, Unpack

from rlenv import ConfigError, Environment, RlenvError, TaskError, Verdict

from .batch import judge
from .environments import AnyEnvironment
from .metrics import reason, stage_scores, steady_metrics
from .rows import Message, Text, inner_field
from .single import Asked, Judge, Options

if TYPE_CHECKING:
    from torch import Tensor

OpenRLHFResult: TypeAlias = dict[str, "Tensor | dict[str, Tensor]"]
Body: TypeAlias = Mapping[str, object]


def openrlhf_reward(
    env: AnyEnvironment, *, unscored: float = 0.0, patience: int = 1000
) -> Callable[..., OpenRLHFResult]:
    """Return the environment as a ``reward_func(queries, prompts, labels)`` of OpenRLHF.

    The label is the task's answer.  ``extra_logs`` has ``reward``, ``unscored``, the share of each
    kind of fault and the mean of each stage, 0.0 where a stage gave no score.  The names are the
    same for each call, because OpenRLHF joins the samples of a batch under the names of the first
    one.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        unscored: the reward of an unscored response; OpenRLHF has no value that says so.
        patience: how many calls in a row may stay without a score.

    Raises:
        ConfigError: when a stage compares the responses to one task.
    """
    one = Judge(env, "OpenRLHF", unscored=unscored, patience=patience)

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **_: object
    ) -> OpenRLHFResult:
        import torch

        rows = zip(queries, prompts, labels, strict=True)
        verdicts = [one.verdict(Asked(p, _response(q, p), label)) for q, p, label in rows]
        rewards = torch.tensor(one.rewards(verdicts))
        metrics = steady_metrics(verdicts, one.env.stages, unscored)
        logs = {key: torch.tensor(value) for key, value in metrics.items()}
        return {"rewards": rewards, "scores": rewards, "extra_logs": logs}

    return reward_func


def _response(query: str, prompt: str) -> str:
    if prompt not in query:
        raise TaskError("the query lacks its prompt, so it is unknown where the response begins")
    return query.partition(prompt)[2]


class Sample(Protocol):
    """What rlenv reads and writes of a sample of slime."""

    prompt: Text
    response: str
    label: object
    metadata: dict[str, object]
    remove_sample: bool


def slime_reward(
    env: AnyEnvironment, **options: Unpack[Options]
) -> Callable[..., Awaitable[float | list[float]]]:
    """The environment as a ``custom_rm(args, sample)`` of slime, and with ``--group-rm`` of a group
    of samples.

    An unscored sample is taken out of the loss by ``remove_sample``.  In a group its reward is the
    mean of the others', so that it moves neither their mean nor itself.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        **options: ``unscored``, the reward of an unscored response without others to compare with,
            0.0 by default; ``id``, the key of the sample's metadata that holds the id of a task of
            the environment, "id" by default; ``patience``, how many calls in a row may stay without
            a score, 1000 by default.
    """
    one = Judge(env, None, **options)

    async def custom_rm(
        args: object,  # noqa: ARG001 - slime's signature
        sample: Sample | Sequence[Sample],
        **_: object,
    ) -> float | list[float]:
        samples = sample if isinstance(sample, Sequence) else [sample]
        size = len(samples) if isinstance(sample, Sequence) else None
        verdicts = await asyncio.to_thread(_judged, one, samples, size)
        scores = [verdict.value for verdict in verdicts if verdict.value is not None]
        instead = mean(scores) if scores else None
        for each, verdict in zip(samples, verdicts, strict=True):
            each.remove_sample = each.remove_sample or not verdict.scored
        rewards = one.rewards(verdicts, instead)
        return rewards if isinstance(sample, Sequence) else rewards[0]

    return custom_rm


def _judged(one: Judge, samples: Sequence[Sample], size: int | None) -> list[Verdict]:
    try:
        asked = [Asked(s.prompt, s.response, s.label, s.metadata or {}) for s in samples]
        rows = [(one.task(each), each.response) for each in asked]
        return judge(one.env, rows, size, hint="" if one.patience.first else None)
    except RlenvError as error:
        return [one.failed(error)] * len(samples)


class ArealReward:
    """What ``areal_reward`` returns; its copy in another process is made once there."""

    def __init__(self, path: str, answer: str, unscored: float, patience: int) -> None:
        self._given = path, answer, unscored, patience
        self._judge = Judge(path, "AReaL", unscored=unscored, patience=patience)

    def __call__(
        self,
        prompt: str,
        completions: str,
        prompt_ids: object,  # noqa: ARG002 - AReaL's signature
        completion_ids: object,  # noqa: ARG002 - as above
        **data: object,
    ) -> float:
        answer = self._given[1]
        info = {key: value for key, value in data.items() if key != answer}
        verdict = self._judge.verdict(Asked(prompt, completions, data.get(answer), info))
        return self._judge.reward(verdict)

    def __reduce__(self) -> tuple[object, ...]:
        return _areal, self._given


@cache
def _areal(path: str, answer: str, unscored: float, patience: int) -> ArealReward:
    return ArealReward(path, answer, unscored, patience)


def areal_reward(
    path: str, *, answer: str = "answer", unscored: float = 0.0, patience: int = 1000
) -> ArealReward:
    """The environment as a ``reward_fn(prompt, completions, prompt_ids, completion_ids, **data)``
    of AReaL.

    Args:
        path: the path of an env.toml or the name of an installed environment: each process of AReaL
            opens it.
        answer: the column of the answer; the others become ``task.info``.
        unscored: the reward of an unscored response; AReaL has no value that says so.
        patience: how many responses in a row may stay without a score.

    Raises:
        ConfigError: when a stage compares the responses to one task, or for an Environment instead
            of a path.
    """
    if isinstance(path, Environment):
        raise ConfigError("an Environment cannot go to AReaL's processes: give its path or name")
    return _areal(str(path), answer, unscored, patience)


def nemo_gym_verify(
    env: AnyEnvironment,
    *,
    answer: str = "expected_answer",
    unscored: float = 0.0,
    id: str = "id",  # noqa: A002 - the field's name
) -> Callable[[Body], Awaitable[dict[str, object]]]:
    """The environment as ``verify`` of a resources server of NeMo Gym: the body of a request → that
    of its answer.

    An unscored response has ``mask_sample`` true and ``failure_reason``: the kind of fault and the
    stage.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        answer: the key of the body that holds the answer; the others become ``task.info``.
        unscored: the reward of an unscored response, which a trainer that knows ``mask_sample``
            does not use.
        id: the key of the body that holds the id of a task of the environment.

    Raises:
        ConfigError: when a stage compares the responses to one task.
    """
    one = Judge(env, "NeMo Gym", id, unscored=unscored, patience=None)

    async def verify(body: Body) -> dict[str, object]:
        own = ("responses_create_params", "response", answer)
        info = {key: value for key, value in body.items() if key not in own}
        asked = inner_field(body, "responses_create_params", "input")
        prompt = asked if isinstance(asked, (str, list)) else ""
        said = _said(inner_field(body, "response", "output"))
        verdict = await one.averdict(Asked(prompt, said, body.get(answer), info))
        why = None if verdict.scored else reason(verdict)
        found = {"reward": one.reward(verdict), "mask_sample": not verdict.scored}
        return {**body, **found, "failure_reason": why, "reward_components": stage_scores(verdict)}

    return verify


def _said(output: object) -> list[Message]:
    """The messages of a response of OpenAI's Responses API."""
    items = output if isinstance(output, Sequence) and not isinstance(output, str) else ()
    return [item for item in items if isinstance(item, Mapping) and item.get("type") == "message"]
