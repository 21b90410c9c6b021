"""What a Triton answer may say: kernels, device functions, constants, and a plan of launches.

Triton's interpreter runs kernels as Python.  So nothing here reaches an attribute, a function or a
module that has no place in the tables: there is no way from a kernel to the interpreter that runs
it, to numpy or to torch.
"""

from __future__ import annotations

import ast

from rlenv_plugin_cuda.guest.kernel_tidy import Untidy, trimmed
from rlenv_plugin_cuda.planning.names import Names, check_recursion, parsed, plain, what
from rlenv_plugin_cuda.planning.rules import check_constant, check_plan
from rlenv_plugin_cuda.planning.values import Refused

from .body import check_kernel
from .names import CALLS, JIT, LAUNCH, LIBDEVICE, LIBDEVICE_MODULES, MODULES, WORDS

__all__ = ["Answer", "Config", "Function", "Refused", "read"]

CONFIGS = 64


class Config:
    """One choice of ``triton.autotune``: constants by name, and warps and stages."""

    def __init__(self, constants: dict[str, int], options: dict[str, int]) -> None:
        self.constants = constants
        self.options = options


class Function:
    """One function with ``@triton.jit``.

    Args:
        node: as it was read.
        configs: of its ``@triton.autotune``; none where it has none.
        constexpr: its parameters that are constants of the compiler.
    """

    def __init__(
        self, node: ast.FunctionDef, configs: list[Config], constexpr: frozenset[str]
    ) -> None:
        self.node = node
        self.name = node.name
        self.parameters = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        self.configs = configs
        self.constexpr = constexpr


class Answer:
    """What was read: kernels and device functions alike in ``functions``, and the plan."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.functions: dict[str, Function] = {}
        self.names = Names()
        self.constexprs: set[str] = set()
        self.plan: ast.FunctionDef | None = None


def read(source: str) -> Answer:
    """Read a program and check it against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    tree = parsed(source, _trimmed)
    answer = Answer(source)
    for place, node in enumerate(tree.body):
        _top(answer, node, first=place == 0)
    if answer.plan is None:
        raise Refused(1, "there is no function `run(*inputs, *outputs)` that launches the kernels")
    for expression in answer.names.constants.values():
        check_constant(expression, answer.names)
    for function in answer.functions.values():
        check_kernel(function.node, answer.names, frozenset(answer.functions))
    check_plan(answer.plan, answer.names)
    check_recursion({name: function.node for name, function in answer.functions.items()})
    return answer


def _trimmed(tree: ast.Module) -> ast.Module:
    try:
        return trimmed(tree)
    except Untidy as err:
        raise Refused(err.line, err.said) from None


