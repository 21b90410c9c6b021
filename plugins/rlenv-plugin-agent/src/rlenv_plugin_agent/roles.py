"""Several roles in one task, each with messages, tokens and a reward of its own: critics, debaters,
simulated users.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from attrs import frozen
from rlenv import Environment, Task, Tokens, Trajectory, Verdict
from rlenv.text import visible

from .ledger import known
from .messages import Message, assistant, copies, user_said
from .read_only import ReadOnlyList, read_only_message
from .rollouts import Policy, Rollout, arollout
from .tools.context import ToolContext
from .tools.errors import EpisodeError
from .tools.subagent import begun, replied
from .user import End

ASKED = """\
Another model was given the task below. Point out what is wrong with its answer and how \
to correct it.

Task:
{task}

Answer:
{answer}"""
AGAIN = "Solve the task again."
TOLD = "A reviewer says of your answer:\n\n{comment}\n\n" + AGAIN
OVER = "<end>"  # what a simulated user writes when the conversation is over
RULES = """\
{instructions}

You are the user in this conversation, and the other side is an assistant. Write what the user \
says next, and nothing
else. When the user has what they want, or gives up, write {over}."""


@frozen
class Part:
    """What one role did, and what it is paid.

    Args:
        role: as ``solver`` or ``critic``.
        trajectory: the messages as this role has seen them; its own are those of the assistant.
        reward: None where a verdict that it depends on has no value.  A change of an outcome is in
            [-1, 1], any other reward in [0, 1].
        verdict: of this part, where it was judged itself.
    """

    role: str
    trajectory: Trajectory
    reward: float | None
    verdict: Verdict | None = None


class Speaker:
    """A policy that talks to others.  It hears them as its user, without their hidden reasoning,
    and has no tools.

    Args:
        policy: as for ``rollout``.
        messages: what it is given at first.
    """

    def __init__(self, policy: Policy, messages: Sequence[Message]) -> None:
        self._policy = begun(policy)
        self.messages: list[Message] = [*map(read_only_message, messages)]
        self._told: list[Tokens | None] = []

    async def speak(self, heard: str = "") -> str:
        """The visible text of what it says next.

        Args:
            heard: what the others said since, "" for nothing.

        Raises:
            Exception: whatever the policy raises.
        """
        if heard:
            self.messages = [*map(read_only_message, user_said(self.messages, heard))]
        reply = await replied(self._policy, ReadOnlyList(self.messages), [])
        said = assistant(reply.message, len(self._told))
        said.pop("tool_calls", None)
        self.messages.append(read_only_message(said))
        self._told.append(reply.tokens)
        return visible(Trajectory((said,)).final)

    @property
    def trajectory(self) -> Trajectory:
        return Trajectory(copies(self.messages), known(self._told))


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
        acts = begun(solver)

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
    """The messages with what was told behind those that the task gave."""
    said = (i for i, each in enumerate(messages) if each.get("role") == "assistant")
    head = next(said, len(messages))
    return [*messages[:head], *told, *messages[head:]]


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


async def simulated(
    policy: Policy, instructions: str, action: object, context: ToolContext
) -> str | End:
    """What a user says who is a model.  It knows its instructions and what the policy wrote
    visibly.

    The episode ends when it writes ``<end>``.  Its messages and tokens are those of the ``Speaker``
    that the episode holds, and at the end is among the artifacts of the trajectory.

    Example:
        async def user(action, task, context):
            return await simulated(ask_model, task.info["wish"], action, context)

    Args:
        policy: as for ``rollout``; it gets the rules as a message of the system.
        instructions: who the user is and what they want; the policy of the episode does not see
            them.
        action: as the harness gives it: None at first, then the text of the policy.
        context: of the episode.

    Raises:
        EpisodeError: where the policy raises; the episode is then unscored.
    """
    if action is None:
        rules = RULES.format(instructions=instructions, over=OVER)
        context.parts[Speaker] = Speaker(policy, [{"role": "system", "content": rules}])
    heard = "Hello." if action is None else visible(str(action)) or "(nothing)"
    try:
        said = await context.get(Speaker).speak(heard)
    except Exception as error:
        raise EpisodeError(f"the simulated user: {type(error).__name__}: {error}") from error
    return End(said.partition(OVER)[0].strip() or None) if OVER in said else said
