"""What a CUDA C++ answer may say: kernels with ``extern "C"``, and a launch plan.

The plan is in a comment: ``// launch:`` alone on its line, then ``// def run(a, b, o):`` and what
follows, each
line a comment of its own.  A launch is ``kernel[grid, block](…)`` or ``kernel[grid, block, 0,
shared](…)``; arrays of its own are ``cuda.device_array(shape, dtype)``.  ``joined`` makes one text
of kernels and a plan beside them.
"""

from __future__ import annotations

import ast
import re

from attrs import frozen

from rlenv_plugin_cuda.building.cpp_rules import refused
from rlenv_plugin_cuda.guest.kernel_tidy import Untidy, trimmed
from rlenv_plugin_cuda.planning.names import Names, plain, what
from rlenv_plugin_cuda.planning.rules import check_constant, check_plan
from rlenv_plugin_cuda.planning.tables import CPP_PLAN
from rlenv_plugin_cuda.planning.values import Refused

from .signatures import Kernel, bare, kernels
from .state import kept, unfolded

__all__ = ["Answer", "Refused", "joined", "read"]

KERNELS = 64
PLAN_BYTES = 1 << 16
_LAUNCH = re.compile(r"^[ \t]*//[ \t]*launch:[ \t]*$", re.M)
_COMMENT = re.compile(r"[ \t]*//[ ]?(.*)")
_MODULES = {"math": "math", "cuda": "cuda", "torch": "torch", "np": "numpy", "numpy": "numpy"}
_ATTRIBUTE = re.compile(
    r"\b__attribute__\s*\(\(\s*(?:aligned\s*\(\s*\d+\s*\)|always_inline|noinline|unused)\s*\)\)"
)
_COMPILER = re.compile(
    r"\b(?:__attribute(?:__)?|(?:__)?gnu(?:__)?|(?:rl|RL)_\w*|__(?:tsan|ubsan|asan|sanitizer|builtin_ia32)\w*)\b"
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
_FREE = re.compile(r"\b(?:__device__|__global__|constexpr|class|struct|union|enum)\b|=")
_MARK = re.compile(r"([{};])")
_PARAMETERS = re.compile(r"<[^<>]*>")  # of a template
_SCOPE = re.compile(r"\b(?:namespace\b[^()]{0,200}|extern\s*)\Z")
_HOST = re.compile(
    r"<<<|\b(?:cudaMalloc\w*|cudaMemcpy\w*|cudaLaunch\w*|cudaFree|__host__)\b|\bint\s+main\s*\("
)


@frozen
class Answer:
    """What was read: the kernels, the plan, and the names that it knows."""

    source: str
    kernels: tuple[Kernel, ...]
    plan: ast.FunctionDef
    names: Names


def joined(cpp: str, plan: str) -> str:
    """One program of kernels and a separate plan; the plan's lines are its last."""
    lines = "".join(f"// {line}".rstrip() + "\n" for line in plan.rstrip("\n").split("\n"))
    return f"{cpp.rstrip()}\n// launch:\n{lines}"


def read(source: str) -> Answer:
    """Read a program and check it against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    source = source.replace("\r\n", "\n")
    if wrong := refused(source):
        raise Refused(*wrong)
    plain_text = unfolded(source)
    text = _ATTRIBUTE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), bare(plain_text))
    for words, said in (
        (_COMPILER, "a word for a compiler of hosts, or a name that is taken"),
        (_HOST, "an answer has no host code; its plan launches"),
    ):
        if told := words.search(text):
            line = source.count("\n", 0, told.start()) + 1
            raise Refused(line, f"`{told[0]:.40}`: {said}")
    if state := kept(plain_text):
        raise Refused(*state)
    found = kernels(plain_text)
    if not 1 <= len(found) <= KERNELS:
        said = (
            f'{len(found)} kernels; from 1 to {KERNELS} of the form extern "C" __global__ void'
            " name(…)"
        )
        raise Refused(1, said)
    _check_functions(text)
    names = Names()
    names.modules.update(_MODULES)
    for kernel in found:
        plain(kernel.name, kernel.line)
        if kernel.name in names.kernels or kernel.name in _MODULES:
            raise Refused(kernel.line, f"`{kernel.name}` is defined twice")
        uses = len(re.findall(rf"(?<![.>:\w]){kernel.name}\s*\(", text))
        if uses > [each.name for each in found].count(kernel.name):
            raise Refused(kernel.line, f"`{kernel.name}` is called, and a kernel is only launched")
        names.kernels[kernel.name] = [parameter.name for parameter in kernel.parameters]
    return Answer(source, found, _plan(source, names), names)


def _check_functions(text: str) -> None:
    """Raise Refused where a function outside of types is not said to be a device's: no kernel may
    call it.
    """
    text = _DIRECTIVE.sub(lambda match: "\n" * match[0].count("\n"), text)
    # whether what is open is anything but a namespace
    line = 1
    inside = 0
    scopes = [False]
    head = ""
    for piece in _MARK.split(text):
        line += piece.count("\n")
        if piece == "{":
            plain = _PARAMETERS.sub("", head)
            scopes.append(not _SCOPE.search(plain))
            if scopes[-1] and not inside and ")" in plain and not _FREE.search(plain):
                raise Refused(line, "a function without `__device__`: no kernel may call it")
            inside += scopes[-1]
        elif piece == "}" and len(scopes) > 1:
            inside -= scopes.pop()
        head = piece


def _plan(source: str, names: Names) -> ast.FunctionDef:
    starts = list(_LAUNCH.finditer(source))
    if not starts:
        said = (
            "there is no launch plan: a block of Python with `def run(*inputs, *outputs)`, or `//"
            " launch:`"
        )
        raise Refused(1, said)
    begin = source.count("\n", 0, starts[-1].end()) + 1
    comments = map(_COMMENT.fullmatch, source.split("\n")[begin:])
    lines = []
    while comment := next(comments, None):
        lines.append(comment[1])
    text = "\n".join(lines)
    if "\\" in text or len(text) > PLAN_BYTES:
        raise Refused(begin + 1, f"a plan has no backslash, and at most {PLAN_BYTES} bytes")
    try:
        tree = trimmed(ast.parse("\n" * begin + text))
    except Untidy as error:
        raise Refused(error.line, error.said) from None
    except SyntaxError as error:
        raise Refused(error.lineno or begin, f"the plan is no Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused(begin, f"a plan that cannot be read: {type(error).__name__}") from None
    return _top(tree, names, begin)


def _top(tree: ast.Module, names: Names, begin: int) -> ast.FunctionDef:
    plan: ast.FunctionDef | None = None
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.name == "run"
            and not node.decorator_list
            and plan is None
        ):
            plan = node
        elif (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
        ):
            name = node.targets[0].id
            plain(name, node.lineno)
            if name in names.modules or name in names.kernels or name in names.constants:
                raise Refused(node.lineno, f"`{name}` is defined twice")
            names.constants[name] = node.value
        elif not _known(node):
            raise Refused(
                node.lineno, f"{what(node)} in a launch plan: constants and `run` are allowed"
            )
    if plan is None:
        raise Refused(begin, "the launch plan has no function `run(*inputs, *outputs)`")
    for expression in names.constants.values():
        check_constant(expression, names)
    check_plan(plan, names, CPP_PLAN)
    return plan


def _known(node: ast.stmt) -> bool:
    """An import of what a plan knows anyway, under its own name."""
    if isinstance(node, ast.Import):
        return all(alias.name in _MODULES and alias.asname in (None, "np") for alias in node.names)
    return (
        isinstance(node, ast.ImportFrom)
        and node.module == "numba"
        and [a.name for a in node.names] == ["cuda"]
    )
