"""Functions as stages: what a function asks for by name, and what its return value means."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from .errors import ConfigError
from .references import FileFunction
from .stages import ATTRIBUTES, DECLARED, METHODS, Attempt, attribute, name_problems, value_problems
from .values import Outcome, ScoreError

Reader: TypeAlias = Callable[[Attempt], object]

READERS: Mapping[str, Reader] = {
    "prompt": lambda attempt: attempt.task.prompt,
    "response": lambda attempt: attempt.response,
    "completion": lambda attempt: attempt.response,
    "visible": lambda attempt: attempt.visible,
    "answer": lambda attempt: attempt.task.answer,
    "info": lambda attempt: attempt.task.info,
    "task": lambda attempt: attempt.task,
    "trajectory": lambda attempt: attempt.trajectory,
    "attempt": lambda attempt: attempt,
}
# Trainers' signatures: parameters that tell each, and a wrapper that calls such a function ``{f}``.
_FOREIGN = {
    "verl": ({"solution_str", "ground_truth"}, 'lambda response, answer, info: {f}(data_source="", solution_str=response, ground_truth=answer, extra_info=info)'),
    "OpenRLHF": ({"queries", "labels"}, 'lambda prompt, response, answer: {f}([prompt + response], [prompt], [answer])["rewards"][0]'),
    "TRL": ({"completions"}, "lambda prompt, response, info: {f}(prompts=[prompt], completions=[response], **{{k: [v] for k, v in info.items()}})[0]"),
}  # fmt: skip
_NO_SCORE = ("list", "tuple", "set", "str", "bytes", "Iterator", "Generator",
             "Awaitable", "Coroutine", "Sequence", "Iterable", "None", "NoneType")  # fmt: skip
_OPTION_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class FunctionStage:
    """A function as a stage; it receives what its parameters name.

    Args:
        function: returns a float, a bool, an Outcome or a mapping with ``score``; plain or async.
        options: values of its other parameters.

    Raises:
        ConfigError: a parameter that cannot be supplied, a return annotation that is no score, or a
            declared attribute of a wrong value.
    """

    where = "worker"
    env: tuple[str, ...] = ()

    def __init__(
        self, function: Callable[..., object], options: Mapping[str, object] | None = None
    ) -> None:
        self.function = function
        self.options = dict(options or {})
        self.signature = _signature_of(function)
        declared = declared_by(function)
        problems = [*value_problems(declared), *_problems(self, declared)]
        if problems:
            raise ConfigError(*(f"{self.target}{self.signature}: {text}" for text in problems))
        vars(self).update(declared)
        parameters = self.signature.parameters.values()
        supplied = [p for p in parameters if p.name in READERS and p.name not in self.options]
        if "uses" not in declared and any(p.name == "answer" and _required(p) for p in supplied):
            self.uses = ("answer",)
        self._by_place = tuple(p.name for p in supplied if p.kind is p.POSITIONAL_ONLY)
        self._by_name = tuple(p.name for p in supplied if p.kind is not p.POSITIONAL_ONLY)
        self._takes_info = attribute(self, "kwargs") == "info"

    @property
    def target(self) -> str:
        """``module:name`` of the function."""
        function = inspect.unwrap(_innermost(self.function))
        name = getattr(function, "__qualname__", type(function).__qualname__)
        return f"{getattr(function, '__module__', None) or type(function).__module__}:{name}"

    def arguments(self, attempt: Attempt) -> tuple[list[object], dict[str, object]]:
        """What the function is called with."""
        named = {name: READERS[name](attempt) for name in self._by_name}
        if self.options:
            named.update(self.options)
        if self._takes_info:
            info = attempt.task.info
            named = {**{k: v for k, v in info.items() if k not in READERS}, **named}
        return [READERS[name](attempt) for name in self._by_place], named

    def check(self, attempt: Attempt) -> Any:
        by_place, named = self.arguments(attempt)
        return self.function(*by_place, **named)

    def __getstate__(self) -> dict[str, object]:
        """Without the signature: its annotations and defaults need not pickle."""
        return {name: value for name, value in vars(self).items() if name != "signature"}

    def __repr__(self) -> str:
        return f"FunctionStage({self.target})"


class AsyncFunctionStage(FunctionStage):
    """The same for ``async def``."""

    async def check(self, attempt: Attempt) -> Any:
        by_place, named = self.arguments(attempt)
        returned: Any = self.function(*by_place, **named)
        return await returned


def function_stage(
    function: Callable[..., object], options: Mapping[str, object] | None = None
) -> FunctionStage:
    """The stage that a function is.

    Raises:
        ConfigError: as ``FunctionStage`` does.
    """
    return (AsyncFunctionStage if _is_async(function) else FunctionStage)(function, options)


def _is_async(function: Callable[..., object]) -> bool:
    inner = _innermost(function)
    if isinstance(inner, FileFunction):
        return inner.is_async
    called = inner if inspect.isroutine(inner) else type(inner).__call__
    return inspect.iscoroutinefunction(inspect.unwrap(called))


def as_stage(verifier: object) -> Any:
    """A stage from what a user passes as one: a stage itself, a composite, or any callable.

    Raises:
        ConfigError: for what is neither, and for a class instead of an object.
    """
    from .composites import Composite

    if isinstance(verifier, type):
        raise ConfigError(
            f"{verifier.__name__} is a class, not a stage: build it, {verifier.__name__}(...)"
        )
    if isinstance(verifier, Composite) or any(hasattr(verifier, name) for name in METHODS[:2]):
        return verifier
    if callable(verifier):
        return function_stage(verifier)
    raise ConfigError(
        f"{verifier!r:.80} ({type(verifier).__name__}) is not a stage: it is not callable and has neither "
        "check(attempt) nor check_group(attempts)"
    )


def as_slots(verifiers: Iterable[object]) -> Iterator[Any]:
    """Slots from a sequence of slots, stages and functions; what has no name gets one.

    A name is that of the function or class, with -2, -3 where it is taken.
    """
    from itertools import count

    from .composites import Slot

    members = list(verifiers)
    taken = {member.name for member in members if isinstance(member, Slot)}
    for member in members:
        if isinstance(member, Slot):
            yield member
            continue
        found = as_stage(member)
        name = _name_of(found)
        numbered = (f"{name}-{n}" if n > 1 else name for n in count(1))
        name = next(free for free in numbered if free not in taken)
        taken.add(name)
        yield Slot(name, found)


def _name_of(found: Any) -> str:
    if isinstance(found, FunctionStage):
        return found.target.rpartition(":")[2].rpartition(".")[2].strip("<>")
    return str(getattr(found, "name", None) or type(found).__name__).lower().replace("/", "-")


def declared_by(function: Any) -> dict[str, Any]:
    """What ``@stage`` declared on a function, or the class of a callable object as attributes."""
    inner = _innermost(function)
    own = getattr(inner, DECLARED, None)
    if own is None and not inspect.isroutine(inner):
        cls = type(inner)
        names = {
            name: value for base in reversed(cls.__mro__[:-1]) for name, value in vars(base).items()
        }
        if problems := list(name_problems(names)):
            raise ConfigError(*(f"{cls.__name__}: {text}" for text in problems))
        return {name: getattr(inner, name) for name in ATTRIBUTES if name in names}
    return dict(own or {})


def outcome_of(returned: object) -> Outcome:
    """The Outcome that a stage's return value stands for: a number, a bool, or a mapping with ``score``.

    Other keys of the mapping than those of an Outcome become private data, since they may hold the answer.

    Raises:
        ScoreError: for anything else.
    """
    if isinstance(returned, Mapping):
        if "score" not in returned:
            raise ScoreError(
                f'a mapping needs the key "score"; it has {sorted(map(str, returned))!r:.200}'
            )
        known = {key: returned[key] for key in ("detail", "data", "steps") if key in returned}
        rest = {str(k): v for k, v in returned.items() if k != "score" and k not in known}
        private = rest.pop("private", {})
        return Outcome(_plain(returned["score"]), **known, private={**private, **rest})
    return Outcome(_plain(returned))


def _plain(score: Any) -> Any:
    """A bool as a number, numpy's included, which ``Outcome`` itself rejects."""
    return float(score) if type(score).__name__ in ("bool", "bool_") else score


