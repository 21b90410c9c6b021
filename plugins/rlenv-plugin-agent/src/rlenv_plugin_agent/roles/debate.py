"""Roles that debate a task, and are judged side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from rlenv import Environment, Task

from rlenv_plugin_agent.rollouts import Policy

from .speaker import Part, Speaker


async def debate(
    env: Environment, task: Task, debaters: Mapping[str, Policy], rounds: int = 2
) -> dict[str, Part]:
    """Let roles debate a task, in turns and in the order of the mapping.

    Each has messages of its own: what the others said is its user.  At the end each role's messages
    are judged as one
    trajectory, side by side where stages compare responses, as ``judge/pairwise`` does.

    Args:
        env: judges the roles; its harness takes no part.
        task: what they debate.
        debaters: a policy for each role, without tools.
        rounds: messages of each role, 1 or more.

    Raises:
        Exception: whatever a policy raises.
    """
    speakers = {role: Speaker(policy, task.messages) for role, policy in debaters.items()}
    heard: dict[str, list[str]] = {role: [] for role in debaters}
    for role in [*debaters] * rounds:
        said = await speakers[role].speak("\n\n".join(heard[role]))
        heard[role] = []
        for other in heard.keys() - {role}:
            heard[other].append(f"{role} says:\n{said}")
    parts = {role: speaker.trajectory for role, speaker in speakers.items()}
    if env.group_only:
        verdicts = await asyncio.to_thread(env.evaluate_group, task, [*parts.values()])
    else:
        verdicts = [await env.aevaluate(task, part) for part in parts.values()]
    pairs = zip(parts.items(), verdicts, strict=True)
    return {role: Part(role, part, verdict.value, verdict) for (role, part), verdict in pairs}
