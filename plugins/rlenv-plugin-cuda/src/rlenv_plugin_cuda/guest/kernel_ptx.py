"""numba kernels as PTX, inside the sandbox: numba lowers them, libNVVM makes PTX of it.

{"do": "numba", "source": …, "cases": [[["f4", [257], null], ["scalar", null, 1.0], …], …], "cc":
[9, 0]} -> {"kernels": [{"name": …, "registers": most or null}, …]} and the PTX of each ->
{"refused": text, "line": n}
"""

from __future__ import annotations

import ast
import builtins
import math
import sys
from importlib import import_module

import kernel_rules
from kernel_numba import aimed, numba
from kernel_played import Wrong, dry_run
from kernel_rewrite import FILE
from kernel_wire import Broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["answered", "rehearse"]

PTX_BYTES = 8 << 20
MOST_REGISTERS = 255  # of a thread, whatever is asked for
_FLAGS = ("fastmath", "inline", "opt", "debug", "lineinfo")
_NOISE = ("File ", "This error", "Traceback", "https:", "For more", "During:", "<source")
_SMALL = """
import math
from numba import cuda, float32
@cuda.jit(device=True)
def f(x):
    return math.sin(x) + float32(1.0)
@cuda.jit
def k(a, o, c):
    s = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    s[cuda.threadIdx.y, cuda.threadIdx.x] = 0.0
    cuda.syncthreads()
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    acc = float32(0.0)
    for j in range(a.shape[0] // 2):
        acc += max(s[0, j % 16], a[j]) * c
    if i < o.size:
        o[i] = f(acc)
        cuda.atomic.add(o, 0, acc)
def run(a, c, o):
    k[(a.size + 15) // 16, 16](a, o, c)
"""


def answered(order: dict[str, Any], *, full: bool = False) -> tuple[dict[str, Any], list[bytes]]:
    """See the module; ``full`` adds the launches of each case as "plans".

    Raises:
        Broken: numba, or what it needs, does not work here.
    """
    sys.setrecursionlimit(10_000)
    try:
        answer = kernel_rules.read(order["source"])
        cuda = aimed(order["cc"])
        space = _space(answer, cuda)
        host = dry_run(answer, space, order["cases"], lambda full: _thing(full, cuda), full=full)
        head, parts = _compiled(answer, space, list(host.asked), tuple(order["cc"]))
        return {**head, "plans": host.plans} if full else head, parts
    except kernel_rules.Refused as refused:
        return {"refused": refused.said[:300], "line": refused.line}, []
    except Wrong as wrong:
        return {"refused": wrong.said[:300], "line": wrong.line}, []


def rehearse() -> None:
    """Import numba, load libNVVM, and use both once.

    Raises:
        Broken: as ``answered``.
    """
    case = [["f4", [33], None], ["scalar", None, 1.0], ["f4", [33], None]]
    head, _ = answered({"source": _SMALL, "cases": [case], "cc": [9, 0]})
    if "refused" in head:
        raise Broken(head["refused"])


def _space(answer: Any, cuda: Any) -> dict[str, Any]:
    """The globals of the kernels: modules, constants, and all functions but ``run``, as numba takes
    them.
    """
    space: dict[str, Any] = {"__builtins__": builtins, "__name__": "answer"}
    for name, full in answer.modules.items():
        space[name] = _thing(full, cuda)
    for name, value in answer.constants.items():
        space[name] = _evaluated(value, space)
    for function in answer.functions.values():
        if function.role != "plan":
            made = _defined(function.node, space)
            device = function.role == "device"
            space[function.name] = cuda.jit(device=device, **_options(function))(made)
    return space


