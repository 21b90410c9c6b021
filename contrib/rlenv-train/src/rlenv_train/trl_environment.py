"""An environment for TRL's ``environment_factory``: the task of each episode, and tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rlenv import ConfigError, Environment

from .environments import AnyEnvironment, open_environment
from .rows import Text, prompt_text

Tool: TypeAlias = Callable[..., object]


def trl_environment(
    env: AnyEnvironment,
    *,
    tools: Sequence[Tool] = (),
    id: str = "id",  # noqa: A002 - the field's name
) -> EpisodeFactory:
    """An ``environment_factory`` of TRL; pass ``trl_reward(env)`` next to it, which judges a batch
    at once.

    ``reset`` gives an episode the prompt of its task, so the data set may hold ids alone, and an
    empty message of the user as its prompt.  A row that has a prompt keeps it.

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        tools: functions, sync or async, with typed arguments and a Google docstring, which the
            policy may call.
        id: the column that holds the id of a task of the environment.

    Raises:
        ConfigError: for a tool that TRL cannot describe to the policy.
    """
    names = [getattr(tool, "__name__", "") for tool in tools]
    for tool, name in zip(tools, names, strict=True):
        _check(tool, name)
    if len({*names}) < len(names):
        raise ConfigError(f"tools have different names, not {', '.join(names)}")
    return EpisodeFactory(env, tools, id)


def _check(tool: Tool, name: str) -> None:
    from transformers.utils import get_json_schema

    if not name.isidentifier() or name.startswith("_") or name in ("reset", "get_reward"):
        raise ConfigError(f"a tool has a public name that is not reset, not that of {tool!r}")
    try:
        get_json_schema(tool)
    except Exception as error:
        text = " ".join(str(error).split())
        raise ConfigError(f"TRL cannot describe the tool {name} to the policy: {text}") from error


class EpisodeFactory:
    """What ``trl_environment`` returns.  TRL calls it for instances, which have ``reset`` and the
    tools as methods.

    It may be pickled.
    """

    def __init__(self, source: AnyEnvironment, tools: Sequence[Tool], id: str) -> None:  # noqa: A002 - as above
        self._given = (source, tuple(tools), id)
        env = open_environment(source)

        class RlenvEnvironment:
            def reset(self, **row: object) -> str | None:
                return _prompt(env, row.get("prompt"), row.get(id), id)

        for tool in tools:  # TRL takes each function of the class as a tool
            setattr(RlenvEnvironment, tool.__name__, staticmethod(tool))
        self._kind = RlenvEnvironment

    def __call__(self) -> object:
        return self._kind()

    def __reduce__(self) -> tuple[object, ...]:
        return EpisodeFactory, self._given


def _prompt(env: Environment, prompt: object, name: object, column: str) -> str | None:
    """What is added to the last message of the user; None where it has a text."""
    given: Text = prompt if isinstance(prompt, (str, list, tuple)) else ""
    if not env.tasks or prompt_text(given):
        return None
    if name is None:
        lack = f"a row without a prompt needs the column {column!r}, the id of a task of {env.name}"
        raise ConfigError(f"{lack}, or put the messages of the task into its prompt")
    task = env.tasks.by_id(str(name))
    if len(task.messages) > 1:
        lack = f"the task {task.id} has several messages, and TRL adds to the last one alone"
        raise ConfigError(f"{lack}: put task.messages into the column prompt")
    return task.prompt
