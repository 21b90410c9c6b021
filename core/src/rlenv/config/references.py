"""What ``use = "package.module:name"`` and ``use = "./file.py:name"`` refer to.

A module is imported here, from the interpreter's own path.  A file is only read here, for the
signature; it is imported in the process that runs the function.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, cast

from rlenv.compose.functions import FileCode
from rlenv.compose.stages import DECLARED, check_declared
from rlenv.identity.reads import hashes_in
from rlenv.model.errors import ConfigError
from rlenv.model.messages import no_such_file, suggest

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FORMS = "package.module:name or ./file.py:name"


def refer(use: str, base: str | os.PathLike[str]) -> Any:
    """The function, class or stage that ``use`` names; files are relative to ``base``.

    Raises:
        ConfigError: it is not there, does not import, or is not one that may be named.
    """
    place, _, name = use.partition(":")
    if not name.isidentifier():
        lack = f'the part after ":" is one name, not "{name}"' if name else "name a function"
        raise ConfigError(f"write {FORMS}; {lack}")
    if place.endswith(".py") or "/" in place or "\\" in place:
        return FileFunction(_inside(place, base), place, name)
    if not all(part.replace("-", "_").isidentifier() for part in place.split(".")):
        raise ConfigError(f'write {FORMS}; "{place}" is not the name of a module')
    return _of_module(place, name)


def _of_module(module: str, name: str) -> object:
    from importlib import import_module

    top, _, last = module.rpartition(".")
    if (top or module).partition(".")[0] in sys.stdlib_module_names:
        raise ConfigError(f'"{module}" is a module of the standard library, which has no verifiers')
    try:
        found = vars(import_module(module))
    except (Exception, SystemExit) as error:
        where = ""
        if isinstance(error, ModuleNotFoundError):
            remedy = f"install it, or name a file next to the env.toml, ./{last}.py:{name}"
            where = (
                "; modules are looked up on Python's own path, not in the working directory:"
                f" {remedy}"
            )
        raise ConfigError(f"{module}: {type(error).__name__}: {error}{where}") from error
    if name not in found:
        names = [n for n, value in found.items() if callable(value) and not n.startswith("_")]
        raise ConfigError(f'{module} has no "{name}"; {suggest(name, names, what="it has")}')
    return found[name]


def _inside(place: str, base: str | os.PathLike[str]) -> Path:
    """The file, which lies in the folder of the env.toml, symbolic links followed."""
    if not place.startswith("./") or ".." in Path(place).parts or "\\" in place:
        wanted = "a file is written ./file.py:name, in the folder of the env.toml"
        raise ConfigError(f'{wanted}, not "{place}"')
    root = Path(base).resolve()
    path = root / place
    if not os.path.isfile(path):  # also of a name that no file can have
        why = "it is not a file" if os.path.exists(path) else no_such_file(path)
        raise ConfigError(f"{place}: {why}")
    if not path.resolve().is_relative_to(root):
        raise ConfigError(f"{place} leads out of the folder of the env.toml, which is not allowed")
    return path


class FileFunction(FileCode):
    """A function in a file.

    The file is imported when it is first called, in the process that calls it.

    Args:
        path: the file.
        written: the path as the env.toml has it.
        name: the function.

    Attributes:
        sha256: of the content of the file.
        reads: the same of each file that it declares to read, by the path as it is written.

    Raises:
        ConfigError: the file is not valid Python, has no such function at its top level, or
            declares to read a file that is not there.
    """

    def __init__(self, path: Path, written: str, name: str) -> None:
        self.path = path
        self.written = written
        self.__module__ = written
        self.__qualname__ = name
        source = path.read_bytes()
        self.sha256 = hashlib.sha256(source).hexdigest()
        definition = self._definition(source)
        self.is_async = isinstance(definition, ast.AsyncFunctionDef)
        self.__signature__ = _signature(definition)
        declared = _declared(definition, written)
        setattr(self, DECLARED, declared)
        reads: Any = declared.get("reads", ())
        self.reads = hashes_in(path.resolve().parent, tuple(reads))

    def __rlenv_state__(self) -> object:
        return [self.sha256, self.__qualname__, self.reads]

    def _definition(self, source: bytes) -> Definition:
        name = self.__qualname__
        where = self.written
        found = _top_level(source, where)
        definition = found.get(name)
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return definition
        if definition is not None:
            advice = f"name a function, or install the module and name package.module:{name}"
            raise ConfigError(f"{where}: {name} is a class; {advice}")
        hint = suggest(name, found, what="it has")
        raise ConfigError(f'{where} defines no function "{name}" at its top level; {hint}')

    def load(self) -> Callable[..., object]:
        """The function itself; runs the file, once a process, and writes no bytecode next to it.

        Raises:
            ConfigError: the file, or one that it reads, changed since the environment was made, or
                it defines something else.
            Exception: whatever the file raises.
        """
        function = getattr(_module_of(self.path, self.sha256), self.__qualname__, None)
        folder = self.path.resolve().parent
        if self.reads and hashes_in(folder, tuple(self.reads)) != self.reads:
            changed = ", ".join(self.reads)
            raise ConfigError(
                f"{changed}: a file has changed since the environment was made: make it again"
            )
        if not callable(function):
            raise ConfigError(f"{self.written} leaves no function {self.__qualname__} behind")
        if getattr(function, DECLARED, {}) != getattr(self, DECLARED):
            how = f"{self.__qualname__} is declared by other means than @stage(...) above it"
            raise ConfigError(f"{self.written}: {how}, which is all that the caller reads")
        return cast("Callable[..., object]", function)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.load()(*args, **kwargs)


@lru_cache(maxsize=8)
def _top_level(source: bytes, written: str) -> dict[str, ast.AST]:
    """What a file defines, by name; an env.toml may name hundreds of functions of one file.

    Raises:
        ConfigError: it is not valid Python.
    """
    try:
        compile(source, written, "exec", dont_inherit=True)  # finds more than ast.parse does
        body = ast.parse(source, written).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # Python 3.13 says "Parser stack overflowed", as a MemoryError
        deep = isinstance(error, (RecursionError, MemoryError))
        why = "it is nested too deep" if deep else str(error)
        raise ConfigError(f"{written} is not valid Python: {why}") from None
    found: dict[str, ast.AST] = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            found.update({t.id: node.value for t in node.targets if isinstance(t, ast.Name)})
    return found


def import_file(function: FileFunction) -> None:
    """In a worker: import its file."""
    function.load()


@cache
def _module_of(path: Path, sha256: str) -> ModuleType:
    """What the file defines; also in ``sys.modules``, where its classes look for themselves."""
    source = path.read_bytes()
    if hashlib.sha256(source).hexdigest() != sha256:
        raise ConfigError(f"{path.name} has changed since the environment was made: make it again")
    module = ModuleType(f"rlenv_file_{sha256[:16]}_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(source, path, "exec"), vars(module))  # noqa: S102 - the file is the verifier
    return module


def _signature(node: Definition) -> inspect.Signature:
    """The parameters as the source has them; defaults and their annotations are not evaluated."""
    spec = deepcopy(node.args)  # other references to the function read the same tree
    unknown = ast.Constant(...)
    for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg):
        if each is not None:
            each.annotation = None
    spec.defaults = [unknown for _ in spec.defaults]
    spec.kw_defaults = [default and unknown for default in spec.kw_defaults]
    stub = ast.fix_missing_locations(ast.Expression(ast.Lambda(spec, unknown)))
    signature = inspect.signature(eval(compile(stub, "signature", "eval")))  # noqa: S307 - names only
    returns = getattr(node, "returns", None)
    return signature.replace(return_annotation=ast.unparse(returns)) if returns else signature


def _declared(node: ast.AST, written: str) -> dict[str, object]:
    """The arguments of ``@stage(...)``, which are read as literals, since the file is not imported
    here.
    """
    declared: dict[str, object] = {}
    for call in getattr(node, "decorator_list", ()):
        name = ast.unparse(call.func if isinstance(call, ast.Call) else call).rpartition(".")[2]
        if name != "stage" or not isinstance(call, ast.Call):
            continue
        for argument in call.keywords:
            try:
                declared[str(argument.arg)] = ast.literal_eval(argument.value)
            except ValueError:
                only = "in a file that an env.toml names, arguments are literals"
                where = f"{written}:{argument.value.lineno}: @stage({ast.unparse(argument)})"
                raise ConfigError(f"{where}: {only}; install the module to use others") from None
    check_declared(declared)
    return declared
