"""A user who is a model."""

from __future__ import annotations

from rlenv.text import visible

from rlenv_plugin_agent.episodes.user import End
from rlenv_plugin_agent.errors import EpisodeError
from rlenv_plugin_agent.rollouts import Policy
from rlenv_plugin_agent.tools.context import ToolContext

from .speaker import Speaker

OVER = "<end>"  # what a simulated user writes when the conversation is over
RULES = """\
{instructions}

You are the user in this conversation, and the other side is an assistant. Write what the user \
says next, and nothing
else. When the user has what they want, or gives up, write {over}."""


async def simulate_user(
    policy: Policy, instructions: str, action: object, context: ToolContext
) -> str | End:
    """Return what a user says who is a model.  It knows its instructions and what the policy wrote
    visibly.

    The episode ends when it writes ``<end>``.  Its messages and tokens are those of the ``Speaker``
    that the episode holds, and at the end is among the artifacts of the trajectory.

    Example:
        async def user(action, task, context):
            return await simulate_user(ask_model, task.info["wish"], action, context)

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
