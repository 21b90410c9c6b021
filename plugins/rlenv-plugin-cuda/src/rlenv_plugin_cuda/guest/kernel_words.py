"""The words of an answer: what kernels, device functions and launch plans may say, in tables."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING or not __package__:  # in a sandbox there is no package
    from planning.rules import Names, shortened
else:
    from rlenv_plugin_cuda.planning.rules import Names, shortened

__all__ = [
    "ARRAY", "BARRIERS", "BUILTINS", "CALLS", "DEPTH", "DTYPES", "EXPRESSIONS", "FACTS", "HOST",
    "INDICES", "JIT", "MATH", "MODULES", "NUMBERS", "SOURCE_BYTES", "STATEMENTS", "WARP", "Answer",
    "Function", "Refused", "bare", "known", "made", "number", "plain", "shortened", "value", "what",
]  # fmt: skip

SOURCE_BYTES = 1 << 16
DEPTH = 60

MATH = frozenset([
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh",
    "degrees", "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "gamma", "hypot", "isfinite",
    "isinf", "isnan", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "pow", "radians",
    "remainder", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "pi", "e", "tau", "inf", "nan",
])  # fmt: skip
NUMBERS = frozenset({"e", "inf", "nan", "pi"})
DTYPES = {
    "float16": "f2", "float32": "f4", "float64": "f8", "int8": "i1", "int16": "i2", "int32": "i4",
    "int64": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8", "bool_": "b1",
    "boolean": "b1", "complex64": "c8", "complex128": "c16", "intp": "i8", "uintp": "u8",
}  # fmt: skip
BUILTINS = frozenset(
    {"abs", "bool", "complex", "float", "int", "len", "max", "min", "pow", "range", "round"}
)
INDICES = {
    f"{what}.{axis}": f"{short}{axis}"
    for what, short in (("threadIdx", "t"), ("blockIdx", "b"), ("blockDim", "n"), ("gridDim", "g"))
    for axis in "xyz"
}
# What a kernel calls of cuda: the name after it → the method of the thread that answers.
CALLS = {
    "grid": "grid",
    "gridsize": "gridsize",
    "fma": "fma",
    "popc": "popc",
    "clz": "clz",
    "ffs": "ffs",
    "brev": "brev",
    "selp": "selp",
    "cbrt": "cbrt",
    "threadfence": "fence",
    "threadfence_block": "fence",
    "threadfence_system": "fence",
    "shared.array": "shared",
    "local.array": "local",
    "rsqrt": "rsqrt",
    **{
        f"atomic.{name}": f"atomic_{name}"
        for name in (
            "add",
            "sub",
            "max",
            "min",
            "nanmax",
            "nanmin",
            "exch",
            "cas",
            "compare_and_swap",
            "inc",
            "dec",
            "and_",
            "or_",
            "xor",
        )
    },
}
BARRIERS = {
    "syncthreads": "",
    "syncthreads_count": "count",
    "syncthreads_and": "and",
    "syncthreads_or": "or",
}
WARP = {
    "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "all_sync",
    "any_sync", "ballot_sync", "eq_sync", "activemask",
}  # fmt: skip
FACTS = frozenset({"laneid", "warpsize"})
ARRAY = frozenset({"shape", "size", "ndim"})
HOST = {
    "device_array": "device_array",
    "device_array_like": "device_array_like",
    "synchronize": "synchronize",
}
JIT = frozenset({
    "device", "fastmath", "inline", "max_registers", "opt", "lineinfo", "debug", "cache",
    "boundscheck",
})  # fmt: skip
MODULES = {
    "math": "math", "numpy": "numpy", "numba": "numba", "numba.types": "numba",
    "numba.cuda": "cuda",
}  # fmt: skip

EXPRESSIONS = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call,
    ast.Subscript, ast.Attribute, ast.Tuple,
)  # fmt: skip
STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Return, ast.Expr, ast.Pass,
    ast.Break, ast.Continue,
)  # fmt: skip


class Refused(Exception):
    """The answer says what it may not say.  ``line`` counts from 1 within the program."""

    def __init__(self, line: int, said: str) -> None:
        self.line = line
        self.said = said
        super().__init__(f"line {line}: {said}")


class Function:
    """One function of an answer: ``role`` is "kernel", "device" or "plan"."""

    def __init__(self, node: ast.FunctionDef, role: str) -> None:
        self.node = node
        self.role = role
        self.name = node.name
        self.parameters = [argument.arg for argument in node.args.args]


class Answer:
    """What was read: functions, constants, and which name means which module or thing of one."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.constants: dict[str, ast.expr] = {}
        self.names: dict[str, str] = {}  # "np" → "numpy", "float32" → "numba.float32"

    def dotted(self, node: ast.expr) -> str:
        """The full name of ``cuda.threadIdx.x``, whatever its module is called here.

        "" for what is none.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.names:
            return ""
        full: str = shortened(".".join([self.names[node.id], *reversed(parts)]))
        return full

    def top(self) -> Names:
        """What the names at the top mean to a launch plan."""
        names = Names()
        names.modules.update(self.names)
        names.constants.update(self.constants)
        names.kernels.update({name: one.parameters for name, one in self.functions.items()})
        return names


def known(full: str) -> bool:
    module, _, name = full.partition(".")
    if module == "math":
        return name in MATH
    if full == "numba.void":  # of a signature
        return True
    if module in ("numba", "numpy"):
        return name in DTYPES or (module == "numpy" and name in NUMBERS)
    return module == "cuda" and (
        name in CALLS
        or name in BARRIERS
        or name in WARP
        or name in INDICES
        or name in FACTS
        or name in HOST
        or name
        in ("jit", "threadIdx", "blockIdx", "blockDim", "gridDim", "shared", "local", "atomic")
    )


def bare(full: str) -> bool:
    """Whether numba compiles what is called so in ``cuda`` under a name of its own, without the
    module.
    """
    name = full.partition(".")[2]
    if name in WARP:
        return name != "syncwarp"
    return name in BARRIERS or name in HOST or name in ("grid", "gridsize", "jit")


def made(full: str) -> bool:
    """Whether a full name is called for a number: of a type, or of math."""
    module, _, name = full.partition(".")
    return (module in ("numba", "numpy") and name in DTYPES) or (
        module == "math" and name in MATH and name not in NUMBERS
    )


def plain(name: str, line: int) -> None:
    if name.startswith("_") and name != "_":
        raise Refused(line, f"`{name}`: names that begin with an underscore are not for answers")


def number(value: object) -> bool:
    """Whether a literal is a number that fits 64 bits; of float numbers any."""
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 64
    return isinstance(value, (float, complex))


def value(full: str) -> bool:
    """Whether a full name is a number or a type by itself."""
    module, _, name = full.partition(".")
    if module == "math":
        return name in NUMBERS or name == "tau"
    if module in ("numba", "numpy"):
        return name in DTYPES or (module == "numpy" and name in NUMBERS)
    return module == "cuda" and (name in INDICES or name in FACTS)


def what(node: ast.AST) -> str:
    names = {
        "FunctionDef": "a function", "ClassDef": "a class", "Lambda": "a lambda", "Try": "try",
        "With": "with", "ListComp": "a comprehension", "GeneratorExp": "a comprehension",
        "DictComp": "a comprehension", "SetComp": "a comprehension",
        "JoinedStr": "a formatted text", "NamedExpr": "`:=`", "Raise": "raise", "Assert": "assert",
        "Global": "global", "Nonlocal": "nonlocal", "Delete": "del", "Await": "await",
        "Yield": "yield", "YieldFrom": "yield", "Starred": "a star", "Slice": "a slice",
        "List": "a list", "Dict": "a dict", "Set": "a set", "Import": "an import",
        "ImportFrom": "an import", "Match": "match",
    }  # fmt: skip
    kind = type(node).__name__
    return names.get(kind, f"{kind}")
