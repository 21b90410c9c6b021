"""A critic of a solver, paid with what its comment changes."""

from __future__ import annotations

from collections.abc import Sequence

from rlenv import Environment, Task, Trajectory
from rlenv.text import visible

from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.messages.read_only import ReadOnlyList, read_only_message
from rlenv_plugin_agent.rollouts import Policy, Rollout, arollout
from rlenv_plugin_agent.tools.subagent import begin_policy

from .speaker import Part, Speaker

ASKED = """\
Another model was given the task below. Point out what is wrong with its answer and how \
to correct it.

Task:
{task}

Answer:
{answer}"""
AGAIN = "Solve the task again."
TOLD = "A reviewer says of your answer:\n\n{comment}\n\n" + AGAIN


async def criticize(
    env: Environment, task: Task, solver: Policy, critic: Policy, seed: int = 0
) -> tuple[Part, Part, Part, Part]:
    """Play an episode, and again with and without the comment of a critic on the answer.

    The critic is paid with the reward of the attempt with its comment less that of the control, in
    which the solver is only told to try again.  So it is not paid for what a second attempt gains
    by chance, nor for a first one that was bad on purpose.  The solver's parts are its attempts,
    each paid with the reward of its own verdict.  The critic sees the task and the final answer,
    neither the verdict nor what tools said.

    Args:
        env: judges each attempt; each begins with the state of the task.
        task: of the environment.
        solver: as for ``rollout``; in later attempts it also sees its answer, and the comment or
            the request.
        critic: as for ``rollout``; it has no tools.
        seed: of each attempt.

    Returns:
        The first attempt, the comment, the attempt with it, and the control.

    Raises:
        Exception: whatever a policy raises.
    """
    before = await arollout(env, task, solver, seed)
    answer = visible(before.trajectory.final, env.thinking)
    asked = ASKED.format(task=task.prompt, answer=answer)
    speaker = Speaker(critic, [{"role": "user", "content": asked}])
    comment = TOLD.format(comment=await speaker.speak())

    async def attempt(text: str) -> Part:
        told = [{"role": "assistant", "content": answer}, {"role": "user", "content": text}]
        shown = [*map(read_only_message, told)]
        acts = begin_policy(solver)

        def act(messages: list[Message], tools: list[Message]) -> object:
            return acts(ReadOnlyList(_behind(messages, shown)), tools)

        made = await arollout(env, task, act, seed)
        return _attempt(made, told)

    after = await attempt(comment)
    control = await attempt(AGAIN)
    gained = after.reward
    known = control.reward
    change = None if gained is None or known is None else gained - known
    return _attempt(before, []), Part("critic", speaker.trajectory, change), after, control


def _attempt(rollout: Rollout, told: Sequence[Message]) -> Part:
    given = rollout.trajectory
    seen = Trajectory(_behind(given.messages, told), given.tokens, given.artifacts)
    return Part("solver", seen, rollout.verdict.value, rollout.verdict)


def _behind(messages: Sequence[Message], told: Sequence[Message]) -> list[Message]:
    """Return the messages with what was told behind those that the task gave."""
    said = (i for i, each in enumerate(messages) if each.get("role") == "assistant")
    head = next(said, len(messages))
    return [*messages[:head], *told, *messages[head:]]
