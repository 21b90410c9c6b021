"""The kernels of a CUDA C++ program: names and parameters, read without a compiler."""

from __future__ import annotations

import re

from attrs import frozen

__all__ = ["Kernel", "Parameter", "bare", "kernels"]

_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'", re.S)
_GLOBAL = re.compile(r"\b__global__\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_BOUNDS = re.compile(
    r"\s*__(?:launch_bounds|maxnreg|cluster_dims|attribute|align|block_size)__\s*\("
)
_PLAIN = {
    "float": "f4", "double": "f8", "int": "i4", "unsigned": "u4", "unsigned int": "u4",
    "long": "i8", "long int": "i8", "long long": "i8", "long long int": "i8", "unsigned long": "u8",
    "unsigned long long": "u8", "size_t": "u8", "short": "i2", "unsigned short": "u2", "char": "i1",
    "signed char": "i1", "unsigned char": "u1", "bool": "b1", "unsigned long int": "u8",
    "unsigned long long int": "u8", "short int": "i2", "unsigned short int": "u2", "half": "f2",
    "__half": "f2", "nv_bfloat16": "bf16", "__nv_bfloat16": "bf16", "int8_t": "i1", "int16_t": "i2",
    "int32_t": "i4", "int64_t": "i8", "uint8_t": "u1", "uint16_t": "u2", "uint32_t": "u4",
    "uint64_t": "u8",
}  # fmt: skip


@frozen
class Parameter:
    """One parameter of a kernel.

    ``code`` is of its elements ("" for a type that has none here); ``pointer`` says whether it
    points to them.
    """

    name: str
    code: str
    pointer: bool
    constant: bool


@frozen
class Kernel:
    """One kernel and the line where it begins."""

    name: str
    parameters: tuple[Parameter, ...]
    line: int


def bare(source: str) -> str:
    """The program with comments and texts blanked; line ends stay."""
    return _SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def kernels(source: str) -> tuple[Kernel, ...]:
    """Every function with ``__global__``, in order; what cannot be read is left out."""
    text = bare(source)
    found = []
    for match in _GLOBAL.finditer(text):
        one = _kernel(text, match.end())
        if one is not None:
            found.append(one)
    return tuple(found)


def _kernel(text: str, place: int) -> Kernel | None:
    while True:
        bounds = _BOUNDS.match(text, place)
        if bounds:
            place = _closed(text, bounds.end())
            continue
        word = _WORD.search(text, place)
        if word is None or text[place : word.start()].strip():
            return None
        place = word.end()
        rest = text[place:].lstrip()
        if rest.startswith("("):
            start = text.index("(", place) + 1
            inside = text[start : _closed(text, start) - 1]
            line = text.count("\n", 0, word.start()) + 1
            listed = [] if inside.strip() in ("", "void") else _parts(inside)
            return Kernel(word[0], tuple(_parameter(part) for part in listed), line)


def _closed(text: str, place: int) -> int:
    """Behind the bracket that closes the one before this place."""
    depth = 1
    while depth and place < len(text):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
    return place


def _parts(text: str) -> list[str]:
    found = []
    depth = 0
    start = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1, "<": 1, ">": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]


def _parameter(text: str) -> Parameter:
    words = _WORD.findall(text)
    name = words[-1] if words else ""
    kind = [
        word
        for word in words[:-1]
        if word not in ("const", "volatile", "__restrict__", "__restrict", "signed")
    ]
    stars = text.count("*") + text.count("[")
    code = _PLAIN.get(" ".join(kind), "") if stars <= 1 and "&" not in text else ""
    return Parameter(name, code, bool(stars), "const" in words)
