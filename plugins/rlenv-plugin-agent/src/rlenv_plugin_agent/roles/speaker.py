"""A policy that talks to others, and what it is paid."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from rlenv import Tokens, Trajectory, Verdict
from rlenv.text import visible

from rlenv_plugin_agent.episodes.ledger import known_tokens
from rlenv_plugin_agent.messages import Message, assistant, copies, user_said
from rlenv_plugin_agent.messages.read_only import ReadOnlyList, read_only_message
from rlenv_plugin_agent.rollouts import Policy
from rlenv_plugin_agent.tools.subagent import ask_policy, begin_policy


@frozen
class Part:
    """The conversation that one role had, and what it is paid.

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
        self._policy = begin_policy(policy)
        self.messages: list[Message] = [*map(read_only_message, messages)]
        self._told: list[Tokens | None] = []

    async def speak(self, heard: str = "") -> str:
        """Let the policy speak, and return the visible text.

        Args:
            heard: what the others said since, "" for nothing.

        Raises:
            Exception: whatever the policy raises.
        """
        if heard:
            self.messages = [*map(read_only_message, user_said(self.messages, heard))]
        reply = await ask_policy(self._policy, ReadOnlyList(self.messages), [])
        said = assistant(reply.message, len(self._told))
        said.pop("tool_calls", None)
        self.messages.append(read_only_message(said))
        self._told.append(reply.tokens)
        return visible(Trajectory((said,)).final)

    @property
    def trajectory(self) -> Trajectory:
        return Trajectory(copies(self.messages), known_tokens(self._told))
