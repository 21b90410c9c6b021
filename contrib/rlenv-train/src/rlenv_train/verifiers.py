"""An environment as a reward of verifiers, of its present API and of the one before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, Unpack

from .environments import AnyEnvironment
from .metrics import reason, stage_scores
from .rows import Text
from .single import Asked, Judge, Options

if TYPE_CHECKING:
    from verifiers import Rubric
    from verifiers.v1 import TaskData, Trace

RewardV1: TypeAlias = Callable[["TaskData", "Trace"], Awaitable[float]]


def verifiers_reward(
    env: AnyEnvironment,
    *,
    answer: str = "answer",
    id: str = "id",  # noqa: A002 - the field's name
    name: str = "rlenv",
) -> RewardV1:
    """The environment as an async reward of verifiers 0.4; unscored raises TaskError.

    Name it in a configuration: ``rewards.rlenv = { fn = "rewards.py:reward" }``.  The scores of
    stages become
    metrics.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        answer: the field of the task's data that holds the answer; the others become ``task.info``.
        id: the field that holds the id of a task of the environment.
        name: the first part of the metrics' names.

    Raises:
        ConfigError: when a stage compares the responses to one task.
    """
    judge = Judge(env, "verifiers", id)

    async def reward(task: TaskData, trace: Trace) -> float:
        from verifiers.v1 import TaskData as Base
        from verifiers.v1 import TaskError

        data = task.model_dump()
        own = set(Base.model_fields) - {id}
        info = {key: value for key, value in data.items() if key not in own and value is not None}
        said = [message.model_dump() for message in trace.messages]
        response = said if trace.assistant_messages else ""  # an example in the prompt is none
        gold = info.pop(answer, None)
        verdict = await judge.averdict(Asked(task.prompt_text, response, gold, info))
        for stage, score in stage_scores(verdict).items():
            trace.record_metric(f"{name}/{stage}", score)
        if verdict.value is None:
            raise TaskError(f"unscored by {name}: {reason(verdict)}")
        return verdict.value

    return reward


def verifiers_rubric(env: AnyEnvironment, **options: Unpack[Options]) -> Rubric:
    """The environment as a ``Rubric`` of verifiers before 0.2, with a metric ``unscored``.

    That API turns an exception into 0.0 and spoils a group by NaN, so an unscored response gets a
    number.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        **options: ``unscored``, the reward of an unscored response, 0.0 by default; ``id``, the key
            of ``info`` that holds the id of a task of the environment, "id" by default;
            ``patience``, how many responses in a row may stay without a score, 1000 by default.

    Raises:
        ConfigError: when a stage compares the responses to one task.
    """
    from verifiers import Rubric

    judge = Judge(env, "verifiers", **options)

    async def rlenv(
        prompt: Text, completion: Text, answer: object, info: object, state: dict[str, object]
    ) -> float:
        known = info if isinstance(info, Mapping) else {}
        verdict = await judge.averdict(Asked(prompt, completion, answer, known))
        state["rlenv_unscored"] = float(not verdict.scored)
        return judge.reward(verdict)

    async def rlenv_unscored(state: Mapping[str, float]) -> float:
        return state.get("rlenv_unscored", 1.0)

    return Rubric(funcs=[rlenv, rlenv_unscored], weights=[1.0, 0.0])
