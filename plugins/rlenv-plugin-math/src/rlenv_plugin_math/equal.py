"""``math/equal``: is the final answer of a response the task's answer?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import evolve, field, frozen
from attrs.validators import ge, in_, instance_of
from rlenv import ConfigError, Outcome, TaskError
from rlenv.authoring import Safe

from .extract import FOUND, RUNGS, Extraction, extract, nothing
from .gold import Gold, golds, plain_number, undollared
from .limits import Unparsed
from .quoted import without_prompt

if TYPE_CHECKING:
    from rlenv import Attempt, Task

    from .compare import Options
    from .match import Match

_SHOWN = 80  # characters of an answer that a report shows
_NO_VALUE = "has no value: it divides by zero or takes the logarithm of zero"
_REMEDY = (
    "correct the answer, or accept equality of text for such tasks with --set"
    " math/equal.unparsed=text"
)


def _mode(value: str | Sequence[str]) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else tuple(value)


def _have_a_secret() -> None:
    """Expressions are compared at points that it draws: without one, what a response writes decides
    who is unscored.

    Raises:
        ConfigError: there is none, and none can be made.
    """
    from rlenv.authoring import key_id

    key_id()


@frozen
class Equal:
    """Extracts the final answer of a response and decides whether it equals ``task.answer``.

    The answer of a task is text, a number, or a list of acceptable answers.
    """

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"
    waits: ClassVar[bool] = True  # for SymPy, which runs in a worker
    uses: ClassVar[tuple[str, ...]] = ("answer",)
    deterministic: ClassVar[bool] = True

    extract: Safe[str | tuple[str, ...]] = field(
        default="auto",
        converter=_mode,
        metadata={
            "doc": (
                f"where to find the answer: auto, or one or several of {', '.join(RUNGS)}, tried in"
                " order"
            )
        },
    )
    unparsed: str = field(
        default="error",
        validator=in_(("error", "text")),
        metadata={
            "doc": (
                "what to do with a gold answer that cannot be parsed: raise an error when tasks"
                " load, or compare as text"
            )
        },
    )
    tolerance: str = field(
        default="rounded",
        validator=in_(("rounded", "none")),
        metadata={
            "doc": (
                "whether a decimal is right if it is the gold answer, correctly rounded to enough"
                " digits"
            )
        },
    )
    digits: int = field(
        default=6,
        validator=[instance_of(int), ge(1)],
        metadata={"doc": "the minimum number of significant digits of such a decimal"},
    )
    rel_tol: float = field(
        default=0.0,
        validator=ge(0.0),
        metadata={"doc": "relative tolerance to the gold answer; 0 disables it"},
    )
    abs_tol: float = field(
        default=0.0,
        validator=ge(0.0),
        metadata={"doc": "absolute tolerance to the gold answer; 0 disables it"},
    )
    require_unit: bool = field(
        default=False,
        metadata={"doc": "whether a number without unit is wrong if the gold answer has one"},
    )
    percent: str = field(
        default="lenient",
        validator=in_(("lenient", "exact")),
        metadata={
            "doc": (
                "whether 10% and 10 may stand for each other (lenient), or 10% is 0.1 alone (exact)"
            )
        },
    )
    symbolic: bool = field(
        default=True,
        metadata={"doc": "whether to use SymPy, in a worker, if no cheaper method decides"},
    )
    seconds: float = field(
        default=0.5,
        validator=ge(0.0),
        metadata={"doc": "CPU seconds that SymPy may spend on one answer"},
    )
    _exact: bool = field(init=False, repr=False, eq=False)
    _asked: Options | None = field(default=None, init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        named = (self.extract,) if isinstance(self.extract, str) else self.extract
        for rung in () if self.extract == "auto" else named:
            if rung not in RUNGS:
                raise ConfigError(
                    f"extract = {rung!r}: expected auto, or one or several of {', '.join(RUNGS)}"
                )
        object.__setattr__(self, "_exact", self.rel_tol == 0.0 and self.abs_tol == 0.0)
        _have_a_secret()

    def validate(self, task: Task) -> None:
        """Read the task's gold answers.

        Raises:
            TaskError: when one cannot be read, has no value (``1/0``), or does not even equal
                itself.
        """
        every = _golds(task)
        if self.unparsed == "text":
            return
        for gold in every:
            if gold.plain is None and (problem := _problem(gold, self._options())):
                raise TaskError(
                    f"the gold answer {_short(gold.text)!r} {problem}; {_REMEDY}", task.id
                )

    def check(self, attempt: Attempt) -> Outcome:
        """1 when the final answer equals a gold answer, else 0; never raises on a response."""
        every = _golds(attempt.task)
        extraction = self._extracted(attempt)
        return attempt.with_hidden(self._compared(attempt, extraction, every))

    def _extracted(self, attempt: Attempt) -> Extraction:
        text = attempt.visible
        prompt = attempt.task.prompt
        if text.strip() == prompt.strip():
            return nothing("the response repeats the prompt")
        if not text.strip() and attempt.reading.hidden:
            return nothing("the response is thinking alone")
        found = extract(without_prompt(text, prompt), self.extract)
        if found.span is None or not attempt.reading.hidden:
            return found
        return evolve(found, span=attempt.reading.span(*found.span))

    def _compared(
        self, attempt: Attempt, extraction: Extraction, every: tuple[Gold, ...]
    ) -> Outcome:
        if not extraction.answers:
            return _outcome(0.0, extraction, every, extraction.state, extraction.reason)
        if extraction.state == FOUND and len(extraction.answers) == 1 and not extraction.commas:
            quick = self._quick(extraction.answers[0], every)
            if quick is not None:
                return _outcome(quick, extraction, every, "text" if quick else "exact")
        return self._slow(attempt, extraction, every)

    def _quick(self, answer: str, every: tuple[Gold, ...]) -> float | None:
        """The score where text or plain digits decide it, which is most of the time."""
        plain = plain_number(undollared(answer) if answer[:1] in "$\\" else answer)
        for gold in every:
            if answer == gold.text or (plain is not None and plain == gold.plain):
                return 1.0
        if plain is None or not self._exact or "." in plain:
            return None
        if all(gold.plain is not None and "." not in gold.plain for gold in every):
            return 0.0
        return None

    def _slow(self, attempt: Attempt, extraction: Extraction, every: tuple[Gold, ...]) -> Outcome:
        match = _matcher()
        key = partial(_seed, attempt.response, every)
        options = self._options()
        best: Match | None = None
        by_text = False
        for gold in every:
            as_text = (
                self.unparsed == "text" and gold.plain is None and bool(_problem(gold, options))
            )
            by_text = by_text or as_text
            try:
                found = match(gold, extraction, key, options, as_text=as_text)
            except Unparsed as error:  # `validate` was not asked
                raise TaskError(
                    f"the gold answer cannot be read: {error}", attempt.task.id
                ) from None
            if not (found.equal or as_text) and _lacks_value(gold):
                raise TaskError(f"the gold answer {_NO_VALUE}", attempt.task.id)
            if found.equal and found.how not in _AS_WRITTEN:
                from .echo import echoes

                if echoes(attempt.task.prompt, extraction.answers, gold):
                    found = type(found)(equal=False, how="echo")
            if found.equal or best is None or (best.decided and not found.decided):
                best = found
            if found.equal:
                break
        assert best is not None
        note = "compared as text, since the gold answer cannot be read" if by_text else ""
        return _outcome(float(best.equal), extraction, every, best.how, note)

    def _options(self) -> Options:
        if self._asked is None:
            object.__setattr__(self, "_asked", _compare_options(self))
        assert self._asked is not None
        return self._asked


def _seed(response: str, every: Sequence[Gold]) -> bytes:
    """What the points of a comparison are drawn from.

    It is the gold answer that no policy knows, so they need no secret, and are the same on every
    machine.
    """
    from hashlib import sha256

    said = repr((response, [gold.text for gold in every]))
    return sha256(said.encode("utf-8", "surrogatepass")).digest()


@cache
def _matcher() -> Callable[..., Match]:
    from .match import match

    return match


def _compare_options(stage: Equal) -> Options:
    from .compare import Options

    return Options(
        tolerance=stage.tolerance,
        digits=stage.digits,
        rel_tol=stage.rel_tol,
        abs_tol=stage.abs_tol,
        require_unit=stage.require_unit,
        percent=stage.percent,
        symbolic=stage.symbolic,
        seconds=stage.seconds,
    )


def _golds(task: Task) -> tuple[Gold, ...]:
    try:
        return golds(task.answer)
    except ValueError as error:
        raise TaskError(f"{error}; math/equal needs a gold answer", task.id) from None


@lru_cache(maxsize=8192)
def _lacks_value(gold: Gold) -> bool:
    from .compare.undefined import is_undefined

    return gold.plain is None and is_undefined(gold.node())


def _problem(gold: Gold, options: Options) -> str:
    """Why a gold answer cannot be used, "" when it can."""
    from .compare import decide

    try:
        node = gold.node()
    except Unparsed as error:
        return f"cannot be read: {error}"
    if _lacks_value(gold):
        return _NO_VALUE
    return (
        "" if decide(node, node, key=bytes(32), options=options).equal else "does not equal itself"
    )


_AS_WRITTEN = ("text", "structure")  # an answer in the gold's own form is an answer
_WHY = {
    "echo": "it is the question again, not worked out",
    "hedged": "the statement names several answers",
    "ambiguous": "several different answers are stated",
    "list": "several answers are stated, and they are not what was asked for",
    "unparsed": "it cannot be read as an answer",
    "words": "it is words, and the answer is not",
    "undecided": "undecided within the budget, which counts as wrong",
}


def _outcome(
    score: float, extraction: Extraction, every: tuple[Gold, ...], how: str, note: str = ""
) -> Outcome:
    state = extraction.state if not score else FOUND
    shown = _short(", ".join(extraction.answers[:8]))
    if not extraction.answers:
        detail = f"no answer: {note}"
    elif score:
        detail = f"read {shown!r} ({extraction.how}); equal by {how}"
    else:
        reason = _WHY.get(how) or (extraction.reason if state != FOUND else "") or "not equal"
        detail = f"read {shown!r} ({extraction.how}); {reason}"
    if note and extraction.answers:
        detail = f"{detail}; {note}"
    data: dict[str, Any] = {"state": state, "extracted": shown, "from": extraction.how, "how": how}
    data["span"] = list(extraction.span) if extraction.span else None
    return Outcome(score, detail, data, None, {"gold": [gold.text for gold in every]})


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
