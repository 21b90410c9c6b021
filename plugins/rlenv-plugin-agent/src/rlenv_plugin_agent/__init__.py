"""Episodes for rlenv: a policy acts turn after turn, tools answer, and an environment's stages
judge the whole.

>>> from rlenv import Environment, Task
>>> from rlenv_plugin_agent import Harness, call, rollout
>>> def add(a: int, b: int) -> int:
...     "Add two numbers."
...     return a + b
>>> def passes(visible: str, answer: str) -> bool:
...     return visible == answer
>>> env = Environment("sums", passes, tables={"harness": Harness("tool-use", tools=[add])})
>>> def policy(messages, tools):
...     if messages[-1]["role"] == "tool":
...         return messages[-1]["content"]
...     return call("add", a=2, b=3)
>>> rollout(env, Task("2 + 3?", answer="5"), policy).verdict.value
1.0
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import hookimpl

from .clients import ContextExceeded, EndpointError, endpoint, token_endpoint
from .episodes.config import Budgets, Config
from .episodes.episode import Episode
from .episodes.harness import Harness
from .episodes.steps import Step, Stop, Turn
from .episodes.user import End
from .errors import EpisodeError, ToolError
from .messages import Reply, call, calls
from .messages.actions import ActionError
from .rollouts import Policy, Rollout, arollout, arollouts, rollout, rollouts
from .rollouts.replay import Divergence, areplay, replay
from .rollouts.samples import Sample
from .state.database import Database
from .state.final import FinalState
from .state.open_state import Files
from .state.world import World
from .tools.context import ToolContext
from .tools.observations import Call, Observe
from .tools.subagent import Child, subagent
from .tools.tool import Tool, tool

__all__ = [
    "RLENV_API", "ActionError", "Budgets", "Call", "Child", "Config", "ContextExceeded", "Database",
    "Divergence", "End", "EndpointError", "Episode", "EpisodeError", "Files", "FinalState",
    "Harness", "Observe", "Policy", "Reply", "Rollout", "Sample", "Step", "Stop", "Tool",
    "ToolContext", "ToolError", "Turn", "World", "areplay", "arollout", "arollouts", "call",
    "calls", "endpoint", "replay", "rlenv_examples", "rlenv_stages", "rollout", "rollouts",
    "subagent", "token_endpoint", "tool",
]  # fmt: skip

RLENV_API = 1


@hookimpl
def rlenv_parts() -> Mapping[str, Mapping[str, object]]:
    """Return the probe with which rlenv-auditor plays episodes."""
    return {"probe": {"policies": "rlenv_plugin_agent.policies.earning:probes"}}


@hookimpl
def rlenv_stages() -> Mapping[str, str]:
    """Return the stages, as targets that are imported when they are used."""
    return {
        "state": "rlenv_plugin_agent.stages.state:State",
        "turns": "rlenv_plugin_agent.stages.turns:Turns",
    }


@hookimpl
def rlenv_examples() -> Mapping[str, object]:
    """Return responses that are surely right and surely wrong."""
    from .stages.examples import examples

    return examples()
