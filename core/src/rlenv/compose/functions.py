"""Functions as stages: what a function asks for by name, and what its return value means."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from math import isfinite
from operator import attrgetter
from typing import Any, SupportsFloat

from rlenv.model.errors import ConfigError, reject
from rlenv.model.values import PLAIN, Outcome, ScoreError

from .signatures import remedy
from .stages import ATTRIBUTES, DECLARED, Attempt, class_problems, value_problems

READERS: Mapping[str, Callable[[Attempt], object]] = {
    "prompt": attrgetter("task.prompt"),
    "response": attrgetter("response"),
    "completion": attrgetter("response"),
    **{name: attrgetter(name) for name in ("visible", "task", "trajectory")},
    **{name: attrgetter(f"task.{name}") for name in ("answer", "info")},
    "attempt": lambda attempt: attempt,
}
# What other libraries call a parameter.
_SYNONYMS = {
    **dict.fromkeys(
        ("ground_truth", "gold", "label", "target", "reference", "expected", "solution"), "answer"
    ),
    **dict.fromkeys(("output", "generation", "prediction", "solution_str"), "response"),
    **dict.fromkeys(("question", "query"), "prompt"),
    **dict.fromkeys(("metadata", "extra_info", "state"), "info"),
    "completions": "[response]",
    "prompts": "[prompt]",
    "labels": "[answer]",
}
_NO_SCORE = (
    "list",
    "tuple",
    "set",
    "str",
    "bytes",
    "Iterator",
    "Generator",
    "Awaitable",
    "Coroutine",
    "Sequence",
    "Iterable",
    "None",
    "NoneType",
)


class FileCode:
    """Base of a function whose file is only read here: its workers see no variable by default."""


def is_reference(use: str) -> bool:
    """Whether this names code, not a stage of a plugin."""
    return ":" in use or use.endswith(".py")


class FunctionStage:
    """A function as a stage; it receives what its parameters name.

    Args:
        function: returns a float, a bool, an Outcome or a mapping with ``score``; plain or async.

    Raises:
        ConfigError: a parameter that cannot be supplied, a return annotation that is no score, or a
            declared attribute of a wrong value.
    """

    where = "worker"
    env: tuple[str, ...] = ()

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        signature = _signature_of(function)
        declared = declared_by(function)
        _, bound = _innermost(function)
        wanted = [p for p in signature.parameters.values() if p.name not in bound]
        self._takes_info = declared.get("kwargs") == "info"
        problems = [*value_problems(declared), *_problems(self, wanted, signature)]
        reject(f"{self.target}{signature}: {text}" for text in problems)
        vars(self).update(declared)
        supplied = [p for p in wanted if p.name in READERS]
        if "uses" not in declared and any(p.name == "answer" and _required(p) for p in supplied):
            self.uses = ("answer",)
        self._by_place = tuple(p.name for p in supplied if p.kind is p.POSITIONAL_ONLY)
        self._by_name = tuple(p.name for p in supplied if p.kind is not p.POSITIONAL_ONLY)
        self._reads_visible = "visible" in (*self._by_place, *self._by_name)

    @property
    def target(self) -> str:
        """``module:name`` of the function."""
        function = inspect.unwrap(_innermost(self.function)[0])
        name = getattr(function, "__qualname__", type(function).__qualname__)
        return f"{getattr(function, '__module__', None) or type(function).__module__}:{name}"

    @property
    def name(self) -> str:
        return self.target.rpartition(":")[2].rpartition(".")[2].strip("<>")

    def check(self, attempt: Attempt) -> object:
        return self._noted(attempt, self._called(attempt))

    def _called(self, attempt: Attempt) -> Any:
        named = {name: READERS[name](attempt) for name in self._by_name}
        if self._takes_info:
            info = attempt.task.info.items()
            named = {**{key: value for key, value in info if key not in READERS}, **named}
        return self.function(*[READERS[name](attempt) for name in self._by_place], **named)

    def _noted(self, attempt: Attempt, said: object) -> object:
        """With how much the function was not shown, where it asked for the visible text."""
        said = PLAIN[said] if type(said) is bool else said
        if self._reads_visible and said is not None and attempt.reading.hidden:
            return attempt.with_hidden(said if type(said) is Outcome else outcome_of(said))
        return said

    def __repr__(self) -> str:
        return f"FunctionStage({self.target})"


class AsyncFunctionStage(FunctionStage):
    """The same for ``async def``."""

    async def check(self, attempt: Attempt) -> object:
        return self._noted(attempt, await self._called(attempt))


def function_stage(
    function: Callable[..., object], options: Mapping[str, object] | None = None
) -> FunctionStage:
    """The stage that a function is; ``options`` are values of its other parameters.

    Raises:
        ConfigError: as ``FunctionStage`` does, and for an option that it has no parameter for.
    """
    if options:
        known = _signature_of(function).parameters
        takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
        wrong = [name for name in options if name not in known and not takes_any]
        if wrong:
            raise ConfigError(f'it has no parameter "{wrong[0]}", which options set')
        function = partial(function, **options)
    inner, _ = _innermost(function)  # a wrapper decides, not what it wraps
    called = inner if inspect.isroutine(inner) else type(inner).__call__
    is_async = inspect.iscoroutinefunction(called) or getattr(inner, "is_async", False)
    return (AsyncFunctionStage if is_async else FunctionStage)(function)


def declared_by(function: object) -> dict[str, object]:
    """What ``@stage`` declared on a function, or the class of a callable object as attributes."""
    if isinstance(function, partial):
        return {**declared_by(function.func), **vars(function).get(DECLARED, {})}
    own: dict[str, object] | None = getattr(function, DECLARED, None)
    if own is not None or inspect.isroutine(function):
        return dict(own or {})
    kind = type(function)
    reject(f"{kind.__name__}: {text}" for text in class_problems(kind))
    return {name: getattr(function, name) for name in ATTRIBUTES if hasattr(kind, name)}


def outcome_of(returned: object) -> Outcome:
    """The Outcome that a function's return value stands for: a number, a bool, or a mapping with
    ``score``.

    Other keys of the mapping than those of an Outcome become private data, since they may hold the
    answer.

    Raises:
        ScoreError: for anything else.
    """
    if returned is None:
        unscored = "declare may_abstain = True to leave it unscored"
        raise ScoreError(f"None; return 0.0 for a response that you cannot read, or {unscored}")
    if not isinstance(returned, Mapping):
        return _outcome_of_number(returned)
    if "score" not in returned:
        keys = sorted(map(str, returned))
        raise ScoreError(f'a mapping needs the key "score"; it has {keys!r:.200}')
    rest = {str(key): value for key, value in returned.items()}
    score = _plain(rest.pop("score"))
    private = rest.pop("private", {})
    known = {key: rest.pop(key) for key in ("detail", "data", "steps") if key in rest}
    return Outcome(score, **known, private={**private, **rest})


def _outcome_of_number(returned: object) -> Outcome:
    """The Outcome of a number; an error for one out of range says what scales it."""
    try:
        return Outcome(_plain(returned))
    except ScoreError as err:
        if not isinstance(returned, SupportsFloat) or not isfinite(returned):
            raise
        scaled = (
            "a function that was written for another range runs as it is in a stage with"
            " options = { scale = [lowest, highest] }, where an installed plugin has one:"
            " see `rlenv stages`"
        )
        raise ScoreError(f"{err}; {scaled}") from None


def _plain(score: object) -> object:
    """A bool as a number, numpy's included, which ``Outcome`` itself rejects."""
    return float(bool(score)) if type(score).__name__ in ("bool", "bool_") else score


