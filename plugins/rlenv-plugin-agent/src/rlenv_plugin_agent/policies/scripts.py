"""Conversations as scripts: what the assistant wrote is played in a fresh episode; for
rlenv-auditor.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import copy_context

from rlenv import Environment, Task, Trajectory, Verdict
from rlenv.authoring import Problems, build

from rlenv_plugin_agent.messages import Action, Message
from rlenv_plugin_agent.rollouts import Rollout, rollout
from rlenv_plugin_agent.stages.state import Gold
from rlenv_plugin_agent.state.final import FinalState
from rlenv_plugin_agent.state.open_state import APART

__all__ = ["gold_conversation", "play"]


def play(env: Environment, task: Task, response: str | Trajectory) -> tuple[Verdict, str]:
    """Play what an assistant wrote, turn by turn, in an episode that leaves nothing in a persistent
    world.

    Args:
        env: with a table ``harness``.
        task: of the environment.
        response: a text, which is the only turn, or a conversation, of which the messages of the
            assistant are played. Its other messages are left out: tools and users answer anew.

    Returns:
        (verdict, hash of the final state). The hash is "" where the environment has no state.
    """
    messages = ({"content": response},) if isinstance(response, str) else response.messages
    turns = [
        each for each in messages if isinstance(response, str) or each.get("role") == "assistant"
    ]
    made = copy_context().run(_play_script, env, task, [_turn(each) for each in turns])
    artifacts = made.trajectory.artifacts
    final = next((one for one in artifacts if isinstance(one, FinalState)), None)
    return made.verdict, "" if final is None else final.hash


def _play_script(env: Environment, task: Task, turns: Sequence[Action]) -> Rollout:
    APART.set("")
    left = iter(turns)
    return rollout(env, task, lambda messages, tools: next(left, ""))  # noqa: ARG005 - of a policy


def _turn(message: Message) -> Action:
    """Return a message as a policy would."""
    if not message.get("tool_calls"):
        return message.get("content")
    return {"role": "assistant", **message}


def gold_conversation(env: Environment, task: Task) -> list[Message]:
    """Return the recorded solution of a task as a conversation: its gold calls, one a turn, and the
    reply.

    What tools answer is left empty: it is played anew. Returns [] where the task records no calls.

    Args:
        env: whose harness says how an episode ends.
        task: with ``info.gold``.
    """
    problems = Problems()
    gold = build(Gold, task.info.get("gold"), "info.gold", problems)
    if problems.found or not isinstance(gold, Gold):
        return []
    messages: list[Message] = [dict(message) for message in task.messages]
    for number, one in enumerate(gold.calls):
        messages += _call(f"call_{number}", one.name, one.arguments)
    ending: Message = {"role": "assistant", "content": gold.reply}
    if getattr(env.tables.get("harness"), "kind", "") == "agentic":
        ending = {**_call("call_end", "done", {})[0], "content": gold.reply}
    return [*messages, ending]


def _call(number: str, name: str, arguments: Mapping[str, object]) -> list[Message]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    asked = {"id": number, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": number, "name": name, "content": ""},
    ]
