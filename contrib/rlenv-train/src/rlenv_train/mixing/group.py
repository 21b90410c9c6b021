"""`EnvironmentGroup`: several environments as one, with ratios."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import TypeAlias

from attrs import evolve
from rlenv import ConfigError, Environment, RowExecutor, Task, UnknownTask, Verdict, stage

from rlenv_train.rows import Response, Row
from rlenv_train.splits import TRAIN, of_split

from .diversity import Diversity, diversity
from .sampling import interleaved
from .scales import Scale

KEY = "environment"
CHUNK = 4096  # rows that are read at once
Part: TypeAlias = list[tuple[int, tuple[Task, Response]]]


@stage(where="inline")
def routed(response: str) -> float:
    """In the place of a verifier: each task is verified by its own environment."""
    raise NotImplementedError


class EnvironmentGroup(Environment):
    """Several environments, used as one: each task is verified by the environment that it came
    from.

    ``tasks`` are the tasks of all members. Their id is ``NAME/ID``, and
    ``task.info["environment"]`` is NAME, which decides who verifies. A member gets its own task, so
    a verdict is that of the member alone. Everything that takes an ``Environment`` takes a group.

    Args:
        environments: name to environment; a name has no "/".
        ratios: name to how often tasks are sampled, relative to the others; 0 for never. The same
            for all by default.

    Raises:
        ConfigError: for names or ratios that make no sense.
    """

    def __init__(
        self, environments: Mapping[str, Environment], ratios: Mapping[str, float] | None = None
    ) -> None:
        self.environments = dict(environments)
        self.ratios = dict.fromkeys(environments, 1.0) if ratios is None else dict(ratios)
        self._check()
        own = [(name, task) for name, env in environments.items() for task in env.tasks]
        handed = [evolve(t, id=f"{n}/{t.id}", info={**t.info, KEY: n}) for n, t in own]
        super().__init__("+".join(environments), routed, handed)
        self._own = dict(zip(self.tasks.ids, own, strict=True))
        paths = [f"{n}/{path}" for n, env in environments.items() for path in env.group_only]
        self.group_only = tuple(paths)
        self.stages = {p: slot for env in environments.values() for p, slot in env.stages.items()}

    def _check(self) -> None:
        names = self.environments.keys()
        problems = [f"{n!r}: a name is a string without '/'" for n in names if not n or "/" in n]
        if not names or names != self.ratios.keys():
            found = f"ratios: names {sorted(self.ratios)}, the environments are {sorted(names)}"
            problems.append(found)
        for name, ratio in self.ratios.items():
            if not (math.isfinite(ratio) and ratio >= 0):
                problems.append(f"ratios: {name}: {ratio!r} is not a number from 0")
        if problems:
            raise ConfigError(*problems)

    @property
    def fingerprint(self) -> str:
        """Names the members and what makes their verdicts; ratios take no part."""
        members = sorted((name, env.fingerprint) for name, env in self.environments.items())
        return hashlib.sha256(json.dumps(members).encode()).hexdigest()

    def sample(self, seed: int = 0, split: str | None = TRAIN) -> Iterator[Task]:
        """Yield tasks without end, in a fixed order for each seed.

        The counts of environments follow the ratios at every length. The tasks of an environment
        come in random order, and each comes once before any comes again. An environment without
        tasks of this split is left out.

        Args:
            seed: decides the order.
            split: the split to draw from, "train" unless given; None for the tasks of every split.

        Raises:
            ConfigError: when no environment of the group has a task of this split.
        """
        tasks = of_split(self.tasks, split, "EnvironmentGroup.sample")
        return interleaved(self._by_name(tasks), self.ratios, seed)

    def _by_name(self, tasks: Iterable[Task]) -> dict[str, list[Task]]:
        found: dict[str, list[Task]] = {name: [] for name in self.environments}
        for task in tasks:
            found[str(task.info[KEY])].append(task)
        return found

    def route(self, prompt: str | Task) -> tuple[str, Task]:
        """The name of the environment that verifies this prompt, and its own task.

        Raises:
            UnknownTask: when the task names no environment, or not exactly one task has this
                prompt.
        """
        task = self._task(prompt)
        name = str(task.info[KEY])
        own = self._own.get(task.id or "")
        if own is not None and own[0] == name and own[1].prompt == task.prompt:
            return own
        return name, evolve(task, info={k: v for k, v in task.info.items() if k != KEY})

    def _task(self, prompt: object) -> Task:
        """As of an environment, and the task names a member."""
        task = super()._task(prompt)
        name = task.info.get(KEY)
        if not isinstance(name, str) or name not in self.environments:
            lack = (
                f"task {task.id!r}: info.environment is {name!r:.60}, not one of"
                f" {', '.join(self.environments)}"
            )
            raise UnknownTask(f"{lack}; take tasks from the group")
        return task

    def evaluate(self, prompt: str | Task, response: Response) -> Verdict:
        """The whole verdict, by the environment of the task."""
        name, task = self.route(prompt)
        return self.environments[name].evaluate(task, response)

    async def aevaluate(self, prompt: str | Task, response: Response) -> Verdict:
        """``evaluate`` for callers with an event loop."""
        name, task = self.route(prompt)
        return await self.environments[name].aevaluate(task, response)

    def evaluate_group(self, prompt: str | Task, responses: Sequence[Response]) -> list[Verdict]:
        """Verdicts for several responses to one task, which stages that compare see together."""
        name, task = self.route(prompt)
        return self.environments[name].evaluate_group(task, responses)

    def evaluate_as_completed(
        self, rows: Iterable[Row], workers: int | None = None, *, on: RowExecutor | None = None
    ) -> Iterator[tuple[int, Verdict]]:
        """As of an environment; 4,096 rows are read at once, and the members evaluate them at the
        same time.

        Args:
            rows: as for ``Environment.evaluate_many``, with ids of the group.
            workers: as for ``Environment.evaluate_many``, for each member.
            on: as for ``Environment.evaluate_many``.
        """
        left = iter(rows)
        start = 0
        while chunk := list(islice(left, CHUNK)):
            parts, faults = self._parts(chunk)
            yield from ((start + place, verdict) for place, verdict in faults)
            pool = ThreadPoolExecutor(len(parts) or 1)
            try:
                evaluate = partial(self._evaluated, workers, on)
                for found in pool.map(evaluate, parts, parts.values()):
                    yield from ((start + place, verdict) for place, verdict in found)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
            start += len(chunk)

    def _parts(self, chunk: Sequence[Row]) -> tuple[dict[str, Part], list[tuple[int, Verdict]]]:
        """The rows of each member with their places, and the rows that make no sense."""
        parts: dict[str, Part] = {}
        faults = []
        for place, attempt in enumerate(map(self._attempt_or_fault, chunk)):
            if isinstance(attempt, Verdict):
                faults.append((place, attempt))
                continue
            name, task = self.route(attempt.task)
            parts.setdefault(name, []).append((place, (task, chunk[place][-1])))
        return parts, faults

    def _evaluated(
        self, workers: int | None, on: RowExecutor | None, name: str, part: Part
    ) -> list[tuple[int, Verdict]]:
        rows = [row for _, row in part]
        verdicts = self.environments[name].evaluate_many(rows, workers, on=on)
        return [(place, verdict) for (place, _), verdict in zip(part, verdicts, strict=True)]

    def scales(
        self, prompts: Iterable[str | Task], rewards: Iterable[float | None]
    ) -> dict[str, Scale]:
        """The scale of each environment's rewards, to be measured once and used for a whole run."""
        found: dict[str, list[float | None]] = {}
        for prompt, reward in zip(prompts, rewards, strict=True):
            found.setdefault(self.route(prompt)[0], []).append(reward)
        return {name: Scale.of(group) for name, group in found.items()}

    def normalize(
        self,
        prompts: Sequence[str | Task],
        rewards: Sequence[float | None],
        scales: Mapping[str, Scale] | None = None,
    ) -> list[float | None]:
        """``(reward - mean) / deviation`` with the mean and the deviation of the task's
        environment.

        Verdicts do not change. An unscored reward (None) stays None and does not count.

        Args:
            prompts: the task or prompt of each reward.
            rewards: numbers in [0, 1], or None.
            scales: what ``scales`` measured; by default the scales of these rewards.
        """
        known = self.scales(prompts, rewards) if scales is None else scales
        names = [self.route(prompt)[0] for prompt in prompts]
        if unknown := set(names) - known.keys():
            raise ConfigError(f"scales: nothing was measured for {sorted(unknown)}")
        return [known[n].apply(reward) for n, reward in zip(names, rewards, strict=True)]

    def diversity(self) -> Diversity:
        """Archetypes, families and duplicates of the tasks; ``print`` shows a table."""
        return diversity(self.environments, self._by_name(self.tasks), self.ratios)

    def close(self) -> None:
        """Close all members."""
        for env in self.environments.values():
            env.close()
