"""Where expressions are compared: points drawn by the decision's key."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from hashlib import blake2b

from rlenv_plugin_math.compare.walk import Facts, symbols, walk
from rlenv_plugin_math.tree import Big, Call, Neg, Node, Num, Piecewise, Pow, Sym

WANTED = 5  # points at which both sides must have a value
_SCALES = ((2, 8), (4, 32), (1, 8), (3, 240))  # least and most magnitude, in eighths
_DRAWN = 12
Value = Fraction | tuple[Fraction, Fraction]  # real, or real and imaginary part
Point = dict[str, Value]


def points(known: Facts, key: bytes, whole: frozenset[str], *, complexes: bool) -> Iterator[Point]:
    """Twelve points: positive and of mixed sign in turn, at several scales; integers for ``whole``
    names.
    """
    names = sorted(known.names)
    for index in range(_DRAWN):
        point: Point = {}
        for place, name in enumerate(names):
            raw = _draw(key, index, name)
            if name in whole:
                rank = place if index % 2 else len(names) - 1 - place
                point[name] = Fraction(2 + index + 3 * rank + raw % 3 * (len(names) > 1))
            elif complexes:
                point[name] = (_real(raw, index, place), _real(raw >> 32, index, place + 1))
            else:
                point[name] = _real(raw, index, place)
        yield point


def _draw(key: bytes, index: int, name: str) -> int:
    text = f"{index}:{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, key=key[:64], digest_size=16).digest(), "big")


def _real(raw: int, index: int, place: int) -> Fraction:
    least, most = _SCALES[index // 2 % len(_SCALES)]
    share = (raw >> 8) % 2**32
    size = Fraction(least * 2**32 + share * (most - least), 2**35)
    return -size if index % 2 and (raw & 1 or place == 0) else size


def breaks(*trees: Node) -> frozenset[Fraction]:
    """The numbers in the conditions of piecewise functions: where pieces may end."""
    found: set[Fraction] = set()
    for tree in trees:
        for node in walk(tree):
            if isinstance(node, Piecewise):
                for _, when in node.branches:
                    found |= {n.value for n in walk(when) if isinstance(n, Num)} if when else set()
    return frozenset(sorted(found)[:_DRAWN])


def whole_names(*trees: Node) -> frozenset[str]:
    """Variables that are where only integers make sense: a factorial, an alternating sign, a
    bound.
    """
    found: set[str] = set()
    for tree in trees:
        for node in walk(tree):
            for part in _whole_parts(node):
                found |= symbols(part)
    return frozenset(found)


def _whole_parts(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Pow) and _negative(node.base):
        return (node.exponent,)
    if isinstance(node, Big) and node.kind in ("sum", "prod"):
        return tuple(end for end in (node.low, node.high) if end is not None)
    if isinstance(node, Call) and node.name in ("factorial", "binomial"):
        return node.args
    return ()


def _negative(node: Node) -> bool:
    if isinstance(node, Neg):
        return not isinstance(node.arg, Sym)
    return isinstance(node, Num) and node.value < 0
