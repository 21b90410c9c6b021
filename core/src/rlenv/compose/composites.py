"""Composition: slots hold stages, composites hold slots, and a composite is a stage like any other.

A composite only decides which child runs next and what their results are worth together; it is
written as a generator (``fold``) that yields a child's index and receives that child's StageResult,
so that the one engine can run it in any process, sync or async, or replay it from results that are
known already.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeGuard

from attrs import field, frozen

from rlenv.model.errors import ConfigError, reject
from rlenv.model.values import Fault, StageResult

from .stages import ATTRIBUTES, attribute, is_stage


class Combined(NamedTuple):
    """What a composite makes of its children; ``value`` is None when a fault leaves it open."""

    value: float | None
    raw: float | None = None
    fault: Fault | None = None
    stopped_at: str | None = None  # path of the child that ended it early


DEEPEST = 32  # composites within composites; a fingerprint tells no more levels apart
NUMBERS = ("weight", "gate", "penalty", "bonus", "timeout")  # what a slot counts with
Fold: TypeAlias = Generator[int, StageResult, Combined]


@frozen
class Slot:
    """A stage's place in a composite.

    Args:
        name: unique among its siblings; part of the paths in verdicts.
        stage: the stage, a function, or another composite.
        weight: share in the mean; 1 unless a gate, penalty or bonus is given, then 0.
        gate: a score below it ends the pipeline with 0; the stage's ``default_gate`` when None, and
            0 for none at all, so that such a stage can be a penalty.
        penalty: ``penalty * (1 - score)`` is taken off.
        bonus: ``bonus * score`` is added, unless the mean is 0.
        timeout: wall seconds; the stage's ``default_timeout``, else 30, when None.
        use, options: how a configuration named the stage and built it.
    """

    name: str
    stage: object
    weight: float = None  # type: ignore[assignment]  # a float once constructed
    gate: float | None = None
    penalty: float = 0.0
    bonus: float = 0.0
    timeout: float | None = None
    use: str = ""
    options: Mapping[str, object] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if callable(self.stage) and not isinstance(self.stage, type):
            object.__setattr__(self, "stage", as_stage(self.stage))
        numbers = {name: getattr(self, name) for name in NUMBERS}
        wanted = {name: number_wanted(name, value) for name, value in numbers.items()}
        problems = [f"{self.name}: {n} is {w}, not {numbers[n]!r}" for n, w in wanted.items() if w]
        if not is_name(self.name):
            problems.append(f'a slot\'s name is a string without "/", not {self.name!r}')
        reject(problems)
        own = attribute(self.stage, "default_gate")  # a wrong value is told by the plan
        own = own if ATTRIBUTES["default_gate"].is_valid(own) else None
        gate = own if self.gate is None else self.gate
        object.__setattr__(self, "gate", gate or None)
        if self.weight is None:
            shaped = self.gate is not None or self.penalty or self.bonus
            object.__setattr__(self, "weight", 0.0 if shaped else 1.0)

    @property
    def kind(self) -> str:
        """How reports name the stage: as the configuration does, else its function or class."""
        return self.use or target_of(self.stage)

    @property
    def matters(self) -> bool:
        """Whether the stage's score can change the value of a pipeline."""
        return bool(self.weight or self.gate is not None or self.penalty or self.bonus)


def free_name(name: str, taken: set[str]) -> str:
    """The name, with -2, -3 where it is taken; it is taken from now on."""
    numbered = (f"{name}-{n}" if n > 1 else name for n in count(1))
    free = next(found for found in numbered if found not in taken)
    taken.add(free)
    return free


def target_of(stage: object) -> str:
    """``module:name`` of what a stage is made of: its function, else its class."""
    function: str | None = getattr(stage, "target", None) if is_function(stage) else None
    return function or f"{type(stage).__module__}:{type(stage).__qualname__}"


def is_function(stage: object) -> bool:
    """Whether the stage is a function of somebody's."""
    return type(stage).__module__ == "rlenv.compose.functions"


def is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "/" not in value


def is_number(value: object) -> TypeGuard[float]:
    """Whether this is a finite number and no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number_wanted(name: str, value: object) -> str:
    """What one of a slot's numbers should be where ``value`` is not that, "" where it is."""
    if value is None:
        return ""
    if not is_number(value):
        return "a finite number"
    most = 1.0 if name == "gate" else math.inf
    fits = 0.0 <= value <= most and (value > 0 or name != "timeout")
    return "" if fits else {"gate": "in [0, 1]", "timeout": "> 0"}.get(name, "≥ 0")


def shape(mean: float, base: float, shaped: Iterable[tuple[Slot, float]]) -> float:
    """``base·mean + Σ bonus·score − Σ penalty·(1−score)``; bonuses pay nothing when the mean is 0.

    This is the raw sum; a value is the sum clamped to [0, 1].
    """
    total = base * mean
    for slot, score in shaped:
        total += slot.bonus * score if mean > 0 else 0.0
        total -= slot.penalty * (1.0 - score)
    return total