def _defined(node: ast.FunctionDef, space: dict[str, object]) -> Any:
    """A function without its decorators and annotations, on these globals; nothing of it is run.

    Raises:
        Wrong: Python does not compile it.
    """
    more: dict[str, Any] = {"type_params": []} if hasattr(node, "type_params") else {}
    names = [ast.copy_location(ast.arg(argument.arg), argument) for argument in node.args.args]
    arguments = ast.arguments(
        posonlyargs=[],
        args=names,
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    bare = ast.FunctionDef(
        name=node.name,
        args=arguments,
        body=node.body,
        decorator_list=[],
        returns=None,
        type_comment=None,
        **more,
    )
    module = ast.Module([ast.copy_location(bare, node)], [])
    try:
        exec(compile(ast.fix_missing_locations(module), FILE, "exec"), space)  # noqa: S102 - keeps the rules
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Wrong(f"no Python: {type(error).__name__}", node.lineno) from None
    return space[node.name]


def _thing(full: str, cuda: object) -> Any:
    """What a dotted name of the rules means."""
    module, _, rest = full.partition(".")
    known = {"cuda": cuda, "math": math, "numpy": import_module("numpy"), "numba": numba()}
    thing: Any = known[module]
    for name in rest.split(".") if rest else ():
        instead = getattr(known["numba"].types, name, None) if module == "numba" else None
        thing = getattr(thing, name, instead)
        if thing is None:
            raise Wrong(f"there is no `{full}` here")
    return thing


def _evaluated(node: ast.expr, space: dict[str, object]) -> Any:
    code = compile(ast.fix_missing_locations(ast.Expression(node)), FILE, "eval")
    try:
        return eval(code, {**space, "__builtins__": {}})  # noqa: S307 - arithmetic, as the rules have it
    except Exception as error:  # noqa: BLE001 - whatever a constant may raise
        raise Wrong(f"a constant: {type(error).__name__}", node.lineno) from None


def _decorated(function: Any) -> dict[str, Any]:
    """What ``@cuda.jit(…)`` was given."""
    decorator = function.node.decorator_list[0]
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return {k.arg: k.value.value for k in keywords if k.arg and isinstance(k.value, ast.Constant)}


def _options(function: object) -> dict[str, bool]:
    given = _decorated(function)
    return {name: bool(given[name]) for name in _FLAGS if name in given}


def _compiled(
    answer: Any,
    space: dict[str, Any],
    asked: Sequence[tuple[str, tuple[Any, ...]]],
    capability: tuple[int, ...],
) -> tuple[dict[str, Any], list[bytes]]:
    found = []
    parts = []
    for name, given in asked:
        function = answer.functions[name]
        parts.append(_ptx(function, space[name].py_func, given, capability).encode())
        most = _decorated(function).get("max_registers")
        bound = min(int(most), MOST_REGISTERS) if isinstance(most, int) and most > 0 else None
        found.append({"name": name, "registers": bound})
        if sum(map(len, parts)) > PTX_BYTES:
            raise Wrong(f"more than {PTX_BYTES >> 20} MiB of PTX")
    return {"kernels": found}, parts


def _ptx(function: Any, python: Any, given: tuple[Any, ...], capability: tuple[int, ...]) -> str:
    line = function.node.lineno
    if len(given) != len(function.parameters):
        said = (
            f"{function.name} takes {len(function.parameters)} arguments, and is given {len(given)}"
        )
        raise Wrong(said, line)
    options = {name: on for name, on in _options(function).items() if name != "inline"}
    errors = import_module("numba.core.errors")
    try:
        ptx, _ = import_module("numba.cuda").compile_ptx(python, given, cc=capability, **options)
    except errors.NumbaError as error:
        raise Wrong(_told(error), _place(error, line)) from None
    except Exception as error:  # noqa: BLE001 - numba and libNVVM raise many things
        raise Wrong(f"{function.name} cannot be compiled: {type(error).__name__}", line) from None
    return str(ptx)


def _told(error: Exception) -> str:
    """The lines of numba's message that say something, without paths."""
    kept = []
    for line in str(error).splitlines():
        text = line.strip()
        if text and not text.startswith(_NOISE) and not set(text) <= set("^- ") and "/" not in text:
            kept.append(text)
    return "numba: " + " ".join(kept)[:250]


def _place(error: Exception, otherwise: int) -> int:
    line = getattr(getattr(error, "loc", None), "line", None)
    return line if type(line) is int and line > 0 else otherwise
