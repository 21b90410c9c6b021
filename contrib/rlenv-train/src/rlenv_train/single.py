"""One response at a time, for trainers and frameworks that ask so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from rlenv import ConfigError, Fault, RlenvError, Task, Verdict

from .batch import needs_no_group
from .combine import LARGEST
from .environments import AnyEnvironment, open_environment
from .patience import Patience
from .rows import Response, Text, prompt_text, task_of


class Options(TypedDict, total=False):
    """What adapters take for trainers that have no value for an unscored response."""

    unscored: float
    id: str
    patience: int


class Asked(NamedTuple):
    """A prompt and a response, with the answer and what else a framework knows of the row."""

    prompt: Text
    response: Response
    answer: object = None
    info: Mapping[str, object] = {}


class Judge:
    """An environment that judges single responses for a framework.

    An environment that has tasks finds its own: by ``info[id]``, else by the prompt.  Otherwise the
    task is made of what the framework gives.  A row that makes no sense raises at the first call,
    and is unscored later.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        who: the framework, for messages; None for one that may give whole groups too.
        id: the key of ``info`` that holds the id of a task.
        unscored: the number for an unscored response, where the framework has nothing else.
        patience: how many calls of ``rewards`` in a row may stay without a score; None: any number.

    Raises:
        ConfigError: when a stage compares the responses to one task, ``unscored`` is not a number
            of a trainer, or the patience is not a positive integer.
    """

    def __init__(
        self,
        env: AnyEnvironment,
        who: str | None,
        id: str = "id",  # noqa: A002 - the field's name
        *,
        unscored: float = 0.0,
        patience: int | None = 1000,
    ) -> None:
        if not abs(unscored) <= LARGEST:  # NaN is not
            raise ConfigError(f"unscored is a finite number of 32 bits, not {unscored!r}")
        self.env = open_environment(env)
        if who is not None:
            needs_no_group(self.env, who)
        self._id = id
        self._unscored = unscored
        self.patience = Patience(patience)

    def task(self, asked: Asked) -> Task:
        """The task of a row.

        Raises:
            UnknownTask: when the environment has tasks, and none that is meant.
        """
        prompt, _, answer, info = asked
        if not self.env.tasks:
            return task_of(prompt, answer, info)
        if (name := info.get(self._id)) is not None:
            return self.env.tasks.by_id(str(name))
        return self.env.tasks.by_prompt(prompt_text(prompt))

    def verdict(self, asked: Asked) -> Verdict:
        """The verdict on one response."""
        try:
            verdict = self.env.evaluate(self.task(asked), asked.response)
        except (RlenvError, TypeError) as error:
            verdict = self.failed(error)
        self.patience.first = False
        return verdict

    async def averdict(self, asked: Asked) -> Verdict:
        """The same, for callers with an event loop, which stays free."""
        try:
            verdict = await self.env.aevaluate(self.task(asked), asked.response)
        except (RlenvError, TypeError) as error:
            verdict = self.failed(error)
        self.patience.first = False
        return verdict

    def rewards(self, verdicts: Sequence[Verdict], unscored: float | None = None) -> list[float]:
        """A number for each verdict of one call, for frameworks without a value that says unscored.

        Args:
            verdicts: of the responses that the framework gave at once.
            unscored: the number for an unscored response, if it is not that of the constructor.

        Raises:
            VerifierFault: when it is one call too many without a score.
        """
        self.patience.seen(verdicts, scored=any(verdict.scored for verdict in verdicts))
        instead = self._unscored if unscored is None else unscored
        return [instead if verdict.value is None else verdict.value for verdict in verdicts]

    def reward(self, verdict: Verdict) -> float:
        """The number for one verdict; see ``rewards``."""
        return self.rewards([verdict])[0]

    def failed(self, error: Exception) -> Verdict:
        """The verdict on a row that makes no sense, which raises at the first call."""
        if self.patience.first:
            raise error
        return Verdict(None, fault=Fault("input", str(error)))