def _innermost(function: Callable[..., object]) -> tuple[Callable[..., object], set[str]]:
    """What partials call, and the parameters that they have set by name."""
    names: set[str] = set()
    while isinstance(function, partial):
        names.update(function.keywords)
        function = function.func
    return function, names


def _signature_of(function: Callable[..., object]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        remedy = "wrap it in a function that names them, e.g. lambda response, answer: ..."
        lack = "tells no parameter names, so it cannot be given what it needs by name"
        raise ConfigError(f"{function!r:.80} {lack}: {remedy}") from None


def _required(parameter: inspect.Parameter) -> bool:
    variadic = (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.kind not in variadic


def _problems(
    stage: FunctionStage, wanted: list[inspect.Parameter], signature: inspect.Signature
) -> Iterator[str]:
    unknown = [p.name for p in wanted if _required(p) and p.name not in READERS]
    if unknown:
        yield _cannot_supply(stage, unknown, signature)
    if stage._takes_info and not any(p.kind is p.VAR_KEYWORD for p in wanted):
        yield 'kwargs = "info" is declared, and it takes no **kwargs'
    function = inspect.unwrap(_innermost(stage.function)[0])
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        yield "it is a generator; return one score for one response"
    returns = signature.return_annotation
    text = returns if isinstance(returns, str) else inspect.formatannotation(returns)
    if text.partition("[")[0].rpartition(".")[2] in _NO_SCORE:
        scores = 'a float or bool, an Outcome, or a mapping with "score"'
        yield f"it returns {text}; return one score for one response: {scores}"


def _cannot_supply(stage: FunctionStage, unknown: list[str], signature: inspect.Signature) -> str:
    asked = f"cannot supply {', '.join(unknown)}; a function may ask for {', '.join(READERS)}"
    name = {"lambda": "f"}.get(stage.name, stage.name)
    if call := remedy(name, stage.target, signature.parameters):
        return f"{asked}. {call}"
    renamed = [f"{it} is `{_SYNONYMS[it]}` here" for it in unknown if it in _SYNONYMS]
    others = "give the others a default, or read them from info"
    return "; ".join([asked, *renamed, others])


def closed_over(function: Any) -> Iterator[tuple[str, object]]:
    """The variables of a function that are another's, by name, less those without a value yet."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):
            yield name, cell.cell_contents
