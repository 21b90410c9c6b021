"""``Episode``: observe, act, observe, verify."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING

from rlenv import ConfigError, Environment, Fault, Task, Trajectory, Verdict, VerifierFault
from rlenv.steps import Steps, await_steps, wait

from rlenv_plugin_agent.contexts import Count, Record, Views, counter, guard_count
from rlenv_plugin_agent.errors import EpisodeError, UnreachableTask, fault_of
from rlenv_plugin_agent.messages import (
    Action,
    Message,
    Reply,
    action_for_user,
    assistant,
    calls_of,
    copies,
    count_tokens,
    opening_messages,
    text_of,
    user_said,
)
from rlenv_plugin_agent.messages.actions import action_of
from rlenv_plugin_agent.messages.read_only import (
    ReadOnlyList,
    read_only_message,
    read_only_messages,
)
from rlenv_plugin_agent.state.open_state import open_state
from rlenv_plugin_agent.state.world import World
from rlenv_plugin_agent.tools.catalog.resources import Resources
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.observations import Call, Observe
from rlenv_plugin_agent.tools.subagent import Actor
from rlenv_plugin_agent.tools.tool import Tool, ToolSource, open_tools
from rlenv_plugin_agent.waiting import result_of, run

from .answers import GO_ON, EpisodeAnswers, Info
from .config import Config
from .gold import check_present, check_recorded
from .harness import Harness
from .ledger import Ledger
from .steps import TERMINATED, TRUNCATED, Evaluate, Step, Stop, Turn, verdict_of_fault
from .user import End

if TYPE_CHECKING:
    from rlenv_plugin_agent.state.open_state import OpenState, StateFactory


class Episode(
    EpisodeAnswers, AbstractContextManager["Episode"], AbstractAsyncContextManager["Episode"]
):
    """Plays one task at a time, turn after turn, judged at the end by the stages of the
    environment.

    ``messages`` is the whole conversation and ``view`` what of it the policy is given, both of
    read-only messages; ``trace`` has a Turn for each message of the policy, and at the end
    ``stop``, ``verdict`` and ``trajectory`` are set.  Methods that begin with ``a`` are for callers
    with an event loop; use one sort for an episode.

    Args:
        env: with a table ``harness``; without one an episode is one message.
        wrap: makes the function that answers calls of tools from the plain one, as replay and noise
            do.
        count: how many tokens messages have, for budgets; by default ``[config] count``, or an
            estimate.
        training_step: of the policy, from 0, for ``[config.schedule] steps``.

    Raises:
        ConfigError: for a kind that needs a table which the environment lacks, an unknown context
            manager, or a stage that can only judge a group.
        Exception: whatever the file of a tool raises.
    """

    def __init__(
        self,
        env: Environment,
        *,
        wrap: Callable[[Observe], Observe] | None = None,
        count: Count | None = None,
        training_step: int = 0,
    ) -> None:
        harness = env.tables.get("harness")
        config = env.tables.get("config")
        self.env = env
        self.harness = harness if isinstance(harness, Harness) else Harness()
        self.config = (config if isinstance(config, Config) else Config()).at(training_step)
        self._set_tools(self.harness.named)
        self.start = ""  # the digest of the state that the episode began with, "" without [state]
        self.seed = 0
        self.ledger = Ledger(self.config.budgets, self.harness.turn_limit)
        self.messages: list[Message] = []
        self.view: ReadOnlyList[Message] = ReadOnlyList()
        self.task: Task | None = None
        self.verdict: Verdict | None = None
        self.trajectory: Trajectory | None = None
        self.stop: Stop | None = None
        self._holder: StateFactory | None = env.tables.get("state")  # type: ignore[assignment] # claimed by its name
        self._held: OpenState | None = None
        self._user: Callable[..., object] | None = None
        self._context = ToolContext()
        self._sources = any(isinstance(each, (Tool, ToolSource)) for each in env.tables.values())
        self._opened: AsyncExitStack | None = None
        inner = self.config.wrap_calls(self._plain, lambda: self.named)
        self._observe = inner if wrap is None else wrap(inner)
        own = count or (counter(self.config.length) if self.config.length else None)
        self._count = guard_count(own) if own else count_tokens
        self._manage = Views(self.harness.context, own)
        self._is_plain = self._observe == self._plain
        if env.group_only:
            raise ConfigError(
                f"{', '.join(env.group_only)}: compares responses side by side; play episodes with"
                " other stages, and give their trajectories to evaluate_group"
            )
        holds = self._holder is not None or self.harness.sandbox
        if self.harness.kind == "stateful-tool-use" and not holds:
            raise ConfigError(
                'kind "stateful-tool-use" needs a table [state], or sandbox; else it is "tool-use"'
            )

    def _turn(self, action: Action, evaluate: Evaluate) -> Steps[Step]:
        """The policy acts, tools or the user answer, and at the end the stages judge."""
        reply = self._reply_of(action)
        message = self._act(reply)
        answers = list[Message]()
        calls = tuple[Call, ...]()
        info = dict[str, object]()
        try:
            if asked := calls_of(message) if self.harness.kind != "single-turn" else []:
                answers, calls = yield from self._call_tools(asked)
            elif self._user is not None:
                answers, info = yield from self._ask(action_for_user(reply, message))
            elif self.harness.kind == "agentic":
                answers = [{"role": "user", "content": GO_ON}]
            else:
                self.stop = "done"
        except VerifierFault as error:
            return (yield from self._fail(error.fault))
        self._take_in(answers, calls)
        if self.stop is None:
            return Step(answers, 0.0, terminated=False, truncated=False, info=info)
        return (yield from self._verify(evaluate, answers, info))

    def _reply_of(self, action: Action) -> Reply:
        """Return what the policy returned, before anything has changed."""
        if self.task is None or self.stop:
            raise RuntimeError("no episode runs: call reset")
        return action_of(action, is_game=self._user is not None)

    def _act(self, reply: Reply) -> Message:
        """Record the message that the policy has written."""
        turn = self._context.turn = len(self.trace)
        self.ledger.record_action(reply.tokens)
        message = read_only_message(assistant(reply.message, turn))
        self.messages.append(message)
        return message

    def _take_in(self, answers: Sequence[Message], calls: tuple[Call, ...]) -> None:
        """Take in the answers, and stop at a limit."""
        marks = tuple(self._context.marks)
        self._context.marks = []
        self.ledger.record_turn(self._count(self.messages[-1:]), calls, marks)
        self.messages += map(read_only_message, answers)
        self.stop = self.stop or self.ledger.limit or self._update_view()

    def _update_view(self) -> Stop | None:
        """Make the view; ``context`` where it does not fit."""
        budget = self.config.budget_at(len(self.trace))
        shown = self.messages if budget is None else self._manage(self.messages, budget)
        same = shown is self.messages
        self.view = ReadOnlyList(shown) if same else read_only_messages(shown)
        return "context" if budget is not None and not self.view else None

    def _verify(self, evaluate: Evaluate, answers: list[Message], info: Info) -> Steps[Step]:
        """The stages judge the conversation, and the final state where they take it."""
        assert self.task is not None
        yield from self._close_tools()
        try:
            held = () if self._held is None else (yield from wait(self._held.artifacts()))
        except Exception as error:  # noqa: BLE001 - whatever a state raises is no act of the policy
            return (yield from self._fail(fault_of(error)))
        self._context.parts.pop(Record, None)  # it is for `unfold`; stages have the trajectory
        try:
            given = {type(each): each for each in (*self._context.parts.values(), *held)}
            messages = copies(self.messages)
            self.trajectory = Trajectory(messages, self.ledger.tokens, tuple(given.values()))
            self.verdict = yield from result_of(evaluate(self.task, self.trajectory))
        finally:
            yield from self._release()
        return self._end(self.verdict, answers, info)

    def _end(self, verdict: Verdict, answers: list[Message], info: dict[str, object]) -> Step:
        if verdict.value is None:
            self.stop = "error"
        elif self.stop == "done" and verdict.value >= self.env.pass_mark:
            self.stop = "passed"
        info |= {"verdict": verdict, "stop": self.stop}
        return Step(answers, verdict.value, self.stop in TERMINATED, self.stop in TRUNCATED, info)

    def _fail(self, fault: Fault) -> Steps[Step]:
        """End the episode unscored, since the environment failed."""
        self.trajectory = Trajectory(copies(self.messages), self.ledger.tokens)
        self.verdict = verdict_of_fault(self.env, fault)
        yield from self._release()
        return self._end(self.verdict, [], {})

    def _begin(self, task: Task | str, seed: int) -> Steps[tuple[list[Message], Info]]:
        yield from self._release()
        self.task = found = task if isinstance(task, Task) else self.env.tasks.by_prompt(task)
        self.seed = seed
        self.stop = None
        self.verdict = None
        self.trajectory = None
        given = opening_messages(found.messages, self.harness.system_prompt)
        self.messages = [*map(read_only_message, given)]
        self.view = ReadOnlyList(self.messages)
        self.ledger = Ledger(self.config.budgets, self.harness.turn_limit)
        self._context = ToolContext(found.public(), seed=seed)
        info: dict[str, object] = {"id": found.id}
        try:
            play = partial(type(self).play, self.env)
            if "gold" in found.info:
                yield from wait(check_recorded(play, self.env, found))
            if self._holder is not None or self.harness.sandbox:
                check = partial(check_present, play, self.env, found, seed=seed)
                held = yield from wait(
                    open_state(self.harness.sandbox, self._holder, found, seed, check)
                )
                self._held = held
                self._context.parts = {**(held.parts if held else {})}
            self.start = getattr(self._context.parts.get(World), "start", "")
            if isinstance(resources := self.env.tables.get("resources"), Resources):
                self._context.parts |= resources.parts()
            if self._sources:
                self._opened = AsyncExitStack()
                opened = open_tools(self.env.tables, self.harness.named, self._opened)
                self._set_tools({**self.harness.named, **(yield from wait(opened))})
            info |= yield from self._open(found)
            self._manage.begin(len(self.messages), self.tools)
            self._context.parts[Record] = Record(self.messages, len(self.messages))
            # Its time begins here: others may have held the world for long.
            self.ledger = Ledger(self.config.budgets, self.harness.turn_limit)
        except Exception as error:
            self.task = None
            yield from self._release()
            fault = fault_of(error)
            told = f"the episode cannot begin: {fault.message}"
            made = UnreachableTask if isinstance(error, UnreachableTask) else EpisodeError
            raise made(told, kind=fault.kind, transient=fault.transient) from error
        self._update_view()
        return copies(self.view), info

    def _open(self, task: Task) -> Steps[Info]:
        """Ask the user for the first turn, if there is a user."""
        if (answering := self.harness.answering) is None:
            return {}
        self._user = partial(
            answering.implementation, **answering.arguments_for(task, self._context)
        )
        found = yield from result_of(self._user(action=None))
        if isinstance(found, End):
            raise TypeError("the user ended the episode before the policy acted")
        if found is not None:
            self.messages = [*map(read_only_message, user_said(self.messages, text_of(found)))]
        return {"observation": found}

    def _release(self) -> Steps[None]:
        """Give back what the episode holds."""
        yield from self._close_tools()
        held = self._held
        self._held = None
        self._user = None
        self._context.parts.clear()
        if held is not None:
            with suppress(Exception):  # the verdict stands
                yield from wait(held.close())

    def _close_tools(self) -> Steps[None]:
        """Close what tools have open: while the stages judge, nothing of the policy runs."""
        self._context.parts.pop(Actor, None)
        opened = self._opened
        self._opened = None
        if opened is not None:
            with suppress(Exception):
                yield from wait(opened.aclose())

    def attend(self, actor: Actor) -> None:
        """Give the policy to tools that start subagents, until the episode ends.

        Args:
            actor: has what they did when the episode has ended.
        """
        actor.wrap = self.config.wrap_calls
        actor.tools = lambda: self.named
        self._context.parts[Actor] = actor

    def _truncate(self, stop: Stop, evaluate: Evaluate) -> Steps[Step]:
        if self.task is None or self.stop:
            raise RuntimeError("no episode runs: call reset")
        self.stop = stop
        return (yield from self._verify(evaluate, [], {}))

    @property
    def trace(self) -> list[Turn]:
        """Return a Turn for each message of the policy."""
        return self.ledger.trace

    @classmethod
    async def play(
        cls, env: Environment, task: Task, actions: Iterator[Action], seed: int = 0
    ) -> Verdict:
        """Play an episode with these actions, and return its verdict.

        Args:
            env: plays and judges.
            task: what the episode is about.
            actions: do not end before the episode.
            seed: as for ``reset``.
        """
        async with cls(env) as episode:
            await episode.areset(task, seed)
            while episode.verdict is None:
                await episode.astep(next(actions))
            return episode.verdict

    def reset(self, task: Task | str, seed: int = 0) -> tuple[list[Message], Info]:
        """Begin an episode, whatever became of the last one.

        Args:
            task: a Task, or the prompt of one of the environment's own.
            seed: of all that is drawn: equal seeds and actions give equal episodes.

        Returns:
            What the policy is given, and ``id`` of the task; with a user also ``observation``, the
            user's opening.

        Raises:
            UnknownTask: when no task has this prompt.
            EpisodeError: when the state cannot be made, or the user raises; UnreachableTask for an
                impossible task.
        """
        return run(self._begin(task, seed))

    async def areset(self, task: Task | str, seed: int = 0) -> tuple[list[Message], Info]:
        """Do what ``reset`` does, with an event loop.

        Args:
            task: as for ``reset``.
            seed: as for ``reset``.
        """
        return await await_steps(self._begin(task, seed))

    def step(self, action: Action) -> Step:
        """Let the policy act: it is answered, or the episode ends and is judged.

        Args:
            action: a text, a message, a ``Reply``, or for games a value.  Whatever it holds, this
                does not raise for it.

        Raises:
            ActionError: for None, and for any other object.
            RuntimeError: when no episode runs; call ``reset``.
        """
        return run(self._turn(action, self.env.evaluate))

    async def astep(self, action: Action) -> Step:
        """Do what ``step`` does, with an event loop."""
        return await await_steps(self._turn(action, self.env.aevaluate))

    def truncate(self, stop: Stop = "timeout") -> Step:
        """End the episode at a limit of the caller's, and judge it as it is.

        Args:
            stop: the reason.
        """
        return run(self._truncate(stop, self.env.evaluate))

    async def atruncate(self, stop: Stop = "timeout") -> Step:
        """Do what ``truncate`` does, with an event loop."""
        return await await_steps(self._truncate(stop, self.env.aevaluate))

    def close(self) -> None:
        """Give back what an episode that has not ended holds.  May be called twice."""
        run(self._release())

    async def aclose(self) -> None:
        """Do what ``close`` does, with an event loop."""
        await await_steps(self._release())

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()
