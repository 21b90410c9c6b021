"""``[harness]`` and ``[config]``: what an episode is made of besides tasks, state and verifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from attrs import Attribute, asdict, define, evolve, field, frozen
from attrs.validators import instance_of
from rlenv import ConfigError
from rlenv.authoring import File, Safe, Unsafe, suggest

from .answers import Observe
from .contexts.references import unfold
from .noise import Noise, Noisy
from .recorded import CHECKING
from .recording import Named, Recorded, check_pinned, shared_log
from .tools.catalog import NAMES, find
from .tools.tool import Coded, Tool, described, tool, tools_by_name
from .user import User

Kind: TypeAlias = Literal["single-turn", "multi-turn", "tool-use", "stateful-tool-use", "agentic"]
if TYPE_CHECKING:
    CatalogName: TypeAlias = str
else:
    CatalogName = Literal[NAMES]
SCHEDULED = ("context_budget", "noise.rate", "budgets.tokens", "budgets.calls", "budgets.seconds")
TALK = ("single-turn", "multi-turn")  # kinds without tools


def _between(low: float, high: float, kind: type = int) -> Callable[..., None]:
    """A validator: a number in [low, high], or None where that is the default."""

    def check(_: object, attribute: Attribute[object], value: object) -> None:
        if value is None and attribute.default is None:
            return
        fits = type(value) in ((int,) if kind is int else (int, float))
        if not fits or not low <= cast("float", value) <= high:
            what = "an integer" if kind is int else "a number"
            raise ConfigError(f"{attribute.name} is {what} in [{low:,}, {high:,}], not {value!r}")

    return check


@define(slots=False)
class Harness:
    """``[harness]``: how an episode goes.

    Args:
        kind: ``single-turn``: one message of the policy.  ``multi-turn``: the ``user`` answers each
            message, until it ends the episode.  ``tool-use``: until a message without calls.
            ``stateful-tool-use``: the same, and the tools share what ``[state]`` holds.
            ``agentic``: until the policy calls ``done`` or ``give_up``.
        tools: functions that the policy may call, as ``./file.py:name`` or ``package.module:name``,
            and tools of the catalog by name, as ``calculator`` or ``agent/calculator``.
        user: a function that answers a message without calls: a person, or a game.  It is called
            with ``action`` None at the start, for an opening that may be None, and with each
            message's text, or the value that a policy returned.  It may take ``task``, ``seed`` and
            ``context``, and returns a text, a value, or ``End(observation)``.  If it raises, the
            policy sees an error and the episode goes on.
        system_prompt: the first message; it takes the place of a task's own.
        context: a context manager, which shortens the history to ``[config] context_budget``:
            ``recency``, ``markov``, ``summary``, ``fold``, or a function.
        turn_limit: messages that the policy may write at most, in [1, 10000].
        sandbox: the sandbox of the episode's workspace, as ``sandbox/jail``: tools keep files and
            run programs there. It begins with the task's ``info["files"]``, texts by path.
    """

    kind: Kind = "single-turn"
    tools: Sequence[Callable[..., object] | CatalogName] = field(default=(), kw_only=True)
    user: Callable[..., object] | None = field(default=None, kw_only=True)
    system_prompt: Safe[str] = field(default="", validator=instance_of(str), kw_only=True)
    context: Callable[..., object] | str = field(
        default="", kw_only=True, metadata={"safe": ("recency", "markov", "summary", "fold")}
    )
    turn_limit: int = field(default=20, validator=_between(1, 10_000), kw_only=True)
    sandbox: str = field(
        default="", validator=instance_of(str), kw_only=True, metadata={"safe": ("sandbox/jail",)}
    )

    def __attrs_post_init__(self) -> None:
        kinds = get_args(Kind)
        if self.kind not in kinds:
            raise ConfigError(f"kind is one of {', '.join(kinds)}, not {self.kind!r}")
        if self.kind in TALK and self.tools:
            raise ConfigError(f'{self.kind} has no tools: kind = "tool-use", or leave them out')
        if self.kind == "single-turn" and self.user is not None:
            raise ConfigError('a single turn has no user: kind = "multi-turn", or leave it out')
        if self.kind == "multi-turn" and self.user is None:
            raise ConfigError("a multi-turn episode needs user, a function that answers the policy")
        self.user = None if self.user is None else User.of(self.user)
        self.context = self.context if isinstance(self.context, str) else Coded.of(self.context)
        own = [*ENDINGS] if self.kind == "agentic" else []
        own += [unfold] if self.context == "fold" else []
        found = [find(each) if isinstance(each, str) else each for each in self.tools]
        self.tools = tuple(map(described, [*found, *own]))
        tools_by_name(each for each in self.tools if isinstance(each, Tool))

    @property
    def answering(self) -> User | None:
        """The user."""
        return cast("User | None", self.user)

    @cached_property
    def named(self) -> dict[str, Tool]:
        """The tools by name; imports the files of those that are in files."""
        return tools_by_name(cast("tuple[Tool | Coded, ...]", self.tools))

    def show(self) -> str:
        """For ``rlenv show``."""
        many = f"{len(self.tools)} tool{'s' * (len(self.tools) != 1)}"
        parts = [f"H  {self.kind}, at most {self.turn_limit:,} turns, {many}"]
        context = getattr(self.context, "written", self.context)
        named = {"context": context, "sandbox": self.sandbox}
        parts += [f"{key} {value}" for key, value in named.items() if value]
        parts += [f"user {self.answering.written}"] if self.answering else []
        told = [
            each.show() if isinstance(each, Tool) else each.written
            for each in cast("tuple[Tool | Coded, ...]", self.tools)
        ]
        return "\n".join([", ".join(parts), *told])


@tool(category="episode", deterministic=True, where="inline")
def done() -> str:
    """End the episode.  Write the final answer, if one is asked for, as the text of the same message."""  # noqa: E501 - a policy reads it as it stands
    return "The episode has ended."


@tool(category="episode", deterministic=True, where="inline")
def give_up() -> str:
    """End the episode without having solved the task."""
    return "The episode has ended."


ENDINGS = (done, give_up)


@frozen
class Budgets:
    """``[config.budgets]``: what one episode may use; what ends it first decides.

    Args:
        tokens: that the policy samples; estimated from the text where it returns no ids.
        calls: of tools; further ones are answered with an error, and the episode ends.
        seconds: of wall time, the policy's included.
    """

    tokens: int | None = field(default=None, validator=_between(1, 1 << 40))
    calls: int | None = field(default=None, validator=_between(0, 1 << 40))
    seconds: float | None = field(default=None, validator=_between(0.001, 1e7, float))


@frozen
class Schedule:
    """``[config.schedule]``: values that change with the turn or with the step of training.

    Args:
        context_budget: (turn, tokens) pairs with rising turns: from that turn on, counted from 0,
            the budget is this.
        steps: by name of a value of ``[config]``, (step, value) pairs with rising steps: from that
            step of training on it is this.  The names are context_budget, noise.rate,
            budgets.tokens, budgets.calls and budgets.seconds.
    """

    context_budget: Sequence[tuple[int, int]] = ()
    steps: Safe[Mapping[str, Sequence[tuple[int, int | float]]]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for pairs in (self.context_budget, *self.steps.values()):
            if (firsts := [first for first, _ in pairs]) != sorted({*firsts}):
                raise ConfigError("a schedule has pairs [turn or step, value], the first rising")
        if any(tokens < 1 for _, tokens in self.context_budget):
            raise ConfigError("context_budget is 1 token or more")
        for name in self.steps.keys() - {*SCHEDULED}:
            hint = suggest(name, SCHEDULED, what="they are")
            raise ConfigError(f"steps: no value {name!r:.80} can change with the step; {hint}")


@frozen
class Config:
    """``[config]``: how a policy is sampled, and what an episode may use.

    Args:
        sampling: for endpoints, as temperature and max_tokens; a policy that is a function does not
            see it.
        context_budget: tokens that the policy is given at most in one call; without a context
            manager that can shorten the history, the episode ends with ``context`` when it is
            longer.  The tools' schemas count.
        replay: ``live``: tools run.  ``record``: and what calls return is written to ``call_log``.
            ``pin``: calls of tools that are not deterministic are answered from it.
        call_log: a file.
        noise: faults of tools, for training.
        count: a function that counts the tokens of a text; by default a text has as many as bytes
            in UTF-8.
        budgets: of one episode.
        schedule: values that change with the turn or the step of training.
    """

    sampling: Unsafe[Mapping[str, object]] = field(factory=dict)
    context_budget: int | None = field(default=None, validator=_between(1, 1 << 40))
    budgets: Budgets = field(factory=Budgets)
    schedule: Schedule = field(factory=Schedule)
    count: Callable[..., object] | None = None
    replay: Literal["live", "record", "pin"] = "live"
    call_log: File | None = None
    noise: Noise | None = None
    log_sha256: str = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "count", self.count and Coded.of(self.count))
        if self.replay not in ("live", "record", "pin"):
            raise ConfigError(f"replay is live, record or pin, not {self.replay!r}")
        for step in {step for pairs in self.schedule.steps.values() for step, _ in pairs}:
            self.at(step)  # raises for a value that cannot be

    @log_sha256.default
    def _log_sha256(self) -> str:
        return shared_log(self.log_path, writes=False).sha256 if self.replay == "pin" else ""

    @property
    def log_path(self) -> str:
        """Where the log of calls is.

        Raises:
            ConfigError: none is named.
        """
        if self.call_log is None:
            raise ConfigError(f'replay = "{self.replay}" needs call_log, the path of a file')
        return str(File(self.call_log).path)

    @property
    def length(self) -> Callable[[str], int] | None:
        """What counts the tokens of a text; imports the file of one that is in a file."""
        return cast("Coded", self.count).loaded if self.count else None  # type: ignore[return-value] # as its docs say

    def wrapped(self, call: Observe, tools: Named) -> Observe:
        """The calls of a policy with a log around them, and around that noise, so that the log has
        clean results.

        Args:
            call: runs a call.
            tools: gives those of the episode by name, whenever it is asked.

        Raises:
            ConfigError: the log cannot be opened, or a tool cannot be pinned.
        """
        if self.replay != "live":
            if self.replay == "pin":
                check_pinned(tools())
            log = shared_log(self.log_path, writes=self.replay == "record")
            call = Recorded(call, tools, log, self.replay)
        # The gold calls of a task are the grader's.
        return Noisy(call, tools, self.noise) if self.noise and not CHECKING.get() else call

    def at(self, step: int) -> Config:
        """What holds in a step of training.

        Args:
            step: counted from 0.

        Raises:
            ConfigError: a value of the schedule cannot be.
        """
        if not self.schedule.steps:
            return self
        made = evolve(self, schedule=evolve(self.schedule, steps={}))
        for name, pairs in self.schedule.steps.items():
            table, _, key = name.rpartition(".")
            for value in [value for first, value in pairs if first <= step][-1:]:
                inner = evolve(getattr(made, table) or Noise(), **{key: value}) if table else value
                made = evolve(made, **{table or key: inner})  # type: ignore[arg-type] # its validators look
        return made

    @property
    def longest_seconds(self) -> float | None:
        """The wall seconds that an episode may take in any step of training, None for no limit."""
        scheduled = self.schedule.steps.get("budgets.seconds", ())
        found = [self.budgets.seconds, *(value for _, value in scheduled)]
        known = [each for each in found if each is not None]
        return max(known) if len(known) == len(found) else None

    def budget_at(self, turn: int) -> int | None:
        """The tokens of context that the policy has in a turn, None for no limit."""
        reached = [tokens for first, tokens in self.schedule.context_budget if first <= turn]
        return reached[-1] if reached else self.context_budget

    def show(self) -> str:
        """For ``rlenv show``."""
        told = [f"{key} {value}" for key, value in self.sampling.items()]
        told += [f"replay {self.replay} {self.call_log}"] if self.replay != "live" else []
        told += [f"noise at {self.noise.rate:.3g} of calls"] if self.noise else []
        told += [f"context_budget {self.context_budget:,}"] if self.context_budget else []
        limits = {key: value for key, value in asdict(self.budgets).items() if value is not None}
        told += [f"{key} {value:,g}" for key, value in limits.items()]
        grows = self.schedule.context_budget
        told += [f"context_budget {tokens:,} from turn {turn}" for turn, tokens in grows]
        changes = [
            (name, n, step) for name, pairs in self.schedule.steps.items() for step, n in pairs
        ]
        told += [f"{name} {n:,g} from step {step:,}" for name, n, step in changes]
        return "C  " + (", ".join(told) or "no limits")
