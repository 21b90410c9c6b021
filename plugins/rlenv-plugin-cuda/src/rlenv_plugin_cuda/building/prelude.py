"""What CUDA C++ finds without a file: headers that people name by habit are empty, and what they
are named for is there.

nvcc reads its runtime's header before every program; NVRTC reads none.  So that a program means the
same to both, the types and limits that come with the usual headers are given in advance;
mathematics, vectors and ``printf`` are built in.  The compiler gets all of these as text: it opens
no file.

Numbers of 16 bits are NVIDIA's own text, where it is installed (it comes with the extra
``compile``).  It too is read before the program, which therefore can redefine nothing in it, and
its macros end with it.
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


@cache
def halves(name: str) -> str:
    """The text of one of ``HALVES``, whole and without macros that could be called behind it.

    "" where it is not installed.
    """
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
    ours = Path(__file__).with_name("prelude.h").read_text("utf-8")
    return {
        NAME: "\n".join((ours, *map(halves, named), "")),
        **dict.fromkeys(sorted(HEADERS), ""),
    }