def clamp(x: float) -> float:
    if x <= 0.0:
        return 0.0
    return 1.0 if x >= 1.0 else x


class Composite:
    """A stage made of slots, stages and functions.  Subclasses implement ``fold``."""

    name: ClassVar[str] = "composite"
    # Whether weight, penalty and bonus of the children mean anything.
    shapes: ClassVar[bool] = False

    def __init__(self, slots: Iterable[object]) -> None:
        self.slots: tuple[Slot, ...] = tuple(as_slots(slots))
        self.depth = 1 + max((getattr(slot.stage, "depth", 0) for slot in self.slots), default=0)
        reject([*self._slot_problems(self.slots), *self._problems()])

    def fold(self) -> Fold:
        """Yield the next child's index, receive its result, return what all are worth."""
        raise NotImplementedError

    def _problems(self) -> Iterable[str]:
        """What is wrong with the options of a subclass."""
        return ()

    @classmethod
    def _slot_problems(cls, slots: Sequence[Slot]) -> Iterator[str]:
        """What is wrong with these as the slots of such a composite, whatever its options."""
        if not slots:
            yield f"{cls.__name__} has no stages: give it at least one"
        names = [slot.name for slot in slots]
        for name in sorted({n for n in names if names.count(n) > 1}):
            yield f"two stages are named {name!r}: give one another name"
        for slot in slots:
            if getattr(slot.stage, "depth", 0) >= DEEPEST:
                yield f"{slot.name}: composites are nested more than {DEEPEST} deep"
            if not cls.shapes and (slot.weight not in (0.0, 1.0) or slot.penalty or slot.bonus):
                remedy = "wrap the stage in a Pipeline (core/pipeline)"
                inside = f"have no meaning inside {cls.__name__}; {remedy}"
                yield f"{slot.name}: weight, penalty and bonus {inside}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(slot.name for slot in self.slots)})"


class Pipeline(Composite):
    """Runs its slots in order, stops at a failed gate, and shapes the rest into one value.

    ``value = clamp(base·Σwᵢsᵢ/Σwᵢ + Σ bonusᵢ·sᵢ − Σ penaltyᵢ·(1−sᵢ), 0, 1)``.  A fault ends it
    unscored, unless the stage could not have changed the value (weight 0, no gate, penalty or
    bonus, and it makes nothing that a later stage needs).
    """

    name = "pipeline"
    shapes = True

    def __init__(self, slots: Iterable[object], base: float = 1.0) -> None:
        self.base = base
        super().__init__(slots)
        largest = max(slot.weight for slot in self.slots)
        self._weights = [slot.weight / largest for slot in self.slots]  # so that no scale overflows
        self._total = math.fsum(self._weights)
        self._decides = [slot.matters or self._feeds(i) for i, slot in enumerate(self.slots)]

    def _feeds(self, i: int) -> bool:
        """Whether a later slot needs what this one makes."""
        made = _artifacts(self.slots[i].stage, "makes")
        return any(made & _artifacts(later.stage, "needs") for later in self.slots[i + 1 :])

    def _problems(self) -> Iterable[str]:
        base = self.base
        if not is_number(base) or base <= 0:
            yield f"base is a finite number > 0, not {self.base!r}"
        if self.slots and not any(slot.weight for slot in self.slots):
            why = "a gate, penalty or bonus sets weight to 0"
            yield f"the weights sum to zero, so there is no mean ({why}): give one stage a weight"

    def fold(self) -> Fold:
        weighted: list[float] = []
        shaped: list[tuple[Slot, float]] = []
        for i, slot in enumerate(self.slots):
            result = yield i
            outcome = result.outcome
            if outcome is None:
                if self._decides[i]:
                    return Combined(None, None, result.fault, result.stage)
                continue
            score = outcome.score
            if slot.gate is not None and score < slot.gate:
                return Combined(0.0, 0.0, None, result.stage)
            weighted.append(self._weights[i] * score)
            if slot.bonus or slot.penalty:
                shaped.append((slot, score))
        mean = math.fsum(weighted) / self._total  # exactly 1 when every score is
        raw = shape(mean, self.base, shaped) if shaped else self.base * mean
        return Combined(raw if 0.0 < raw <= 1.0 else clamp(raw), raw)


def _artifacts(stage: object, which: str) -> set[type]:
    """The artifact types that a stage, or any stage in a composite, ``makes`` or ``needs``."""
    if isinstance(stage, Composite):
        return {kind for slot in stage.slots for kind in _artifacts(slot.stage, which)}
    return set(getattr(stage, which, ()))


def _gated(slot: Slot, score: float) -> float:
    """Outside a pipeline a child below its gate counts as 0, as a pipeline of its own would."""
    return 0.0 if slot.gate is not None and score < slot.gate else score


