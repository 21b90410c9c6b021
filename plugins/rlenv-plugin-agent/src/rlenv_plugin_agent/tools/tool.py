"""``Tool``: a function that a policy may call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property, partial
from hashlib import sha256
from typing import Literal, Protocol, TypeAlias, TypedDict, Unpack, overload, runtime_checkable

from attrs import field, frozen, validators
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.validators import extend  # type: ignore[import-untyped]
from referencing import Registry
from rlenv import ConfigError
from rlenv.authoring import FileFunction, code_of, dumps, makeup

from .schema import context_of, parameters, summary

Function: TypeAlias = Callable[..., object]
Where: TypeAlias = Literal["thread", "caller", "inline"]
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")  # as the endpoints of models want it


def _safe_keyword(name: str) -> Callable[..., Iterable[object]]:
    """Return a keyword of JSON Schema, less what takes for ever for arguments that a policy
    chooses: patterns and uniqueness.
    """
    own = Draft202012Validator.VALIDATORS[name]
    return lambda *given: () if {*UNCHECKED} & {name, *given[3]} else own(*given)


UNCHECKED = ("pattern", "patternProperties", "uniqueItems")
BOUNDED = (*UNCHECKED, "additionalProperties", "unevaluatedProperties")
KINDS: Mapping[object, type] = {"string": str, "integer": int, "number": float, "boolean": bool}
OBJECT = {"type", "properties", "required", "additionalProperties"}
SAID = {"type", "description", "default"}
VALIDATOR = extend(Draft202012Validator, {name: _safe_keyword(name) for name in BOUNDED})


def _seconds(tool: Tool, _: object, timeout: float) -> None:
    if isinstance(timeout, bool) or not 0 < timeout <= 3600:
        raise ConfigError(f"tool {tool.name}: timeout is in (0, 3600] seconds, not {timeout!r}")


def _where(tool: Tool, _: object, where: str) -> None:
    fitting = ("thread", "caller") if tool.is_async else ("thread", "inline")
    if where not in fitting:
        told = f"{' or '.join(fitting)} for {'an async' if tool.is_async else 'a plain'} tool"
        raise ConfigError(f"tool {tool.name}: where is {told}, not {where!r:.40}")


def _roles(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not all(map(NAME.fullmatch, given)):
        raise ConfigError(f"roles are a list of names, not {given!r:.80}")
    return tuple(given)


def is_async(function: Function) -> bool:
    """Return whether calling it gives a coroutine; also of an object that is called."""
    return any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))  # noqa: B004 - not whether, but what it is


@frozen
class Tool:
    """A function with what a policy is told of it.

    Args:
        function: sync or async, with annotated parameters. It returns a string, or a value of JSON.
        name: what the policy calls it.
        description: what the policy reads.
        parameters: a JSON Schema of its arguments, an object.
        timeout: wall seconds of one call, in (0, 3600].
        category: the kind of tool, for reports.
        context: its parameter that is given the ``ToolContext``, if any.
        deterministic: equal arguments in an equal state give equal results.
        stateful: a call may change what later calls return, or depends on what the episode holds.
        roles: who may call it; empty is everyone. A call of another role is answered with an error.
        where: "thread": a plain function in a thread, and an async one on an event loop in another
            thread; "caller": an async one on the loop of the episode, which it must not block;
            "inline": a plain one on that loop, without a time limit, for what takes microseconds
            and cannot hang.
        code: a hash of the function's code, for the fingerprint of the environment.
    """

    function: Function = field(repr=False)
    name: str
    description: str = ""
    parameters: Mapping[str, object] = field(factory=dict, repr=False, hash=False)
    timeout: float = field(default=10.0, validator=_seconds)
    category: str = field(default="function", validator=validators.instance_of(str))
    context: str = field(default="", repr=False)
    deterministic: bool = field(default=False, kw_only=True)
    stateful: bool = field(default=False, kw_only=True)
    roles: Sequence[str] = field(default=(), converter=_roles, kw_only=True)
    where: Where = field(kw_only=True, validator=_where)
    code: str = field(init=False)

    @where.default
    def _own_place(self) -> Where:
        return "caller" if self.is_async else "thread"

    @code.default
    def _code(self) -> str:
        return hash_of(self.function)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.function(*args, **kwargs)

    @property
    def offered(self) -> dict[str, object]:
        """Return the tool as endpoints of models take it."""
        told = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": told}

    def show(self) -> str:
        """Describe the tool for ``rlenv show``."""
        return f"{self.name}: {self.description.partition(chr(10))[0]}"

    @cached_property
    def is_async(self) -> bool:
        return is_async(self.function)

    @cached_property
    def _validator(self) -> Draft202012Validator:
        # An empty registry: a "$ref" of a schema from elsewhere is never fetched.
        return VALIDATOR(self.parameters, registry=Registry())

    @cached_property
    def _kinds(self) -> Mapping[str, type]:
        """Return the types of the parameters that have no other rule."""
        told = self.parameters.get("properties") if self.parameters.keys() == OBJECT else None
        known = told if isinstance(told, dict) else {}
        plain = {
            name: each["type"] for name, each in known.items() if {"type"} <= each.keys() <= SAID
        }
        return {name: KINDS[kind] for name, kind in plain.items() if kind in KINDS}

    def _surely_fit(self, arguments: object) -> bool:
        """Return whether types are all that there is to check, and are right: the validator takes
        longer than most tools.
        """
        if not isinstance(arguments, dict) or not arguments or not self._kinds:
            return False
        typed = all(type(each) is self._kinds.get(name) for name, each in arguments.items())
        return typed and {*self.parameters["required"]} <= arguments.keys()  # type: ignore[misc] # names

    def problem(self, arguments: object) -> str:
        """Return what is wrong with the arguments, "" when nothing."""
        if self._surely_fit(arguments):
            return ""
        errors = self._validator.iter_errors(arguments)
        said = [
            f"{'.'.join(map(str, e.absolute_path)) or 'arguments'}: {e.message:.200}"
            for _, e in zip(range(5), errors, strict=False)
        ]
        return "; ".join(said)


def hash_of(function: Function) -> str:
    """Return a hash of the function's code, for fingerprints; of the whole file for one of a
    file.
    """
    if isinstance(function, FileFunction):
        return function.sha256
    return sha256(dumps([makeup(function), code_of([function])]).encode()).hexdigest()


class Settings(TypedDict, total=False):
    """Options that ``tool`` takes besides a name."""

    timeout: float
    category: str
    deterministic: bool
    stateful: bool
    roles: Sequence[str]
    where: Where


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(*, name: str = ..., **settings: Unpack[Settings]) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None, /, *, name: str = "", **settings: Unpack[Settings]
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a typed function; as a decorator, with or without arguments.

    Example:
        @tool(timeout=2.0, deterministic=True)
        def multiply(a: float, b: float) -> float:
            "Multiply two numbers."
            return a * b

    Args:
        function: its annotations and its Google docstring say what the policy is told; a bound
            method works as well.
        name: what the policy calls it; the function's own by default.
        timeout: wall seconds of one call.
        category: the kind of tool, for reports.
        deterministic: equal arguments in an equal state give equal results.
        stateful: a call depends on what the episode holds, or changes it; so by default where it
            takes a ToolContext.
        roles: who may call it; empty is everyone.
        where: see ``Tool``; an async function with a ToolContext runs on the loop of the episode by
            default, any other in a thread.

    Raises:
        ConfigError: for a parameter without an annotation that JSON has a type for, or a name that
            models reject.
    """
    if function is None:
        return partial(tool, name=name, **settings)
    called = name or getattr(function, "__name__", "")
    if not NAME.fullmatch(called):
        rule = "up to 64 letters, digits, _ and -; pass name="
        raise ConfigError(f"{called!r:.80} is not a name of a tool: {rule}")
    try:
        made = parameters(function)
        context = context_of(function)
    except ConfigError as error:
        raise ConfigError(f"tool {called}: {error}") from error
    settings.setdefault("stateful", bool(context))
    settings.setdefault("where", "caller" if context and is_async(function) else "thread")
    return Tool(function, called, summary(function), made, context=context, **settings)


