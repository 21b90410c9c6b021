"""The values that flow through a verification; all frozen, comparable and picklable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, nan
from operator import index
from typing import SupportsIndex, TypeAlias

from attrs import converters, evolve, field, frozen, validators

from .errors import Fault as Fault  # noqa: PLC0414 - a value, which VerifierFault carries
from .errors import VerifierFault

FAULT_KINDS = (
    "error",  # the stage raised
    "contract",  # the stage returned something that is no Outcome, or a score outside [0, 1]
    "abstained",  # the stage returned None, and declares may_abstain
    "timeout",  # the stage outran its deadline and was killed
    "memory",  # the worker outran its memory limit
    "crash",  # the worker died, or was ended since it sent what is not a result
    "blocked",  # an async stage blocked the loop that it shares
    "pool",  # the workers themselves could not be run
    "input",  # in a batch: the row was no task and response
    "unavailable",  # something the stage depends on could not be reached
)


MOST_TURNS = 1 << 31
Steps: TypeAlias = tuple[tuple[int, float], ...]


def unit_score(score: object) -> float:
    """Return ``score`` as a plain float in [0, 1].

    Raises:
        ScoreError: for NaN, infinities, anything out of range, ``bool`` and what is no real number.
    """
    plain = score if type(score) is float else _as_float(score)
    if not 0.0 <= plain <= 1.0:
        rescaled = "; scale it, (score - lowest) / (highest - lowest)" if isfinite(plain) else ""
        raise ScoreError(f"a score is a float in [0, 1], not {score!r}{rescaled}")
    return abs(plain)  # -0.0 becomes 0.0


def _as_float(score: object) -> float:
    kind = type(score).__name__
    odd = isinstance(score, (str, bytes, complex)) or kind in ("bool", "bool_")  # numpy's too
    if odd or not hasattr(score, "__float__") or hasattr(score, "__len__"):
        raise ScoreError(f"a score is a float in [0, 1], not {kind}")
    try:
        return float(score)
    except (TypeError, ValueError, OverflowError) as err:
        raise ScoreError(f"a score is a float in [0, 1], not {kind}: {err}") from None


def _steps(steps: Iterable[tuple[SupportsIndex, float]]) -> Steps:
    try:
        pairs = [(index(turn), score) for turn, score in steps]
    except (TypeError, ValueError):
        raise ScoreError("steps are (turn index, score) pairs") from None
    if any(abs(turn) > MOST_TURNS for turn, _ in pairs):
        raise ScoreError(f"a turn of steps is at most {MOST_TURNS:,}")
    return tuple([(turn, unit_score(score)) for turn, score in pairs])


class ScoreError(ValueError):
    """A score that is no finite float in [0, 1]."""


@frozen
class Task:
    """One problem.

    ``answer`` and ``info`` are for the verifier only, but for ``info["messages"]``; see ``public``.
    """

    prompt: str
    answer: object = None
    info: Mapping[str, object] = field(factory=dict)
    id: str | None = None
    split: str = "train"

    @property
    def messages(self) -> list[Mapping[str, object]]:
        """What the policy is given: the prompt's messages, or the prompt as the user's message.

        They are those of ``info["messages"]``, where a task file has them, if the last of the user
        is the prompt; replies of the assistant at their end are left out, since they may be the
        answer.
        """
        given = self.info.get("messages")
        found = list(given) if isinstance(given, (list, tuple)) else []
        if all(isinstance(message, Mapping) for message in found):
            while found and found[-1].get("role") == "assistant":
                found.pop()
            asked = [each.get("content") for each in found if each.get("role") == "user"]
            if asked and asked[-1] == self.prompt:
                return found
        return [{"role": "user", "content": self.prompt}]

    def public(self) -> dict[str, object]:
        """All that a policy may see of this task."""
        return {
            "messages": self.messages,
            "prompt": self.prompt,
            "id": self.id,
            "split": self.split,
        }


def _ids(ids: Iterable[SupportsIndex]) -> tuple[int, ...]:
    made = tuple(map(index, given := tuple(ids)))
    if bool in map(type, given) or min(made, default=0) < 0 or max(made, default=0) >> 63:
        raise ValueError("token ids are integers, 0 or more and below 2**63")
    return made


def _floats(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple([float(n) if hasattr(n, "__float__") and n <= 0 else nan for n in numbers])


@frozen
class Tokens:
    """One call of the policy: the token ids that it was given, and those that it sampled.

    Args:
        prompt_ids: all that it was given in this call, what was said before included.
        ids: what it sampled, with the token that ended the turn.
        logprobs: of each sampled id when it was sampled, as natural logarithms, each 0 or less;
            None where the endpoint tells none.  -inf is an error, since an id of probability 0 is
            not sampled.
        exact: the endpoint told these ids; False where they were made of the text afterwards.

    Raises:
        TypeError: for an id that is not an integer, or ``exact`` that is not a bool.
        ValueError: for an id below 0 or above 63 bits, or logprobs that are not one finite number
            of 0 or less an id.
    """

    prompt_ids: tuple[int, ...] = field(converter=_ids)
    ids: tuple[int, ...] = field(converter=_ids)
    logprobs: tuple[float, ...] | None = field(default=None, converter=converters.optional(_floats))
    exact: bool = field(default=True, validator=validators.instance_of(bool))

    def __attrs_post_init__(self) -> None:
        if self.logprobs is not None and [*map(isfinite, self.logprobs)] != [True] * len(self.ids):
            raise ValueError(f"logprobs are {len(self.ids)} finite numbers <= 0, one for each id")


def _messages(messages: Iterable[Mapping[str, object]]) -> tuple[Mapping[str, object], ...]:
    return tuple(messages)  # a converter of its own: for `tuple`, mypy rejects a list


def _calls(calls: Iterable[Tokens]) -> tuple[Tokens, ...]:
    return tuple(calls)


@frozen
class Trajectory:
    """A conversation of OpenAI-style message dicts: what a trainer sees of a rollout.

    Args:
        messages: the conversation, the prompt included.
        tokens: the calls that wrote the last of the assistant's messages, one for each, in order;
            for trainers. A stage gets a trajectory without them, so that a verdict depends on what
            was said alone.
        artifacts: what stages may take beside the conversation, as the final state of an episode:
            objects of attrs classes, one of a class, made by whoever ran the episode.  They are not
            part of ``attempt.trajectory``.

    Raises:
        ValueError: for more calls than messages of the assistant, or what is not Tokens.
    """

    messages: tuple[Mapping[str, object], ...] = field(converter=_messages)
    tokens: tuple[Tokens, ...] = field(default=(), converter=_calls)
    artifacts: tuple[object, ...] = ()

    def __attrs_post_init__(self) -> None:
        said = sum(each.get("role") == "assistant" for each in self.messages) if self.tokens else 0
        if len(self.tokens) > said or not {*map(type, self.tokens)} <= {Tokens}:
            raise ValueError(f"tokens are at most {said} Tokens, one for each assistant message")

    @property
    def final(self) -> str:
        """The text of the last assistant message, "" when there is none."""
        said = (each for each in reversed(self.messages) if each.get("role") == "assistant")
        return _text(next(said, {}).get("content"))


def _text(content: object) -> str:
    parts = content if isinstance(content, Sequence) else ()  # OpenAI's list of content parts
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return content if isinstance(content, str) else "".join(t for t in texts if isinstance(t, str))


Response: TypeAlias = str | Trajectory | Sequence[Mapping[str, object]]


@frozen
class Outcome:
    """What one stage says of one response.

    Args:
        score: finite float in [0, 1].
        detail: one line for a reader; fit for a policy to see, so it never holds the answer.
        data: machine-readable facts, JSON values, equally fit for a policy.  A report marks in the
            response what an object in it has as ``spans``, pairs of character offsets, under the
            object's ``kind``.
        steps: process rewards as (turn index, score) pairs.  A turn is a message of the assistant,
            counted from 0.
        private: what only the operator may see (gold, expected, diff).

    Raises:
        ScoreError: when the score, or that of a step, is no finite float in [0, 1].
    """

    score: float = field(converter=unit_score)
    detail: str = ""
    data: Mapping[str, object] = field(factory=dict)
    steps: Steps | None = field(default=None, converter=converters.optional(_steps))
    private: Mapping[str, object] = field(factory=dict)

    @classmethod
    def passed(cls, detail: str = "", **data: object) -> Outcome:
        return cls(1.0, detail, data)

    @classmethod
    def failed(cls, detail: str = "", **data: object) -> Outcome:
        return cls(0.0, detail, data)


PLAIN = {0.0: Outcome(0.0), 1.0: Outcome(1.0)}  # the most frequent ones, made once


@frozen
class StageResult:
    """One stage of one verdict: exactly one of ``outcome`` and ``fault`` is set.

    ``stage`` is a path (``tests/run``).
    """

    stage: str
    outcome: Outcome | None
    fault: Fault | None = None
    seconds: float = field(default=0.0, eq=False)
    children: tuple[StageResult, ...] = ()


@frozen(repr=False)
class Verdict:
    """The reward of one response and everything that led to it.

    ``print`` explains it stage by stage.

    Args:
        value: the reward in [0, 1]; None exactly when the response could not be scored.
        results: one StageResult per stage that ran, in order.
        stopped_at: the path of the stage whose gate failed, or whose fault ended the pipeline.
        fingerprint: names the configuration and the versions that made this verdict.
        raw: the shaped sum before it was clamped to [0, 1].
        fault: why there is no value.
    """

    value: float | None
    results: tuple[StageResult, ...] = ()
    stopped_at: str | None = None
    fingerprint: str = ""
    raw: float | None = None
    fault: Fault | None = None

    @property
    def scored(self) -> bool:
        return self.value is not None

    @property
    def reward(self) -> float:
        """The value.

        Raises:
            VerifierFault: when the verifier broke; a 0 would be a false negative.
        """
        if self.value is None:
            raise VerifierFault(self.fault or Fault("error", "the verdict has no value"))
        return self.value

    def public(self) -> Verdict:
        """The same verdict without what only the operator may see."""
        results = tuple(map(_public, self.results))
        return evolve(self, results=results, fault=_public_fault(self.fault))

    def __repr__(self) -> str:
        return (
            f"<Verdict {'unscored' if self.value is None else self.value}, {len(self.results)}"
            " stages>"
        )

    def __str__(self) -> str:
        from .messages import as_text

        return as_text(self._summary(), _rows(self.results))

    def _repr_html_(self) -> str:
        from .messages import as_html

        return as_html(self._summary(), _rows(self.results))

    def _summary(self) -> str:
        ended = f"; stopped at {self.stopped_at}" if self.stopped_at else ""
        if self.value is None:
            fault = None if self.results else self.fault
            return f"unscored: {fault or 'a required stage failed'}{ended}"
        if self.raw not in (None, self.value):
            ended = f" (the sum {self.raw:.6g}, clamped){ended}"
        return f"reward {self.value:.6g}{ended}"


def _rows(results: Iterable[StageResult]) -> Iterator[tuple[str, str, str]]:
    """The path, the score, and the detail or fault of each stage, children after their
    composite.
    """
    for result in results:
        if result.outcome is None:
            yield result.stage, "no score", str(result.fault or "")
        else:
            yield result.stage, f"score {result.outcome.score:.6g}", str(result.outcome.detail)
        yield from _rows(result.children)


def _public(result: StageResult) -> StageResult:
    outcome = result.outcome and evolve(result.outcome, private={})
    children = tuple(map(_public, result.children))
    return evolve(result, outcome=outcome, fault=_public_fault(result.fault), children=children)


def _public_fault(fault: Fault | None) -> Fault | None:
    return fault and evolve(fault, message="")