class _Joined(Composite):
    """One value of all scores.

    It ends early where no score to come, nor one that a fault hides, can change it.
    """

    _join: ClassVar[Any]  # of a list of scores
    # The values that can be certain before all scores are there.
    decisive: ClassVar[tuple[float, ...]]

    def fold(self) -> Fold:
        # what each score is between
        low = [0.0] * len(self.slots)
        high = [1.0] * len(self.slots)
        value = 0.0
        fault = None
        for i, slot in enumerate(self.slots):
            result = yield i
            if result.outcome is None:
                fault = fault or result.fault
            else:
                low[i] = high[i] = _gated(slot, result.outcome.score)
            value = self._join(low)
            if value in self.decisive and value == self._join(high):
                return Combined(value, value, None, result.stage)
        return Combined(value, value) if fault is None else Combined(None, None, fault)


class AnyOf(_Joined):
    """The best child's score; ends early at 1.  A fault leaves it open unless a child reaches 1."""

    name = "any"
    _join = max
    decisive = (1.0,)


class AllOf(_Joined):
    """The worst child's score; ends early at 0.  A fault leaves it open unless a child is 0."""

    name = "all"
    _join = min
    decisive = (0.0,)


class Product(_Joined):
    """The product of the scores; ends early at 0.  A fault leaves it open unless a child is 0."""

    name = "product"
    _join = math.prod
    decisive = (0.0,)


class Quorum(_Joined):
    """1 when at least ``k`` children score ``at`` or more, else 0; ends once that is certain."""

    name = "quorum"
    decisive = (0.0, 1.0)

    def __init__(self, slots: Iterable[object], k: int, at: float = 1.0) -> None:
        self.k = k
        self.at = at
        super().__init__(slots)

    def _problems(self) -> Iterable[str]:
        if type(self.k) is not int or not 1 <= self.k <= len(self.slots):
            yield (
                f"k is an integer from 1 to the number of stages ({len(self.slots)}), not"
                f" {self.k!r}"
            )
        if not is_number(self.at) or not 0 < self.at <= 1:
            yield f"at is in (0, 1], not {self.at!r}"

    def _join(self, scores: list[float]) -> float:
        return float(sum(score >= self.at for score in scores) >= self.k)


class First(Composite):
    """The first child that does not break; a child's fault falls back to the next."""

    name = "first"

    def fold(self) -> Fold:
        for i in range(len(self.slots)):
            result = yield i
            if result.outcome is not None:
                score = _gated(self.slots[i], result.outcome.score)
                return Combined(score, score, None, result.stage)
        return Combined(None, None, result.fault)


def composite_of(verifier: object) -> Composite:
    """What an environment is given, as one composite.

    Raises:
        TypeError: when it is none of what a verifier may be.
    """
    if isinstance(verifier, Composite):
        return verifier
    if isinstance(verifier, (type, Slot)) or callable(verifier) or is_stage(verifier):
        return Pipeline([verifier])
    if isinstance(verifier, (str, bytes, Mapping)) or not isinstance(verifier, Iterable):
        given = f"{type(verifier).__name__}; Environment.load takes a name, from_dict a mapping"
        one = "a function, a stage, a composite or a sequence of them"
        raise TypeError(f"a verifier is {one}, not {given}")
    return Pipeline(verifier)


def as_stage(verifier: object) -> object:
    """A stage from what a user passes as one: a stage itself, a composite, or any callable.

    Raises:
        ConfigError: for what is neither, and for a class instead of an object.
    """
    from .functions import function_stage

    if isinstance(verifier, type):
        name = verifier.__name__
        raise ConfigError(f"{name} is a class, not a stage: build it, {name}(...)")
    if isinstance(verifier, Composite) or is_stage(verifier):
        return verifier
    if callable(verifier):
        return function_stage(verifier)
    lack = "it is not callable and has neither check(attempt) nor check_group(attempts)"
    raise ConfigError(f"{verifier!r:.80} ({type(verifier).__name__}) is not a stage: {lack}")


def as_slots(verifiers: Iterable[object]) -> Iterator[Slot]:
    """Slots from a sequence of slots, stages and functions; what has no name gets one.

    A name is that of the function or class, with -2, -3 where it is taken.
    """
    members = list(verifiers)
    taken = {member.name for member in members if isinstance(member, Slot)}
    for member in members:
        if isinstance(member, Slot):
            yield member
        else:
            found = as_stage(member)
            name = str(getattr(found, "name", None) or type(found).__name__).lower()
            yield Slot(free_name(name.replace("/", "-"), taken), found)


_ALL: tuple[type[Composite], ...] = (Pipeline, AnyOf, AllOf, Product, Quorum, First)
COMPOSITES = {cls.name: cls for cls in _ALL}
