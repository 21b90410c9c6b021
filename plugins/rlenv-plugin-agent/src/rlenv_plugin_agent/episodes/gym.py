"""Episodes for ``gymnasium.Env``, to which ``rlenv_train.gymnasium_env`` delegates to where an
environment has a harness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from rlenv import Environment, Task, Verdict

from rlenv_plugin_agent.errors import UnreachableTask
from rlenv_plugin_agent.messages import Action, Message, copies, json_of, text_of
from rlenv_plugin_agent.messages.actions import ActionError, action_of

from .episode import Episode

Info: TypeAlias = dict[str, object]
Reset: TypeAlias = tuple[object, Info]
Reward: TypeAlias = Callable[[Verdict], float]
Inform: TypeAlias = Callable[[Verdict], Info]
DRAWS = 16  # tasks that one ``reset`` tries where a persistent world makes them impossible


class Episodes:
    """Plays episodes of an environment, with numbers where Gymnasium wants numbers.

    The observation is what the user returned, where the harness has a user, and else the text of
    the last messages.  An action is any that ``Episode.step`` takes; a text that is a JSON object
    with ``tool_calls`` is a message.

    Args:
        env: with a table ``harness``.
        reward: the number for a verdict, also for one without a value.
        info: of the last step, from its verdict.
    """

    def __init__(self, env: Environment, reward: Reward, info: Inform) -> None:
        self._episode = Episode(env)
        self._reward = reward
        self._info = info

    def reset(self, task: Task, seed: int) -> Reset:
        """Call ``Episode.reset``; ``info`` has ``messages``, all that the policy is given, and
        ``tools``.

        Args:
            task: as for ``Episode.reset``.
            seed: as for ``Episode.reset``.
        """
        given, info = self._episode.reset(task, seed)
        return self._observation(given[-1:], info), {**info, **self._extras()}

    def step(self, action: Action) -> tuple[object, float, bool, bool, Info]:
        """Call ``Episode.step``; an unscored episode is truncated."""
        step = self._episode.step(_message(action))
        verdict = step.info.pop("verdict", None)
        info = {**step.info, **self._extras()}
        seen = self._observation(step.observation, info)
        if not isinstance(verdict, Verdict):
            return seen, 0.0, False, False, info
        return (
            seen,
            self._reward(verdict),
            step.terminated,
            not step.terminated,
            {**info, **self._info(verdict)},
        )

    def close(self) -> None:
        """Give back what an episode that has not ended holds."""
        self._episode.close()

    def _observation(self, messages: list[Message], info: Info) -> object:
        if self._episode.harness.user is not None and "observation" in info:
            return info.pop("observation")
        return "\n\n".join(text_of(each.get("content")) for each in messages)

    def _extras(self) -> Info:
        return {"messages": self._episode.view, "tools": copies(self._episode.tools)}


def make_env_class(base: type, env: Environment, reward: Reward, info: Inform) -> type:
    """Make a class of Gymnasium whose episodes are those of ``Episodes``.

    Args:
        base: a class of Gymnasium, whose ``reset`` draws one of the environment's tasks and tells
            its ``id``.
        env: as for ``Episodes``.
        reward: as for ``Episodes``.
        info: as for ``Episodes``.
    """
    episodes = Episodes(env, reward, info)

    class EpisodeEnv(base):  # type: ignore[misc] # Gymnasium is not installed with rlenv
        def reset(self, *, seed: int | None = None, options: Info | None = None) -> Reset:
            _, drawn = super().reset(seed=seed, options=options)
            for _ in range(DRAWS):
                task = env.tasks.by_id(drawn["id"])
                try:
                    return episodes.reset(task, int(self.np_random.integers(1 << 31)))
                except UnreachableTask as error:
                    if (options or {}).get("id") is not None:
                        raise
                    left = error
                _, drawn = super().reset(options=options)
            raise none_reachable(DRAWS) from left

        def step(self, action: Action) -> tuple[object, float, bool, bool, Info]:
            return episodes.step(action)

        def close(self) -> None:
            episodes.close()
            super().close()

    return EpisodeEnv


def none_reachable(draws: int) -> UnreachableTask:
    """Return the error where all tasks that were drawn are impossible in a persistent world.

    Args:
        draws: how many were drawn.
    """
    told = (
        f"none of {draws} tasks that were drawn can be solved in the world that earlier episodes"
        " left: name another file in `[state] world`, or put back a copy of it"
    )
    return UnreachableTask(told, kind="unavailable", transient=True)


def _message(action: Action) -> Action:
    if not isinstance(action, str) or '"tool_calls"' not in action:
        return action
    found = json_of(action)
    if not isinstance(found, Mapping):
        return action
    try:
        return action_of(found)
    except ActionError:  # a model may write anything as its text
        return action
