"""Compiles a Triton answer to PTX, inside the sandbox; the assembler has a place of its own.

One request ``{"source", "cases", "arch"}`` is answered by ``{"kernels": [{"name", "shared"}],
"sizes"}`` and the texts, or by ``{"refused", "line"}``.  Only functions with ``@triton.jit`` and
constants are made, by us.
"""

from __future__ import annotations

# ruff: noqa: TID252 - of the package only what the judge sends lies beside it
import ast
import contextlib
import copy
import json
import linecache
import os
import types
import warnings
from importlib import import_module
from typing import Any

from ...guest import kernel_wire
from ...planning.reading import Plan
from ...planning.values import DTYPES, Dtype, Handle, Refused, Trouble
from ..rules import Answer, read
from ..tracing import Version, versions

__all__ = ["rehearse", "serve"]

FILE = "<answer>"
_SMALL = """import triton
import triton.language as tl
@triton.jit
def k(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))
def run(x, o):
    k[(1,)](x, o, x.numel(), B=128)
"""

os.environ.pop("TRITON_INTERPRET", None)
os.environ["TRITON_BACKENDS_IN_TREE"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


class _Nothing:
    """A host of constants: they allocate and launch nothing."""

    def allocate(self, shape: tuple[int, ...], code: str, fill: float | None) -> Handle:
        raise Trouble("type", f"an array of {shape!r:.40} {code} {fill} is no constant")

    def fill(self, array: Handle, value: float) -> None:
        """There are no arrays."""

    def launch(self, kernel: str, *_: object) -> None:
        raise Trouble("launch", f"`{kernel}` is launched by a constant")


def rehearse() -> None:
    """Compile once, so that no answer waits for it."""
    warnings.simplefilter("ignore")
    _without_assembler()
    compiled(
        {"source": _SMALL, "cases": [[["f4", [64], None], ["f4", [1], None]]], "arch": "sm_90"}
    )


def _without_assembler() -> None:
    """Triton's compiler up to PTX: nothing can be executed where answers are compiled."""
    compiler: Any = import_module("triton.backends.nvidia.compiler")

    versions = {}
    for arch in (80, 90):
        asked = types.SimpleNamespace(ptx_version=None)
        versions[arch] = compiler.get_ptx_version_from_options(asked, arch)
    compiler.get_ptx_version_from_options = lambda _, arch: versions[80 if arch < 90 else 90]
    compiler.CUDABackend.make_cubin = lambda _, src, *__: src.encode()
    compiler.CUDABackend.hash = lambda _: "ptx"


def compiled(order: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The answer to one request."""
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.sep, "tmp", f"triton-{os.getpid()}")

    try:
        answer = read(order["source"])
        wanted = versions(answer, order["cases"], _dtype)
    except Refused as refused:
        return {"refused": refused.said[:300], "line": refused.line}, []
    except Trouble as trouble:
        return {"refused": f"{trouble.what}: {trouble.said}"[:300], "line": trouble.line}, []
    functions = _functions(answer)
    target = import_module("triton.backends.compiler").GPUTarget(
        "cuda", int(order["arch"].removeprefix("sm_").rstrip("af")), 32
    )
    listed = []
    parts = []
    for version in wanted:
        try:
            made = _compile(functions[version.kernel], version, target)
        except Exception as error:  # noqa: BLE001 - whatever the compiler makes of an answer is the answer's doing
            line, said = _complaint(error, answer, version.kernel)
            if isinstance(error, OSError):
                return {"broken": f"{type(error).__name__}"}, []
            return {"refused": said, "line": line}, []
        listed.append({"name": version.kernel, "shared": int(made.metadata.shared)})
        parts.append(made.asm["cubin"])
    return {"kernels": listed}, parts


def _compile(function: Any, version: Version, target: Any) -> Any:
    names = function.arg_names
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in version.aligned}
    signature = {}
    constants = {}
    for name in names:
        given = name in version.signature
        signature[name] = version.signature[name] if given else "constexpr"
        if signature[name] == "constexpr":
            default = None if given else function.signature.parameters[name].default
            constants[name] = version.constants[name] if given else default
    source = import_module("triton.compiler").ASTSource(function, signature, constants, attributes)
    return import_module("triton").compile(source, target=target, options=dict(version.options))


def _functions(answer: Answer) -> dict[str, Any]:
    """Triton's functions of an answer, by name."""
    lines = answer.source.splitlines(keepends=True)
    linecache.cache[FILE] = (len(answer.source), None, lines, FILE)
    nodes: list[ast.stmt] = [copy.deepcopy(function.node) for function in answer.functions.values()]
    for node in nodes:
        assert isinstance(node, ast.FunctionDef)
        node.decorator_list = []
        node.returns = None
    module = types.ModuleType("answer")
    space = module.__dict__
    space["__builtins__"] = {}
    for name, full in answer.names.modules.items():
        space[name] = _imported(full)
    plan = answer.plan
    assert plan is not None
    values = Plan(plan, answer.names, _Nothing()).constants
    space.update({name: _constant(answer, name, value) for name, value in values.items()})
    code = compile(ast.Module(nodes, []), FILE, "exec", dont_inherit=True)
    exec(code, space)  # noqa: S102 - held against the rules before
    function: Any = import_module("triton.runtime.jit").JITFunction
    made = {name: function(space[name]) for name in answer.functions}
    space.update(made)
    return made


def _constant(answer: Answer, name: str, value: object) -> Any:
    node = answer.names.constants[name]
    called = isinstance(node, ast.Call) and answer.names.dotted(node.func).endswith(".constexpr")
    if isinstance(value, Dtype):
        return _dtype(value.code)
    constexpr = import_module("triton.language").constexpr
    return constexpr(value) if called or name in answer.constexprs else value


def _imported(full: str) -> Any:
    """What a name at the top means; modules that kernels have no use for are None."""
    if full.partition(".")[0] not in ("triton", "math"):
        return None
    with contextlib.suppress(ImportError):
        return import_module(full)
    module, _, name = full.rpartition(".")
    return getattr(import_module(module), name, None)


def _dtype(code: str) -> Any:
    return getattr(import_module("triton.language"), _name(code))


def _name(code: str) -> str:
    return next(name for name, one in DTYPES.items() if one == code and name[-1].isdigit())


def _complaint(error: Exception, answer: Answer, kernel: str) -> tuple[int, str]:
    """(line, what the compiler says), without places of this machine."""
    node = getattr(error, "node", None)
    line = answer.functions[kernel].node.lineno
    if node is not None and hasattr(node, "lineno"):
        line += node.lineno - 1
    text = str(getattr(error, "error_message", None) or error).strip().splitlines()
    said = text[0] if text else ""
    return line, (
        f"{type(error).__name__}: {said}"[:300] if os.sep not in said else type(error).__name__
    )


def serve() -> None:
    """Answer the one request that comes."""
    warnings.simplefilter("ignore")
    frame = kernel_wire.read()
    if frame is None:
        return
    order = json.loads(frame)
    head, parts = compiled(order)
    head["sizes"] = [len(part) for part in parts]
    kernel_wire.say(head, parts)