@frozen
class FunctionRef:
    """A function with what identifies it; one of a file is imported when it is first needed.

    Args:
        function: of a file of an env.toml, or any other.
        written: as the env.toml has it.
        code: a hash of its code, for the fingerprint of the environment.
    """

    function: Function = field(repr=False)
    written: str
    code: str

    @classmethod
    def of(cls, function: Function) -> FunctionRef:
        """Make one of a function.

        Args:
            function: any, or one of these already, which is returned.
        """
        if isinstance(function, cls):
            return function
        name = f"{function.__module__}:{getattr(function, '__qualname__', type(function).__name__)}"
        return cls(function, name, hash_of(function))

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.implementation(*args, **kwargs)

    @property
    def implementation(self) -> Function:
        """Return the function itself.

        Raises:
            Exception: whatever its file raises.
        """
        return self.function.load() if isinstance(self.function, FileFunction) else self.function


def as_tool(found: Function) -> Tool | FunctionRef:
    """Return a tool, or a function as one; one of a file is not imported.

    Raises:
        ConfigError: the function cannot be a tool.
    """
    if isinstance(found, (Tool, FunctionRef)):
        return found
    return FunctionRef.of(found) if isinstance(found, FileFunction) else tool(found)


def tools_by_name(found: Iterable[Function]) -> dict[str, Tool]:
    """Return tools by name.

    Raises:
        ConfigError: where two have one name.
        Exception: whatever the file of a tool raises.
    """
    made: dict[str, Tool] = {}
    for each in found:
        one = as_tool(each.implementation if isinstance(each, FunctionRef) else each)
        assert isinstance(one, Tool)
        if one.name in made:
            raise ConfigError(f"two tools are called {one.name}; give one of them another name")
        made[one.name] = one
    return made


@runtime_checkable
class ToolSource(Protocol):
    """A table of an env.toml with tools, as ``[mcp]`` and ``[skills]``; one with one tool may be
    that tool.
    """

    async def open_tools(self, stack: AsyncExitStack) -> Sequence[Tool]:
        """Open its tools for one episode.

        Args:
            stack: takes what is to be closed when the policy has made its last call, before the
                stages judge.

        Raises:
            ConfigError: its configuration is wrong, for every episode.
            EpisodeError: it cannot give them now.
        """


async def open_tools(
    tables: Mapping[str, object], taken: Collection[str], stack: AsyncExitStack
) -> dict[str, Tool]:
    """Open the tools of all tables that have some, by name.

    Args:
        tables: of the environment.
        taken: names of other tools, which these may not have.
        stack: as for ``ToolSource.open_tools``.

    Raises:
        ConfigError: a name is taken, or as ``ToolSource.open_tools``.
        EpisodeError: as there.
    """
    found = dict[str, Tool]()
    for table, source in tables.items():
        if isinstance(source, (Tool, ToolSource)):
            for tool in [source] if isinstance(source, Tool) else await source.open_tools(stack):
                if tool.name in taken or tool.name in found:
                    raise ConfigError(
                        f"[{table}] has a tool {tool.name}, and there is one of this name already;"
                        " give a server a prefix, or leave one of them out"
                    )
                found[tool.name] = tool
    return found
