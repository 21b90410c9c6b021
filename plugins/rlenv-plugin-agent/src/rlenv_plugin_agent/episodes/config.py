"""``[config]``: how a policy is sampled, and what an episode may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, cast

from attrs import asdict, evolve, field, frozen
from rlenv import ConfigError
from rlenv.authoring import File, Safe, Unsafe, suggest

from rlenv_plugin_agent.recording import RecordedCalls, check_pinned, shared_log
from rlenv_plugin_agent.tools.keys import Named
from rlenv_plugin_agent.tools.noise import Noise, Noisy
from rlenv_plugin_agent.tools.observations import Observe
from rlenv_plugin_agent.tools.tool import FunctionRef

from .bounds import between
from .gold import CHECKING

SCHEDULED = ("context_budget", "noise.rate", "budgets.tokens", "budgets.calls", "budgets.seconds")


@frozen
class Budgets:
    """``[config.budgets]``: what one episode may use; what ends it first decides.

    Args:
        tokens: that the policy samples; estimated from the text where it returns no ids.
        calls: of tools; further ones are answered with an error, and the episode ends.
        seconds: of wall time, the policy's included.
    """

    tokens: int | None = field(default=None, validator=between(1, 1 << 40))
    calls: int | None = field(default=None, validator=between(0, 1 << 40))
    seconds: float | None = field(default=None, validator=between(0.001, 1e7, float))


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
    context_budget: int | None = field(default=None, validator=between(1, 1 << 40))
    budgets: Budgets = field(factory=Budgets)
    schedule: Schedule = field(factory=Schedule)
    count: Callable[..., object] | None = None
    replay: Literal["live", "record", "pin"] = "live"
    call_log: File | None = None
    noise: Noise | None = None
    log_sha256: str = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "count", self.count and FunctionRef.of(self.count))
        if self.replay not in ("live", "record", "pin"):
            raise ConfigError(f"replay is live, record or pin, not {self.replay!r}")
        for step in {step for pairs in self.schedule.steps.values() for step, _ in pairs}:
            self.at(step)  # raises for a value that cannot be

    @log_sha256.default
    def _log_sha256(self) -> str:
        return shared_log(self.log_path, writes=False).sha256 if self.replay == "pin" else ""

    @property
    def log_path(self) -> str:
        """Return where the log of calls is.

        Raises:
            ConfigError: the table names no file.
        """
        if self.call_log is None:
            raise ConfigError(f'replay = "{self.replay}" needs call_log, the path of a file')
        return str(File(self.call_log).path)

    @property
    def length(self) -> Callable[[str], int] | None:
        """Return what counts the tokens of a text; imports the file of one that is in a file."""
        return cast("FunctionRef", self.count).implementation if self.count else None  # type: ignore[return-value] # as its docs say

    def wrap_calls(self, call: Observe, tools: Named) -> Observe:
        """Return the calls of a policy with a log around them, and around that noise, so that the
        log has clean results.

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
            call = RecordedCalls(call, tools, log, self.replay)
        # The gold calls of a task are the grader's.
        return Noisy(call, tools, self.noise) if self.noise and not CHECKING.get() else call

    def at(self, step: int) -> Config:
        """Return what holds in a step of training.

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
        """Return the wall seconds that an episode may take in any step of training, None for no
        limit.
        """
        scheduled = self.schedule.steps.get("budgets.seconds", ())
        found = [self.budgets.seconds, *(value for _, value in scheduled)]
        known = [each for each in found if each is not None]
        return max(known) if len(known) == len(found) else None

    def budget_at(self, turn: int) -> int | None:
        """Return the tokens of context that the policy has in a turn, None for no limit."""
        reached = [tokens for first, tokens in self.schedule.context_budget if first <= turn]
        return reached[-1] if reached else self.context_budget

    def show(self) -> str:
        """Describe the table for ``rlenv show``."""
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
