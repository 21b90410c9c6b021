"""What CUDA C++ finds without a file: headers that people name by habit are empty, and what they are named for is there.

nvcc reads its runtime's header before every program; NVRTC reads none.  So that a program means the same to both, the
types and limits that come with the usual headers are given in advance; mathematics, vectors and ``printf`` are built
in.  The compiler gets all of these as text: it opens no file.

Numbers of 16 bits are NVIDIA's own text, where it is installed (it comes with the extra ``compile``).  It too is read
before the program, which therefore can redefine nothing in it, and its macros end with it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from .toolchain import toolchain

__all__ = ["HEADERS", "NAME", "halves", "headers", "lacking"]

NAME = "rlenv.h"  # no answer can name it
HALVES = ("cuda_fp16.h", "cuda_bf16.h")
HEADERS = frozenset(
    (
        *("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h"),
        *("math.h", "cmath", "math_constants.h", "stdint.h", "cstdint", "stddef.h", "cstddef"),
        *("float.h", "cfloat", "limits.h", "climits", "stdio.h", "cstdio"),
        *("assert.h", "cassert", "string.h", "cstring", "stdbool.h"),
        *("device_functions.h", "math_functions.h", "vector_types.h"),
        *HALVES,
    )
)
_NAMED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](cuda_(?:fp|bf)16\.h)[>\"]", re.M)
_INNER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*\"(cuda_(?:fp|bf)16\.hp?p?)\"[^\n]*", re.M)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", re.M)
_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long long"}
_CONSTANTS = {
    "INFINITY": "__int_as_float(0x7f800000)",
    "NAN": "__int_as_float(0x7fffffff)",
    "HUGE_VALF": "__int_as_float(0x7f800000)",
    "HUGE_VAL": "__longlong_as_double(0x7ff0000000000000LL)",
    "CUDART_INF_F": "__int_as_float(0x7f800000)",
    "CUDART_NAN_F": "__int_as_float(0x7fffffff)",
    "CUDART_PI_F": "3.141592654f",
    "CUDART_INF": "__longlong_as_double(0x7ff0000000000000LL)",
    "CUDART_PI": "3.1415926535897931e+0",
    "M_PI": "3.14159265358979323846",
    "M_E": "2.7182818284590452354",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
    "M_LOG2E": "1.4426950408889634074",
    "M_LN2": "0.69314718055994530942",
    "FLT_MAX": "3.402823466e+38f",
    "FLT_MIN": "1.175494351e-38f",
    "FLT_EPSILON": "1.192092896e-07f",
    "DBL_MAX": "1.7976931348623158e+308",
    "DBL_MIN": "2.2250738585072014e-308",
    "DBL_EPSILON": "2.2204460492503131e-016",
    "CHAR_BIT": "8",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-INT_MAX - 1)",
    "UINT_MAX": "0xffffffffu",
    "LLONG_MAX": "9223372036854775807LL",
    "LLONG_MIN": "(-LLONG_MAX - 1)",
    "ULLONG_MAX": "0xffffffffffffffffuLL",
    "INT32_MAX": "2147483647",
    "INT32_MIN": "(-INT32_MAX - 1)",
    "UINT32_MAX": "0xffffffffu",
}


@cache
def halves(name: str) -> str:
    """The text of one of ``HALVES``, whole and without macros that could be called behind it; "" where it is not installed."""
    tools = toolchain()
    roots = [Path(path).parents[1] for path in (tools.nvrtc, tools.ptxas) if path]
    for folder in (part for root in roots for part in (root / "include", root.parent / "include")):
        if (folder / name).is_file():
            text = _whole(folder, name)
            ends = [f"#undef {macro}" for macro in dict.fromkeys(_MACRO.findall(text))]
            return "\n".join((text, *ends, ""))
    return ""


def _whole(folder: Path, name: str) -> str:
    text = (folder / name).read_text("utf-8", "replace")
    return _INNER.sub(lambda match: _whole(folder, match[1]), text)


def lacking(source: str) -> str:
    """The header that a program names and that is not installed here, "" where there is none."""
    return next((name for name in _NAMED.findall(source) if not halves(name)), "")


def headers(source: str = "") -> dict[str, str]:
    """{name: text} of all headers; ``NAME`` is read before the program.

    Args:
        source: a program, for the headers that it names.
    """
    named = sorted(set(_NAMED.findall(source)))
    types = [
        f"typedef {sign} {name} {short}int{bits}_t;"
        for bits, name in _INTEGERS.items()
        for sign, short in (("signed", ""), ("unsigned", "u"))
    ]
    constants = [f"#define {name} {value}" for name, value in _CONSTANTS.items()]
    return {
        NAME: "\n".join((*types, *constants, *map(halves, named), "")),
        **dict.fromkeys(sorted(HEADERS), ""),
    }
