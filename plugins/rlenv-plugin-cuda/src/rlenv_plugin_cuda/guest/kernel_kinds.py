"""The types of numbers, and which type numba gives to an operation on two of them.

These are numba's rules for the CUDA target, and a test compares them with numba's own tables:
integers of any width compute in 64 bits (signed unless both are unsigned), a Python float is
float64, and float32 with an integer of 32 bits or more is float64.  bfloat16, which numba's arrays
do not have, behaves as float16 does.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

__all__ = [
    "BITS", "BOOL", "FLOAT", "INDEX", "INT", "NONE", "NOTHING", "Kind", "array", "binary", "called",
    "casts", "grown", "joined", "number", "real", "unary", "unified", "widened",
]  # fmt: skip

BITS = {"b1": 1, "i1": 7, "i2": 15, "i4": 31, "i8": 63, "u1": 8, "u2": 16, "u4": 32, "u8": 64}
_LEAST = {"b1": 0, "i1": 0, "i2": 1, "u1": 1, "f2": 0, "bf16": 0, "f4": 1, "c8": 1}
_HALVES = ("f2", "bf16")
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_SHIFTS = (ast.LShift, ast.RShift)
# math's functions that have a version for float16; the others widen it to float32
_HALF_MATH = frozenset(
    ["ceil", "cos", "exp", "fabs", "floor", "log", "log10", "log2", "sin", "sqrt", "tanh", "trunc"]
)
_REAL_MATH = frozenset({"copysign", "fmod", "remainder", "pow"})


class Kind(NamedTuple):
    """The type of an expression.

    Attributes:
        code: "i4", "f4", …; of an array, that of its elements; "tuple", "none", "dtype" and "?" for
            what is not a number.
        bits: an integer's magnitude is below 2 ** bits.
        ndim: of an array; 0 for a number.
        parts: of a tuple; of a dtype, the type that it names.
    """

    code: str
    bits: int = 0
    ndim: int = 0
    parts: tuple[Kind, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it is an integer or a boolean."""
        return self.code in BITS and not self.ndim


def number(code: str) -> Kind:
    """A number of this type."""
    return Kind(code, BITS.get(code, 0))


def array(code: str, ndim: int) -> Kind:
    """An array, or with no dimensions left one of its elements."""
    return Kind(code, 0, ndim) if ndim else number(code)


INT = number("i8")
BOOL = number("b1")
FLOAT = number("f8")
INDEX = Kind("i8", 42)  # of a thread or an extent: too small to overflow when it is scaled
NONE = Kind("none")
NOTHING = Kind("?")


def real(*codes: str) -> str:
    """The narrowest floating-point type that numba computes in for operands of these types."""
    rank = max(_LEAST.get(code, 2) for code in codes)
    if rank:
        return ("f4", "f8")[rank - 1]
    halves = {code for code in codes if code in _HALVES}
    return halves.pop() if len(halves) == 1 else "f4"


def _complex(*codes: str) -> str:
    made = real(*codes)
    if not any(code[0] == "c" for code in codes):
        return made
    return "c16" if made == "f8" else "c8"


def grown(op: type[ast.operator], left: int, right: int) -> int:
    """Bits of the exact result of an operation on integers of so many bits."""
    if issubclass(op, (ast.Add, ast.Sub)):
        return max(left, right) + 1
    if issubclass(op, ast.Mult):
        return left + right
    if issubclass(op, _BITWISE):
        return max(left, right)
    if issubclass(op, ast.Mod):
        return right
    return left if issubclass(op, (ast.FloorDiv, ast.RShift)) else 99


def binary(op: type[ast.operator], left: Kind, right: Kind) -> Kind:
    """What an operation on two numbers makes."""
    a = left.code
    b = right.code
    if not (left.whole and right.whole):
        widened = issubclass(op, (ast.FloorDiv, ast.Mod, ast.Pow))
        if issubclass(op, ast.Pow) and right.whole and a in (*_HALVES, "f4"):
            return number("f4")
        made = _complex(a, b)
        return number("f4" if widened and made in _HALVES else made)
    if issubclass(op, ast.Div):
        return FLOAT
    if issubclass(op, _BITWISE) and a == b == "b1":
        return BOOL
    unsigned = a[0] == "u" and (b[0] == "u" or issubclass(op, _SHIFTS))
    code = "u8" if unsigned else "i8"
    return Kind(code, min(grown(op, left.bits, right.bits), BITS[code]))


def unary(op: ast.unaryop, of: Kind) -> Kind:
    """What a sign, ``~`` or ``not`` makes."""
    if isinstance(op, ast.Not) or (isinstance(op, ast.Invert) and of.code == "b1"):
        return BOOL
    if not of.whole:
        return of
    code = "u8" if of.code[0] == "u" else "i8"
    full = code == "u8" and not isinstance(op, ast.UAdd)
    return Kind(code, BITS[code] if full else min(of.bits + 1, BITS[code]))


def unified(left: Kind, right: Kind) -> Kind:
    """The type of what is one of two values; NOTHING where numba has none."""
    if left == right:
        return left
    if left.code == right.code == "tuple" and len(left.parts) == len(right.parts):
        parts = (unified(a, b) for a, b in zip(left.parts, right.parts))
        return Kind("tuple", 0, 0, tuple(parts))
    if left.ndim or right.ndim or not {left.code, right.code} <= {*BITS, *_LEAST, "f8", "c16"}:
        return NOTHING
    if not (left.whole and right.whole):
        narrow = [{"u1": "i1", "u2": "i2"}.get(kind.code, kind.code) for kind in (left, right)]
        return number(_complex(*narrow))
    bits = max(left.bits, right.bits)
    codes = sorted((left.code, right.code), key=lambda code: (code != "b1", BITS[code]))
    signs = {code[0] for code in codes} - {"b"}
    if len(signs) > 1:
        wide = max(int(code[1]) * (2 if code[0] == "u" else 1) for code in codes)
        return Kind(f"i{wide}", bits) if wide <= 8 else FLOAT
    return Kind(codes[-1], bits)


def called(name: str, given: list[Kind]) -> Kind:
    """What a function of ``math`` makes."""
    if name.startswith("is"):
        return BOOL
    codes = [kind.code for kind in given]
    if name == "ldexp":
        codes = codes[:1]
    if len(codes) == 1 or name not in _REAL_MATH:
        if all(kind.whole for kind in given) and name != "ldexp":
            return FLOAT
    elif name == "pow" and (codes[1] == "i4" or codes == ["f4", "u2"]):
        codes[1] = "i2"
    made = real(*codes)
    return number("f4" if made in _HALVES and name not in _HALF_MATH else made)


def joined(*scopes: dict[str, Kind] | None) -> dict[str, Kind] | None:
    """What is known where these meet."""
    made: dict[str, Kind] | None = None
    for scope in scopes:
        if made is None:
            made = None if scope is None else dict(scope)
        elif scope is not None:
            for name, kind in scope.items():
                made[name] = unified(made[name], kind) if name in made else kind
    return made


def casts(scope: dict[str, Kind] | None, joined: dict[str, Kind] | None) -> list[str]:
    """The integers of a scope that are floats from here on."""
    if scope is None or joined is None:
        return []
    return [
        name
        for name, kind in scope.items()
        if kind.whole and joined[name].code[0] in "fbc" and not joined[name].whole
    ]


def widened(found: dict[str, Kind], before: dict[str, Kind]) -> dict[str, Kind]:
    """Variables that a loop makes larger each time around are as large as their type."""
    return {
        name: number(kind.code) if kind.whole and before.get(name, kind) != kind else kind
        for name, kind in found.items()
    }
