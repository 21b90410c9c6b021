"""``subagent``: a tool with which a policy hands work to one with messages of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from itertools import zip_longest
from typing import TypeAlias

from attrs import define, evolve, field, frozen
from rlenv import ConfigError, Tokens, Trajectory
from rlenv.authoring import Safe, suggest

from rlenv_plugin_agent.clients.errors import ContextExceeded
from rlenv_plugin_agent.errors import EpisodeError, ToolError
from rlenv_plugin_agent.messages import Message, Reply, assistant, calls_of, copies, count_tokens
from rlenv_plugin_agent.messages.actions import ActionError, action_of
from rlenv_plugin_agent.messages.read_only import ReadOnlyList, read_only_message

from .calling import observe
from .catalog import find
from .context import ToolContext
from .observations import CALLS, Observe, ToolCallRequest, answer_calls
from .tool import Tool, as_tool, tool, tools_by_name

# What a policy is, as in ``rollouts``; its result may have to be awaited.
Acts: TypeAlias = Callable[[list[Message], list[Message]], object]


Tools: TypeAlias = Mapping[str, Tool]
Named: TypeAlias = Callable[[], Tools]


def begin_policy(policy: Acts) -> Acts:
    """Return what plays one conversation: what the policy's ``begin()`` returns where it has one,
    so that it may remember.
    """
    begin = getattr(policy, "begin", None)
    return begin() if callable(begin) else policy


async def ask_policy(policy: Acts, messages: list[Message], tools: list[Message]) -> Reply:
    """Ask a policy what it does next, whichever of the forms of an action it gives.

    Args:
        policy: sync or async.
        messages: that it is given.
        tools: that it is offered.

    Raises:
        ActionError: it gives none.
    """
    acted = policy(messages, tools)
    return action_of(await acted if isawaitable(acted) else acted)


@frozen
class Child:
    """One subagent, and what it did.

    Args:
        messages: its own, from the work that it was given.
        tokens: its calls of the episode's policy, which are samples of their own; none for another
            policy.
        depth: 1 for a subagent of the policy itself.
        stop: ``done``, ``turn_limit``, ``budget``, ``context``, or ``cut`` where the time of the
            call was over.
    """

    messages: tuple[Message, ...]
    tokens: tuple[Tokens, ...]
    depth: int
    stop: str


@define
class Actor:
    """The policy of an episode, for its subagents; the episode's ``ToolContext`` holds it in
    ``parts``.

    Args:
        policy: acts for subagents that have no policy of their own.
        tokens: what its subagents may sample together; None where nothing but their own budgets
            bounds them.
        depth: how many subagents it is below the episode.
        children: what its subagents did, and theirs, in the order in which they ended.
        failed: what the policy raised inside a subagent; the episode raises it again.
        started: how often each tool started one.
        wrap: puts around the calls of subagents what the episode puts around those of its policy.
        tools: gives the tools of the episode by name.
    """

    policy: Acts
    tokens: int | None = None
    depth: int = 0
    children: list[Child] = field(factory=list)
    failed: Exception | None = None
    started: dict[str, int] = field(factory=dict)
    wrap: Callable[[Observe, Named], Observe] | None = None
    tools: Named = dict

    def child(
        self, name: str, policy: Acts | None, tokens: int, *, starts: int, depth: int
    ) -> Actor:
        """Make the actor of a further subagent of a tool.

        Args:
            name: of the tool.
            policy: plays the subagent; None for that of the episode.
            tokens: that the subagent may sample, its own subagents included.
            starts: subagents that this tool may start in one episode.
            depth: how deep subagents may start subagents.

        Raises:
            ToolError: none may start.
        """
        if self.depth >= depth:
            raise ToolError(f"subagents are at most {depth} deep")
        self.started[name] = self.started.get(name, 0) + 1
        if self.started[name] > starts:
            raise ToolError(f"it was called {starts} times, which is all that it may be")
        given = self.share(tokens)
        return evolve(
            self, policy=policy or self.policy, tokens=given, depth=self.depth + 1, failed=None
        )

    def share(self, tokens: int) -> int:
        """Take tokens out of its budget: so many, or what is left."""
        given = tokens if self.tokens is None else max(0, min(tokens, self.tokens))
        self.give_back(-given)
        return given

    def give_back(self, tokens: int) -> None:
        """Put back what was not used of a share."""
        if self.tokens is not None:
            self.tokens += tokens


@define
class Playback:
    """A policy that writes again what the subagents of a rollout wrote, each of them once.

    Args:
        children: of the rollout.
    """

    children: list[Child]

    def begin(self) -> Acts:
        """Return the policy of one subagent: of the first that was given the same work and has not
        been played.
        """
        replies: Iterator[Reply] | None = None

        def act(messages: list[Message], _: list[Message]) -> Reply:
            nonlocal replies
            if replies is None:
                replies = iter(self._replies(messages))
            return next(replies, Reply(""))

        return act

    def __call__(self, messages: list[Message], tools: list[Message]) -> object:
        """Return the first message of one subagent."""
        return self.begin()(messages, tools)

    def _replies(self, messages: list[Message]) -> list[Reply]:
        same = [
            n
            for n, each in enumerate(self.children)
            if [*each.messages[: len(messages)]] == messages
        ]
        if not same:
            return []
        child = self.children.pop(same[0])
        said = [each for each in child.messages if each["role"] == "assistant"]
        return [Reply(*pair) for pair in zip_longest(said, child.tokens)]


def subagent(
    policy: Acts | None = None,
    *,
    name: Safe[str] = "task",
    tools: Safe[Sequence[Callable[..., object] | str]] = (),
    inherit: Safe[Sequence[str]] = (),
    turns: int = 10,
    tokens: int = 16_384,
    starts: int = 8,
    depth: int = 1,
    system_prompt: Safe[str] = "",
    timeout: float = 600.0,
) -> Tool:
    """Make a tool that hands work to a subagent, and returns the text of its last message.

    Its messages are its own; it has the rights of whoever calls it, and not its limits.  The
    table ``[subagent]`` of an env.toml has the same keys.

    Example:
        search = subagent(tools=[web_search, visit], turns=6, tokens=4_000)

    Args:
        policy: who acts; the episode's policy when None, and then its calls are samples of their
            own.
        name: what the policy calls the tool.
        tools: functions that the subagent may call, or names of the catalog.
        inherit: names of tools of the episode that it may call besides, as ``skill`` and those of
            MCP servers.
        turns: messages that it may write, 1 or more.
        tokens: that it may sample; where a policy reports no ids, four characters count as one.
        starts: subagents of this tool in one episode, 1 or more.
        depth: how many levels of subagents there may be; 1: a subagent starts no other.
        system_prompt: its first message.
        timeout: wall seconds of the whole.

    Raises:
        ConfigError: a limit is out of its range, or a tool cannot be one.
    """
    _check(name, turns=turns, tokens=tokens, starts=starts, depth=depth)
    given = [as_tool(find(each) if isinstance(each, str) else each) for each in tools]

    async def run(prompt: str, context: ToolContext) -> str:
        """Hand a piece of work to an assistant that sees nothing but what you write here.

        Args:
            prompt: all that it needs to know.
        """
        above = context.get(Actor)
        actor = above.child(name, policy, tokens, starts=starts, depth=depth)
        within = evolve(context, turn=0, parts={**context.parts, Actor: actor}, marks=[])
        with _as_fault_of(name):
            known = [*given, *(_inherited_tool(above.tools(), each) for each in inherit)]
            inner = _Inner(actor, within, tools_by_name(known), is_own=policy is None)
        try:
            return await inner.run(system_prompt, prompt, turns)
        finally:
            above.give_back(actor.tokens or 0)
            above.failed = above.failed or actor.failed

    return tool(name=name, timeout=timeout, category="episode")(run)


def _check(name: str, **limits: int) -> None:
    for limit, value in limits.items():
        if type(value) is not int or value < 1:
            raise ConfigError(f"subagent {name}: {limit} is an integer ≥ 1, not {value!r}")


@contextmanager
def _as_fault_of(name: str) -> Iterator[None]:
    """Raise what is wrong with the tools of a subagent as a fault of the environment."""
    try:
        yield
    except ConfigError as error:
        raise EpisodeError(f"subagent {name}: {error}") from error


def _inherited_tool(tools: Tools, name: str) -> Tool:
    """Return a tool that the episode has.

    Raises:
        ConfigError: no tool has this name.
    """
    if name not in tools:
        raise ConfigError(f'inherit names "{name}"; {suggest(name, tools, what="the episode has")}')
    return tools[name]


class _Inner:
    """One subagent that is at work."""

    def __init__(self, actor: Actor, context: ToolContext, tools: Tools, *, is_own: bool) -> None:
        self.actor = actor
        self.context = context
        self.is_own = is_own
        plain: Observe = partial(observe, tools)
        self.observe = actor.wrap(plain, lambda: tools) if actor.wrap else plain
        self.policy = begin_policy(actor.policy)
        self.offered: list[Message] = copies([each.offered for each in tools.values()])
        self.messages: list[Message] = []
        self.tokens: list[Tokens] = []

    async def run(self, system_prompt: str, prompt: str, turns: int) -> str:
        """Let it work, and return the text of its last message.

        Args:
            system_prompt: of the subagent.
            prompt: the work, as the policy wrote it.
            turns: messages that it may write at most.
        """
        system: list[Message] = [{"role": "system", "content": system_prompt}]
        given = [*(system if system_prompt else ()), {"role": "user", "content": prompt}]
        self.messages = [*map(read_only_message, given)]
        stop = "cut"
        try:
            stop = await self._turns(turns)
        finally:
            child = Child(tuple(copies(self.messages)), tuple(self.tokens), self.actor.depth, stop)
            self.actor.children.append(child)
        if found := Trajectory(self.messages).final:
            return found
        raise ToolError(f"it ended without an answer: {stop}")

    async def _turns(self, turns: int) -> str:
        for turn in range(turns):
            if not self.actor.tokens:
                return "budget"
            self.context.turn = turn
            try:
                message = await self._act(turn)
            except ContextExceeded:
                return "context"
            if not (asked := calls_of(message)):
                return "done"
            if turn + 1 < turns:
                answers, _ = await answer_calls(asked, self._observe, CALLS, together=False)
                self.messages += map(read_only_message, answers)
        return "turn_limit"

    async def _act(self, turn: int) -> Message:
        """Return the next message of the policy, which it pays for."""
        try:
            reply = await ask_policy(self.policy, ReadOnlyList(self.messages), self.offered)
        except ContextExceeded:
            raise
        except Exception as error:
            self.actor.failed = error if self.is_own or isinstance(error, ActionError) else None
            raise
        message = read_only_message(assistant(reply.message, turn))
        used = len(reply.tokens.ids) if reply.tokens else count_tokens([message])
        self.actor.tokens = max(0, (self.actor.tokens or 0) - used)
        self.messages.append(message)
        self.tokens += [reply.tokens] if reply.tokens and self.is_own else []
        return message

    async def _observe(self, asked: ToolCallRequest) -> str:
        return await self.observe(asked["name"], asked["arguments"], self.context)
