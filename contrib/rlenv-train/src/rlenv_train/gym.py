"""An environment as one of Gymnasium and of SkyRL-Gym: a prompt, one response or an episode, a
reward.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, Unpack

from rlenv import ConfigError, Task, Verdict

from .environments import AnyEnvironment
from .metrics import reason, stage_scores
from .rows import Message
from .single import Asked, Judge, Options
from .splits import TRAIN, of_split
from .tokens import step_scores

if TYPE_CHECKING:
    import gymnasium
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

Extras: TypeAlias = Mapping[str, object]


def gymnasium_env(
    env: AnyEnvironment,
    *,
    unscored: float = 0.0,
    max_length: int = 1 << 16,
    split: str | None = TRAIN,
) -> gymnasium.Env[str, str]:
    """The environment as a ``gymnasium.Env`` over its own tasks: of one step, or with a
    ``[harness]`` of its turns.

    ``reset`` draws a task of the split, or takes that of ``options={"id": …}``, which may be of any
    split; the observation is its prompt.  ``step`` takes the response.  A judged response
    terminates the episode.  An unscored one truncates it, since a reward there is a number:
    ``info["unscored"]`` is true, and ``info["fault"]`` says why.

    With a ``[harness]``, see ``rlenv_plugin_agent.episodes.gym.Episodes``.  The spaces are of text
    all the same: give the object those of a game, as in ``env.action_space = Discrete(4)``.

    Args:
        env: an Environment with tasks, the path of an env.toml, or the name of an installed
            environment.
        unscored: the reward of an unscored response.
        max_length: of prompts and responses in the spaces, in characters; ``step`` takes any text.
        split: the split that ``reset`` draws from, "train" unless given; None for the tasks of
            every split.

    Raises:
        ConfigError: when the environment has no tasks, or none of the split, or a stage compares
            the responses to one task.
    """
    judge = Judge(env, "Gymnasium", unscored=unscored, patience=None)
    if not judge.env.tasks:
        raise ConfigError(f"{judge.env.name} has no tasks, and reset gives one")
    made = _env_class(judge, of_split(judge.env.tasks, split, "gymnasium_env"), max_length)
    if "harness" in judge.env.tables:
        gym = import_module("rlenv_plugin_agent.episodes.gym")
        make_env_class: Callable[..., type] = gym.make_env_class
        made = make_env_class(made, judge.env, judge.reward, _info)
    return made()


def _env_class(
    judge: Judge, drawable: Sequence[Task], max_length: int
) -> type[gymnasium.Env[str, str]]:
    """Return the class of environments of one step; ``reset`` draws from ``drawable``."""
    import gymnasium

    tasks = judge.env.tasks
    signs = frozenset(string.printable).union(*(task.prompt for task in tasks))

    class RlenvEnv(gymnasium.Env):  # type: ignore[misc] # Gymnasium is not installed with rlenv
        metadata: dict[str, object] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

        def __init__(self) -> None:
            longest = max(max_length, *(len(task.prompt) for task in tasks))
            self.observation_space = gymnasium.spaces.Text(longest, min_length=0, charset=signs)
            self.action_space = gymnasium.spaces.Text(max_length, min_length=0, charset=signs)
            self._task: Task | None = None

        def reset(
            self, *, seed: int | None = None, options: dict[str, object] | None = None
        ) -> tuple[str, dict[str, object]]:
            super().reset(seed=seed)
            name = (options or {}).get("id")
            drawn = drawable[int(self.np_random.integers(len(drawable)))]
            self._task = drawn if name is None else tasks.by_id(str(name))
            return self._task.prompt, {"id": self._task.id}

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
            if self._task is None:
                raise RuntimeError("the episode is over: call reset")
            verdict = judge.env.evaluate(self._task, str(action))
            self._task = None
            return "", judge.reward(verdict), verdict.scored, not verdict.scored, _info(verdict)

        def close(self) -> None:
            judge.env.close()

    return RlenvEnv


def _info(verdict: Verdict) -> dict[str, object]:
    why = {} if verdict.scored else {"fault": reason(verdict)}
    scores = {"stages": stage_scores(verdict), "steps": [*step_scores(verdict)]}
    return {"unscored": not verdict.scored, **scores, **why}


def skyrl_env(env: AnyEnvironment, **options: Unpack[Options]) -> Callable[..., BaseTextEnv]:
    """The environment as a class of SkyRL-Gym, to ``register(id, entry_point)`` there.

    The answer is ``reward_spec["ground_truth"]`` of the row, and the other columns are the task's
    info.  A reward there is a number, so an unscored response gets one, and the metric ``unscored``
    1.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        **options: ``unscored``, the reward of an unscored response, 0.0 by default; ``id``, the
            column that holds the id of a task of the environment, "id" by default; ``patience``,
            how many responses in a row may stay without a score, 1000 by default.

    Raises:
        ConfigError: when a stage compares the responses to one task.
    """
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

    judge = Judge(env, "SkyRL", **options)

    class RlenvTextEnv(BaseTextEnv):  # type: ignore[misc] # SkyRL-Gym is not installed with rlenv
        def __init__(self, env_config: object = None, extras: Extras | None = None) -> None:  # noqa: ARG002
            super().__init__()
            row = extras or {}
            spec = row.get("reward_spec")
            self._answer = spec.get("ground_truth") if isinstance(spec, Mapping) else None
            self._info = {key: value for key, value in row.items() if key != "reward_spec"}
            self._prompt: list[Message] = []
            self._metrics: dict[str, float] = {}

        def init(self, prompt: list[Message]) -> tuple[list[Message], dict[str, object]]:
            self._prompt = prompt
            return prompt, {}

        def step(self, action: str) -> BaseTextEnvStepOutput:
            verdict = judge.verdict(Asked(self._prompt, action, self._answer, self._info))
            reward = judge.reward(verdict)
            scores = {f"stage/{path}": score for path, score in stage_scores(verdict).items()}
            self._metrics = {"unscored": float(not verdict.scored), **scores}
            return BaseTextEnvStepOutput(
                observations=[], reward=reward, done=True, metadata=_info(verdict)
            )

        def get_metrics(self) -> dict[str, float]:
            return self._metrics

    return RlenvTextEnv
