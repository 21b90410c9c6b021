"""What an answer may say: kernels and device functions, constants, and a plan of launches.

All else is rejected, with the line and the reason.

Allowed are names, numbers and what the tables of ``kernel_words`` list; nothing reaches an
attribute, a function or a module that has no place in them, so there is no way from a kernel to the
interpreter that runs it.
"""

from __future__ import annotations

# ruff: noqa: TID252 - a sandbox has these packages under no other name
import ast
import re

TYPE_CHECKING = False
if TYPE_CHECKING or not __package__:  # in a sandbox there is no package
    from kernel_body import check_function
    from kernel_tidy import Untidy, tidied
    from kernel_usual import usual
    from kernel_words import BARE, CONSTANT, JIT, KNOWN, MODULES, Answer, Function
    from planning.checking import Checker
    from planning.names import check_recursion, parsed, plain, shortened, what
    from planning.values import Refused
else:
    from ..planning.checking import Checker
    from ..planning.names import check_recursion, parsed, plain, shortened, what
    from ..planning.values import Refused
    from .kernel_body import check_function
    from .kernel_tidy import Untidy, tidied
    from .kernel_usual import usual
    from .kernel_words import BARE, CONSTANT, JIT, KNOWN, MODULES, Answer, Function

__all__ = ["Answer", "Function", "Refused", "read"]

SIGNATURE = re.compile(r"[A-Za-z0-9_ ,.:()\[\]]*")


def read(source: str) -> Answer:
    """Read a program and check it against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    tree = parsed(source, _tidied)
    answer = Answer()
    for place, node in enumerate(tree.body):
        _top(answer, node, first=place == 0)
    plan = answer.functions.get("run")
    if plan is None or plan.role != "plan":
        raise Refused(1, "there is no function `run(*inputs, *outputs)` that launches the kernels")
    for function in answer.functions.values():
        if function.role == "kernel":
            answer.kernels[function.name] = function.parameters
    for function in answer.functions.values():
        check_function(answer, function)
    check_recursion({name: function.node for name, function in answer.functions.items()})
    return answer


def _tidied(tree: ast.Module) -> ast.Module:
    try:
        made: ast.Module = usual(tidied(tree))
        return made
    except Untidy as err:
        raise Refused(err.line, err.said) from None
    except RecursionError:
        raise Refused(1, "it is nested too deeply") from None


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
        Checker(CONSTANT, answer).expression(node.value, 0)
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
            allowed = not node.level and (full in MODULES or meant in KNOWN)
        if allowed and meant.startswith("cuda.") and meant[5:] not in BARE:
            raise Refused(
                node.lineno, f"`{full}`: numba knows it as `cuda.{meant[5:]}` only; import cuda"
            )
        if not allowed:
            raise Refused(
                node.lineno, f"`{full}` cannot be imported; math, numpy's types and numba.cuda can"
            )
        if answer.modules.get(name) != meant:  # the same twice is no harm
            _fresh(answer, name, node.lineno)
        answer.modules[name] = meant


def _fresh(answer: Answer, name: str, line: int) -> None:
    plain(name, line, "_")
    if name in answer.taken():
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
        plain(name, node.lineno, "_")
    if len(set(names)) < len(names):
        raise Refused(node.lineno, f"`{node.name}` has two parameters of one name")
