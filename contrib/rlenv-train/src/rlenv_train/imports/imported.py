"""What the stages of imported functions share: how a function is called, and what its reward
becomes.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from math import inf
from pathlib import Path
from typing import ClassVar, SupportsFloat

from attrs import asdict, field, frozen
from rlenv import Attempt, ConfigError, Outcome, ScoreError
from rlenv.authoring import Unsafe

_NONE = (
    "None; return 0.0 for a response that you cannot read, or set may_abstain = true in options to"
    " leave it unscored"
)


@frozen(slots=False, kw_only=True)
class Imported:
    """Options that all stages of imported functions have.

    Args:
        scale: the lowest and the highest reward, which become 0 and 1; a reward outside is a fault.
        may_abstain: whether None leaves the response unscored; it is a fault otherwise.
        budget: CPU seconds that a response may cost; one that costs more gets 0.
        deterministic: false for a function that samples or measures.
        needs_answer: reject a task without an answer; train/trl and train/verl do so where the
            function requires it.
        env: names of environment variables that the function sees beside those that Python and
            numerics need.
    """

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ()

    scale: tuple[float, float] = (0.0, 1.0)
    may_abstain: bool = False
    budget: float | None = None
    deterministic: bool = True
    needs_answer: bool = False
    env: Unsafe[tuple[str, ...]] = ()
    _source: str = field(init=False, default="", repr=False)  # for the fingerprint

    def __attrs_post_init__(self) -> None:
        if not 0.0 < self.scale[1] - self.scale[0] < inf:
            raise ConfigError(f"scale is the lowest reward and a higher one, not {self.scale}")
        if self.needs_answer:
            self.require_answer()
        functions = filter(callable, asdict(self, recurse=False).values())
        object.__setattr__(self, "_source", " ".join(map(_digest, functions)))

    def require_answer(self) -> None:
        """Declare that a task without an answer is rejected when it is loaded."""
        object.__setattr__(self, "uses", ("answer",))

    def outcome(self, reward: object, private: Mapping[str, object] = {}) -> Outcome | None:
        """The Outcome that a reward stands for; None where it is None and the stage may abstain.

        Raises:
            ScoreError: it is not a number, or not in the scale.
        """
        if (number := number_of(reward)) is None:
            if self.may_abstain:
                return None
            raise ScoreError(_NONE)
        low, high = self.scale
        share = (number - low) / (high - low)
        if not -1e-6 <= share <= 1.0 + 1e-6:  # NaN is not; sums of weights round
            raise ScoreError(
                f"the reward is {number!r}, not in [{low:g}, {high:g}]; unless it is a mistake, set"
                " scale = [lowest, highest] in options"
            )
        return Outcome(min(max(share, 0.0), 1.0), private=dict(private))


def number_of(reward: object) -> float | None:
    """A number, or what an array or tensor of one element holds, as a float; None stays None.

    Raises:
        ScoreError: it is something else.
    """
    number = item() if callable(item := getattr(reward, "item", None)) else reward
    if number is not None and not isinstance(number, SupportsFloat):
        raise ScoreError(f"a reward is a number, not {number!r:.80}")
    return None if number is None else float(number)


def called(function: Callable[..., object], given: Mapping[str, object]) -> object:
    """What it returns, called by name with those of the arguments that it takes."""
    parameters = inspect.signature(function).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return settled(function(**{k: v for k, v in given.items() if takes_any or k in parameters}))


def required(function: Callable[..., object]) -> list[str]:
    """The names of the parameters that it cannot be called without."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and "VAR_" not in p.kind.name]


def settled(returned: object) -> object:
    """The value itself, waited for where it is awaitable."""

    async def wait() -> object:
        assert inspect.isawaitable(returned)
        return await returned

    return _loop().run(wait()) if inspect.isawaitable(returned) else returned


@cache
def _loop() -> asyncio.Runner:
    """One loop for all calls: what a function keeps between them, such as a client, belongs to its
    loop.
    """
    return asyncio.Runner()


def completion_of(attempt: Attempt) -> list[Mapping[str, object]]:
    """The messages that follow the prompt."""
    if attempt.trajectory is None:
        return [{"role": "assistant", "content": attempt.response}]
    messages = list(attempt.trajectory.messages)
    prompt = attempt.task.messages
    return messages[len(prompt) :] if messages[: len(prompt)] == prompt else messages


def _digest(function: Callable[..., object]) -> str:
    """A hash of the file that defines a function, or of its code where there is none."""
    if isinstance(known := getattr(function, "sha256", None), str):
        return known  # of a file that is imported in workers only
    inner = inspect.unwrap(getattr(function, "func", function))  # of a partial
    defined = inner if inspect.isroutine(inner) else type(inner)
    try:
        content = Path(inspect.getfile(defined)).read_bytes()
    except (OSError, TypeError):
        content = getattr(getattr(defined, "__code__", None), "co_code", b"")
    return hashlib.sha256(content).hexdigest()
