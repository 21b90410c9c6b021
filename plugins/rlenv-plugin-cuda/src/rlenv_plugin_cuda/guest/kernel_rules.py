"""What an answer may say: kernels and device functions, constants, and a plan of launches.

All else is rejected, with the line and the reason.

Allowed are names, numbers and what the tables of ``kernel_words`` list; nothing reaches an
attribute, a function or a module that has no place in them, so there is no way from a kernel to the
interpreter that runs it.
"""

from __future__ import annotations

import ast
import re

TYPE_CHECKING = False
if TYPE_CHECKING or not __package__:  # in a sandbox there is no package
    from kernel_body import Body
    from kernel_tidy import Untidy, tidied
    from kernel_usual import usual
    from kernel_words import (
        BARRIERS,
        BUILTINS,
        CALLS,
        DTYPES,
        FACTS,
        HOST,
        INDICES,
        JIT,
        MATH,
        MODULES,
        NUMBERS,
        SOURCE_BYTES,
        WARP,
        Answer,
        Function,
        Refused,
        bare,
        known,
        made,
        number,
        plain,
        shortened,
        what,
    )
else:
    from .kernel_body import Body
    from .kernel_tidy import Untidy, tidied
    from .kernel_usual import usual
    from .kernel_words import *  # noqa: F403 - the same names

__all__ = [
    "BARRIERS", "CALLS", "DTYPES", "FACTS", "HOST", "INDICES", "MATH", "NUMBERS", "WARP", "Answer",
    "Function", "Refused", "read",
]  # fmt: skip


SIGNATURE = re.compile(r"[A-Za-z0-9_ ,.:()\[\]]*")