def _innermost(function: Any) -> Any:
    """What a partial calls."""
    while hasattr(function, "func") and hasattr(function, "keywords"):
        function = function.func
    return function


def _signature_of(function: Callable[..., object]) -> inspect.Signature:
    if isinstance(function, FileFunction):
        return function.signature
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise ConfigError(
            f"{function!r:.80} tells no parameter names, so it cannot be given what it needs by name: "
            "wrap it in a function that names them, e.g. lambda response, answer: ..."
        ) from None


def _required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def _problems(stage: FunctionStage, declared: Mapping[str, object]) -> Iterator[str]:
    parameters = stage.signature.parameters
    named = [p for p in parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    unknown = [
        p.name
        for p in named
        if _required(p) and p.name not in READERS and p.name not in stage.options
    ]
    if unknown:
        yield _cannot_supply(stage, unknown)
    allowed = {p.name for p in named if p.kind in _OPTION_KINDS}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for option in stage.options:
        if option not in allowed and not takes_any:
            yield f'it has no parameter "{option}", which options set'
    if "kwargs" in declared and declared["kwargs"] and not takes_any:
        yield 'kwargs = "info" is declared, and it takes no **kwargs'
    yield from _return_problems(stage)


def _return_problems(stage: FunctionStage) -> Iterator[str]:
    function = inspect.unwrap(_innermost(stage.function))
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        yield "it is a generator; return one score for one response"
    annotation = stage.signature.return_annotation
    text = annotation if isinstance(annotation, str) else _words(annotation)
    if text.partition("[")[0].rpartition(".")[2] in _NO_SCORE:
        yield (
            f"it returns {text}; return one score for one response: a float or bool, an Outcome, or "
            'a mapping with "score"'
        )


def _words(annotation: object) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    plain = isinstance(annotation, type) and not getattr(annotation, "__args__", None)
    return annotation.__name__ if plain else str(annotation)  # type: ignore[attr-defined]


def _cannot_supply(stage: FunctionStage, unknown: list[str]) -> str:
    names = ", ".join(unknown)
    asked = f"cannot supply {names}; a function may ask for {', '.join(READERS)}"
    every = set(stage.signature.parameters)
    name = stage.target.rpartition(":")[2].rpartition(".")[2].replace("<lambda>", "f")
    for trainer, (marks, wrapper) in _FOREIGN.items():
        if marks <= every:
            return f"{asked}. This is {trainer}'s signature: pass {wrapper.format(f=name)}"
    return f"{asked}; give the others a default, or read them from info"


def describe(stage: FunctionStage) -> list[object]:
    """What makes a function's scores, beside the module it is defined in: for the fingerprint."""
    declared = {name: getattr(stage, name) for name in ATTRIBUTES if hasattr(stage, name)}
    return [stage.options, declared, _makeup(stage.function)]


def _makeup(function: Any) -> object:
    if hasattr(function, "func") and hasattr(function, "keywords"):
        return [function.args, function.keywords, _makeup(function.func)]
    if isinstance(function, FileFunction):
        return function.sha256
    code = getattr(function, "__code__", None)
    if code is None:
        return vars(function) if hasattr(function, "__dict__") else ""
    closed = inspect.getclosurevars(function).nonlocals
    return [closed, "" if os.path.isfile(code.co_filename) else repr(_parts(code))]


def _parts(code: Any) -> tuple[object, ...]:
    constants = [
        _parts(c) if inspect.iscode(c) else sorted(map(repr, c)) if isinstance(c, frozenset) else c
        for c in code.co_consts
    ]
    return (code.co_code, constants, code.co_names, code.co_varnames)
