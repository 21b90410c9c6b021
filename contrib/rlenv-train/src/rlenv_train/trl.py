"""An environment as a reward function of TRL."""

from __future__ import annotations

import asyncio
import inspect
import logging
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from attrs import astuple, define
from rlenv import Environment, Verdict

from .batch import judge
from .combine import checked_weights, combined, numbers
from .environments import AnyEnvironment, open_environment
from .metrics import batch_metrics
from .patience import Patience
from .rows import Columns, Text, columns_of
from .tokens import checked_weight, with_steps

Scores: TypeAlias = Iterable[float | None]
RewardFunction: TypeAlias = Callable[..., Scores | Awaitable[Scores]]
Log: TypeAlias = Callable[[str, float], None]

NOT_COLUMNS = ("trainer_state", "log_extra", "log_metric", "environments")
HIDDEN = (
    "All reward functions returned None for at least one row. rlenv hides its columns, which may"
    " hold the answer."
)


def trl_reward(
    env: AnyEnvironment,
    *,
    answer: str | None = None,
    info: Sequence[str] = (),
    id: str = "id",  # noqa: A002 - the field's name
    also: Sequence[RewardFunction] = (),
    weights: Sequence[float] | None = None,
    step_weight: float = 0.0,
    name: str = "rlenv",
    patience: int = 10,
) -> TrlReward:
    """The environment as an async reward function of TRL; None for an unscored response.

    Pass it alone: ``GRPOTrainer(reward_funcs=trl_reward("env.toml", also=[other]))``.  TRL counts
    None as 0
    where another function gives the row a number; this function leaves the row unscored.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        answer: the column of the answer.  Without it and ``info``, an environment with tasks finds
            its own.
        info: columns that become ``task.info``.
        id: the column of the id by which an environment's own tasks are found, else they are by
            prompt.
        also: other reward functions of TRL, sync or async, whose rewards are added.
        weights: one factor for rlenv and one for each of ``also``; 1 each by default.  A function
            of weight 0 is only logged, and its None does not count.
        step_weight: what the mean of the scores of steps adds to the reward, times this.
        name: of the function and its metrics in TRL's logs.
        patience: how many batches in a row may stay without any score.

    Raises:
        ConfigError: when the environment or the weights make no sense.
    """
    columns = Columns(answer, tuple(info), id)
    factors = checked_weights(weights, 1 + len(also))
    steps = checked_weight(step_weight)
    return TrlReward(
        source=env,
        columns=columns,
        also=tuple(also),
        weights=factors,
        step_weight=steps,
        name=name,
        patience=Patience(patience),
    )


@define(slots=False, eq=False)
class TrlReward:
    """What ``trl_reward`` returns: ``await reward(prompts, completions, **columns)``.

    It may be pickled.
    """

    _source: AnyEnvironment
    _columns: Columns
    _also: tuple[RewardFunction, ...]
    _weights: tuple[float, ...]
    _step_weight: float
    _name: str
    _patience: Patience

    def __attrs_post_init__(self) -> None:
        self.env = open_environment(self._source)
        self.__name__ = self._name

    async def __call__(
        self,
        prompts: Sequence[Text],
        completions: Sequence[Text],
        completion_ids: Sequence[Sequence[int]] | None = None,
        **given: object,
    ) -> list[float | None]:
        log = cast("Log | None", given.get("log_metric"))
        trainer = getattr(log, "__self__", None)  # log_metric is a method of the trainer
        if self._patience.first:
            _look_at(trainer, self)
        with self._patience.batch(len(prompts)) as outcome:
            same = {**given, "completion_ids": completion_ids}
            same |= {"prompts": prompts, "completions": completions}
            lists = {name: own for name, own in given.items() if isinstance(own, (list, tuple))}
            batch = {name: own for name, own in lists.items() if name not in NOT_COLUMNS}
            rows = self._columns.rows(self.env, prompts, completions, batch)
            hint = f"; {columns_of(batch)}" if self._patience.first else None
            others = asyncio.gather(*(self._other(function, same) for function in self._also))
            own = asyncio.to_thread(judge, self.env, rows, _group_size(trainer), hint=hint)
            outcome.verdicts, found = await asyncio.gather(own, others)
            rewards = [[with_steps(v, self._step_weight) for v in outcome.verdicts], *found]
            outcome.scores = combined(rewards, self._weights)
        if log is not None:
            self._log(log, outcome.verdicts, outcome.scores)
        return outcome.scores

    def close(self) -> None:
        """Let go of the environment's workers."""
        self.env.close()

    async def _other(
        self, function: RewardFunction, arguments: Mapping[str, object]
    ) -> list[float | None]:
        """The numbers of another function, one for each completion; a sync one runs in a thread."""
        found = await asyncio.to_thread(function, **arguments)
        if inspect.isawaitable(found):
            found = await found
        completions = cast("Sequence[Text]", arguments["completions"])
        return numbers(found, len(completions), _name(function))

    def _log(self, log: Log, verdicts: Sequence[Verdict], scores: Sequence[float | None]) -> None:
        lost = sum(score is None for score in scores) / (len(scores) or 1)
        for key, value in {**batch_metrics(verdicts), "unscored": lost}.items():
            log(f"{self.__name__}/{key}", value)

    def __reduce__(self) -> tuple[object, ...]:
        if isinstance(self._source, Environment):
            text = "an Environment cannot travel to another process"
            raise TypeError(f"{text}: give trl_reward the path or the name of the environment")
        return TrlReward, astuple(self, recurse=False)


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _group_size(trainer: object) -> int | None:
    """How many responses to one prompt the trainer samples; in evaluation it may be another
    number.
    """
    training = getattr(getattr(trainer, "model", None), "training", True)
    size = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
    return size if isinstance(size, int) else None


def _look_at(trainer: object, own: object) -> None:
    """Hide answers from the trainer's warnings, and warn about functions beside this one."""
    for kind in type(trainer).__mro__:
        if kind.__module__.startswith("trl."):
            logging.getLogger(kind.__module__).addFilter(_hide_columns)
    others = [_name(f) for f in getattr(trainer, "reward_funcs", ()) if f is not own]
    if others:
        text = (
            f"the trainer has other reward functions ({', '.join(others)}), and TRL counts an"
            " unscored"
        )
        remedy = "response as 0 next to them: pass them to trl_reward(also=[...])"
        warnings.warn(f"{text} {remedy}", RuntimeWarning, stacklevel=2)


def _hide_columns(record: logging.LogRecord) -> bool:
    if "All reward functions returned None" in str(record.msg):
        record.msg = HIDDEN
        record.args = ()
    return True