def read(source: str) -> Answer:
    """Read a program and check it against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    if len(source.encode("utf-8", "surrogatepass")) > SOURCE_BYTES:
        raise Refused(1, f"the program is longer than {SOURCE_BYTES} bytes")
    try:
        tree = ast.parse(source)
    except SyntaxError as err:
        raise Refused(err.lineno or 1, f"no Python: {err.msg}") from None
    except (ValueError, RecursionError, MemoryError) as err:
        raise Refused(1, f"no Python that can be read: {type(err).__name__}") from None
    try:
        tree = usual(tidied(tree))
    except Untidy as err:
        raise Refused(err.line, err.said) from None
    except RecursionError:
        raise Refused(1, "it is nested too deeply") from None
    answer = Answer()
    for place, node in enumerate(tree.body):
        _top(answer, node, first=place == 0)
    plan = answer.functions.get("run")
    if plan is None or plan.role != "plan":
        raise Refused(1, "there is no function `run(*inputs, *outputs)` that launches the kernels")
    for function in answer.functions.values():
        Body(answer, function).check()
    _no_recursion(answer)
    return answer


def _top(answer: Answer, node: ast.stmt, *, first: bool) -> None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        _imported(answer, node)
    elif isinstance(node, ast.FunctionDef):
        function = Function(node, _role(answer, node))
        _fresh(answer, node.name, node.lineno)
        _signature(node)
        answer.functions[node.name] = function
    elif isinstance(node, ast.Assign):
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            raise Refused(node.lineno, "a constant is given to one name")
        name = node.targets[0].id
        _fresh(answer, name, node.lineno)
        _constant(answer, node.value)
        answer.constants[name] = node.value
    elif not (first and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        raise Refused(
            node.lineno,
            f"{what(node)} at the top: only imports, constants, kernels and `run` are allowed",
        )


def _imported(answer: Answer, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            full = alias.name
            name = alias.asname or alias.name.split(".")[0]
            meant = MODULES.get(full, "") if alias.asname else MODULES.get(name, "")
            allowed = full in MODULES and bool(meant)
        else:
            full = f"{node.module}.{alias.name}"
            name = alias.asname or alias.name
            meant = MODULES.get(full, shortened(full))
            allowed = not node.level and (full in MODULES or known(meant))
        if allowed and meant.startswith("cuda.") and not bare(meant):
            raise Refused(
                node.lineno, f"`{full}`: numba knows it as `cuda.{meant[5:]}` only; import cuda"
            )
        if not allowed:
            raise Refused(
                node.lineno, f"`{full}` cannot be imported; math, numpy's types and numba.cuda can"
            )
        if answer.names.get(name) != meant:  # the same twice is no harm
            _fresh(answer, name, node.lineno)
        answer.names[name] = meant


def _fresh(answer: Answer, name: str, line: int) -> None:
    plain(name, line)
    if (
        name in answer.names
        or name in answer.functions
        or name in answer.constants
        or name in BUILTINS
    ):
        raise Refused(line, f"`{name}` is defined twice")


def _role(answer: Answer, node: ast.FunctionDef) -> str:
    if not node.decorator_list:
        if node.name != "run":
            raise Refused(
                node.lineno,
                f"`{node.name}` has no @cuda.jit; of plain functions there is only `run`",
            )
        return "plan"
    if len(node.decorator_list) != 1:
        raise Refused(node.lineno, "a kernel has one decorator, @cuda.jit")
    (decorator,) = node.decorator_list
    call = decorator if isinstance(decorator, ast.Call) else None
    if answer.dotted(call.func if call else decorator) != "cuda.jit":
        raise Refused(node.lineno, "the only decorator is @cuda.jit")
    device = False
    for keyword in call.keywords if call else ():
        if keyword.arg not in JIT or not isinstance(keyword.value, ast.Constant):
            raise Refused(node.lineno, f"@cuda.jit takes no `{keyword.arg}` here")
        device = device or (keyword.arg == "device" and keyword.value.value is True)
    if call:
        if len(call.args) > 1 or not all(_types_only(argument) for argument in call.args):
            raise Refused(node.lineno, "@cuda.jit takes at most a signature, of types")
        # whoever runs a decorator would evaluate it; types are those of the arguments
        call.args = []
    return "device" if device else "kernel"


def _types_only(node: ast.expr) -> bool:
    """Whether this is a signature: ``"void(float32[:], int32)"``, or the same in names."""
    parts = (
        ast.Name,
        ast.Attribute,
        ast.Call,
        ast.Subscript,
        ast.Slice,
        ast.Tuple,
        ast.expr_context,
    )
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and SIGNATURE.fullmatch(node.value) is not None
    return all(
        isinstance(part, parts) or (isinstance(part, ast.Constant) and part.value == 1)
        for part in ast.walk(node)
    )


def _signature(node: ast.FunctionDef) -> None:
    args = node.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
        raise Refused(
            node.lineno, f"`{node.name}` takes plain parameters, without stars and defaults"
        )
    if getattr(node, "type_params", None):
        raise Refused(node.lineno, f"`{node.name}` takes no parameters of types")
    names = [argument.arg for argument in args.args]
    for name in names:
        plain(name, node.lineno)
    if len(set(names)) < len(names):
        raise Refused(node.lineno, f"`{node.name}` has two parameters of one name")


def _constant(answer: Answer, node: ast.expr) -> None:
    """A constant at the top: numbers, earlier constants, types, and arithmetic of these."""
    for part in ast.walk(node):
        ok = isinstance(
            part, (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)
        )
        if isinstance(part, ast.Constant):
            ok = number(part.value)
        elif isinstance(part, ast.Name):
            ok = part.id in answer.constants or part.id in answer.names
        elif isinstance(part, ast.Attribute):
            ok = known(answer.dotted(part))
        elif isinstance(part, ast.Call):
            ok = made(answer.dotted(part.func)) and not part.keywords
        if not ok or (
            isinstance(part, ast.BinOp)
            and isinstance(part.op, (ast.Pow, ast.LShift))
            and not _small(part)
        ):
            raise Refused(
                node.lineno,
                f"{what(part)} in a constant: only numbers, types and their arithmetic",
            )


def _small(node: ast.BinOp) -> bool:
    right = node.right
    return (
        isinstance(right, ast.Constant) and isinstance(right.value, int) and 0 <= right.value <= 64
    )


def _no_recursion(answer: Answer) -> None:
    calls = {
        name: {
            node.func.id
            for node in ast.walk(function.node)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in answer.functions
        }
        for name, function in answer.functions.items()
    }
    done: set[str] = set()
    while True:
        ready = {name for name, callees in calls.items() if callees <= done} - done
        if not ready:
            break
        done |= ready
    for name, function in answer.functions.items():
        if name not in done:
            raise Refused(function.node.lineno, f"`{name}` calls itself, in the end")
