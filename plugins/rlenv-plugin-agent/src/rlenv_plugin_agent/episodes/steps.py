"""Steps of an episode: each gives an observation and a reward, and some end it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from rlenv import Environment, Fault, Task, Trajectory, Verdict

from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.tools.observations import Call

Stop: TypeAlias = Literal[
    "passed", "done", "gave_up", "turn_limit", "timeout", "context", "budget", "error"
]
Evaluate: TypeAlias = Callable[[Task, Trajectory], Verdict | Awaitable[Verdict]]
Marks: TypeAlias = tuple[tuple[str, str], ...]
TERMINATED = ("passed", "done", "gave_up")
TRUNCATED = ("turn_limit", "timeout", "context", "budget")
ENDINGS: Mapping[str, Stop] = {"done": "done", "give_up": "gave_up"}  # by the tool that ends it


class Step(NamedTuple):
    """The tuple that ``step`` returns, as Gymnasium does.

    Args:
        observation: the messages that answer the action, for the policy.
        reward: 0.0 before the end; then the verdict's value, and None where the episode is
            unscored.
        terminated: the policy, or the user, has ended the episode.
        truncated: a limit has ended it.
        info: ``observation``, the value that a user returned; at the end ``verdict`` and ``stop``.
    """

    observation: list[Message]
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, object]


class Turn(NamedTuple):
    """One turn of the policy, as the log has it.

    Args:
        waited: wall seconds from the observation to the action: the policy's time.
        seconds: wall seconds of tools or user.
        tokens: that the policy sampled; estimated from the text where ``exact`` is False.
        exact: the policy told its ids.
        calls: of tools.
        marks: (tool, mark) pairs: which calls had noise, as ``noise/error``, or were
            ``not_recorded``.
    """

    waited: float
    seconds: float
    tokens: int
    exact: bool
    calls: tuple[Call, ...]
    marks: Marks = ()


def verdict_of_fault(env: Environment, fault: Fault) -> Verdict:
    """Make the verdict of an episode that is unscored.

    Args:
        env: whose fingerprint the verdict bears.
        fault: why no stage could judge.
    """
    return Verdict(
        value=None, results=(), stopped_at=None, fingerprint=env.fingerprint, raw=None, fault=fault
    )