def _top(answer: Answer, node: ast.stmt, *, first: bool) -> None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        _imported(answer, node)
    elif isinstance(node, ast.FunctionDef):
        _fresh(answer, node.name, node.lineno)
        if node.name == "run" and not node.decorator_list:
            answer.plan = node
            return
        function = _function(answer, node)
        answer.functions[node.name] = function
        answer.names.kernels[node.name] = function.parameters
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, ast.Name) or (
            isinstance(node, ast.Assign) and len(node.targets) != 1
        ):
            raise Refused(node.lineno, "a constant is given to one name")
        _fresh(answer, target.id, node.lineno)
        answer.names.constants[target.id] = node.value
        if isinstance(node, ast.AnnAssign) and answer.names.dotted(node.annotation).endswith(
            ".constexpr"
        ):
            answer.constexprs.add(target.id)
    elif not (first and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        raise Refused(
            node.lineno,
            f"{what(node)} at the top: only imports, constants, kernels and `run` are allowed",
        )


def _imported(answer: Answer, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return
    for alias in node.names:
        if isinstance(node, ast.Import):
            full = alias.name
            name = alias.asname or alias.name.split(".")[0]
            meant = full if alias.asname else name
            known = full in MODULES and not (
                full != name and not alias.asname and name not in MODULES
            )
        else:
            full = f"{node.module}.{alias.name}"
            name = alias.asname or alias.name
            meant = full
            known = not node.level and (
                full in MODULES or full in CALLS or full in WORDS or _math(full)
            )
        if not known or alias.name == "*":
            raise Refused(
                node.lineno,
                f"`{full:.80}` cannot be imported; triton, torch (for arrays) and math can",
            )
        _fresh(answer, name, node.lineno)
        answer.names.modules[name] = meant


def _math(full: str) -> bool:
    module, _, name = full.rpartition(".")
    return module in LIBDEVICE_MODULES and name in LIBDEVICE


def _fresh(answer: Answer, name: str, line: int) -> None:
    plain(name, line)
    names = answer.names
    if (
        name in names.modules
        or name in names.constants
        or name in names.kernels
        or (answer.plan and name == "run")
    ):
        if name in names.modules and name in ("tl", "triton", "torch", "math"):
            return
        raise Refused(line, f"`{name}` is defined twice")


def _function(answer: Answer, node: ast.FunctionDef) -> Function:
    jit = False
    configs = list[Config]()
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        full = answer.names.dotted(call.func if call else decorator)
        if full == "triton.jit":
            jit = True
            _jit(node.lineno, call)
        elif full == "triton.autotune" and call and not jit:
            configs = _autotune(answer, call)
        else:
            raise Refused(
                node.lineno, "of decorators there are @triton.jit and, above it, @triton.autotune"
            )
    if not jit:
        raise Refused(
            node.lineno,
            f"`{node.name:.60}` has no @triton.jit; of plain functions there is only `run`",
        )
    return Function(node, configs, _constexpr(answer, node))


def _jit(line: int, call: ast.Call | None) -> None:
    for keyword in call.keywords if call else ():
        if keyword.arg not in JIT:
            raise Refused(line, f"@triton.jit takes no `{keyword.arg}` here")
        for part in ast.walk(keyword.value):
            if not isinstance(part, (ast.Constant, ast.List, ast.Tuple, ast.expr_context)):
                raise Refused(line, "@triton.jit takes constants here")
    if call and call.args:
        raise Refused(line, "@triton.jit takes no arguments by position")


def _autotune(answer: Answer, call: ast.Call) -> list[Config]:
    given: dict[str | None, ast.expr] = {
        **dict(zip(("configs", "key"), call.args, strict=False)),
        **{k.arg: k.value for k in call.keywords},
    }
    listed = given.get("configs")
    if set(given) - {"configs", "key", "warmup", "rep"} or not isinstance(listed, ast.List):
        raise Refused(call.lineno, "@triton.autotune takes a list of triton.Config and a key here")
    if not 1 <= len(listed.elts) <= CONFIGS:
        raise Refused(call.lineno, f"@triton.autotune: from 1 to {CONFIGS} configs")
    return [_config(answer, one) for one in listed.elts]


def _config(answer: Answer, node: ast.expr) -> Config:
    good = (
        isinstance(node, ast.Call)
        and answer.names.dotted(node.func) == "triton.Config"
        and len(node.args) == 1
    )
    if not (good and isinstance(node, ast.Call) and isinstance(node.args[0], ast.Dict)):
        raise Refused(node.lineno, "a config is triton.Config({…}, num_warps=…, num_stages=…)")
    constants: dict[str, int] = {}
    for key, value in zip(node.args[0].keys, node.args[0].values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            raise Refused(node.lineno, "a config names constants by texts")
        constants[key.value] = _number(value)
    options = {}
    for keyword in node.keywords:
        if keyword.arg not in LAUNCH:
            raise Refused(node.lineno, f"triton.Config takes no `{keyword.arg}` here")
        options[keyword.arg] = _number(keyword.value)
    return Config(constants, options)


def _number(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) < 1 << 31:
        return node.value
    raise Refused(node.lineno, "a config holds integers")


def _constexpr(answer: Answer, node: ast.FunctionDef) -> frozenset[str]:
    args = node.args
    if args.vararg or args.kwarg or args.posonlyargs:
        raise Refused(node.lineno, f"`{node.name:.60}` takes plain parameters, without stars")
    found = set()
    for argument in (*args.args, *args.kwonlyargs):
        plain(argument.arg, argument.lineno)
        note = argument.annotation
        if note is None:
            continue
        full = answer.names.dotted(note)
        if full == "triton.language.constexpr":
            found.add(argument.arg)
        elif full not in WORDS and full != "triton.language.tensor":
            raise Refused(
                argument.lineno,
                "parameters are annotated with tl.constexpr or a type of Triton, or not at all",
            )
    for default in (*args.defaults, *(one for one in args.kw_defaults if one is not None)):
        if not isinstance(default, ast.UnaryOp | ast.Constant | ast.Name | ast.Attribute):
            raise Refused(default.lineno, "a default is a constant")
        check_constant(default, answer.names)
    return frozenset(found)
