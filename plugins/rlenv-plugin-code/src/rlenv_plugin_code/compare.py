"""Whether a value is the expected one, and where it first differs.

Both are plain: exactly the types of ``codec``, nested no deeper than it allows.  Types are compared
exactly, so True is not 1, 1 is not 1.0 and (1,) is not [1]; NaN is right only where NaN is
expected; 0.0 and -0.0 are the same number.  Work is in proportion to the size of both, times a
logarithm: collections without an order are sorted, never hashed, since a program can choose values
whose hashes collide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, TypeAlias

from attrs import evolve, frozen

from .shown import shown

__all__ = ["Difference", "Rules", "difference", "near", "same"]

_EXACT_TYPES = frozenset((type(None), bool, int, str, bytes))  # equal exactly when Python says so
_SCALARS = _EXACT_TYPES | {float}
_PAIRED = 64  # items that are paired by trying, under tolerance
_PARTS = 20_000  # plain values in them


@frozen
class Rules:
    """How values are compared.

    Args:
        rtol, atol: a float may be off by ``atol + rtol * abs(expected)``; with either, an integer
            may stand for a float and a float for an integer.  Two integers are always compared
            exactly, and so are the keys of a dict.
        unordered: the items of the outermost list or tuple may come in any order.
        loose: lists and tuples may stand for one another, and so may 1 and 1.0.
    """

    rtol: float = 0.0
    atol: float = 0.0
    unordered: bool = False
    loose: bool = False

    @property
    def tolerant(self) -> bool:
        return self.rtol > 0 or self.atol > 0

    @property
    def mixed(self) -> bool:
        """Whether integers and floats of one value are the same."""
        return self.loose or self.tolerant


@frozen
class Difference:
    """The first difference: where, and what was there.

    It holds what was expected, so it is private.
    """

    place: str
    expected: str
    got: str

    def __str__(self) -> str:
        at = f"at {self.place}: " if self.place else ""
        return f"{at}expected {self.expected}, got {self.got}"


_Path: TypeAlias = "tuple[_Path | None, Any]"
_Step: TypeAlias = tuple[Any, Any, Any]  # expected, got, index or key
_EXACT = Rules()


def same(
    expected: Any,
    got: Any,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    unordered: bool = False,
    loose: bool = False,
) -> bool:
    """Whether ``got`` is ``expected``; see ``Rules`` for the options."""
    kind = type(expected)
    if kind in _EXACT_TYPES and kind is type(got):
        return bool(expected == got)
    rules = Rules(rtol, atol, unordered, loose)
    return difference(expected, got, rules) is None


def difference(expected: Any, got: Any, rules: Rules = _EXACT) -> Difference | None:
    """The first difference, None when there is none."""
    try:
        if rules.unordered and _sequences(expected, got, rules):
            return _unordered(expected, got, evolve(rules, unordered=False))
        return _walk(expected, got, rules)
    except RecursionError:  # deeper than ``codec`` lets through
        return Difference("", shown(expected), "a value nested too deeply")


def _walk(expected: Any, got: Any, rules: Rules) -> Difference | None:
    todo: list[tuple[Iterator[_Step], _Path | None]] = [(iter(((expected, got, None),)), None)]
    while todo:
        steps, above = todo[-1]
        step = next(steps, None)
        if step is None:
            todo.pop()
            continue
        want, have, at = step
        path = None if len(todo) == 1 else (above, at)
        inner = _inside(want, have, path, rules)
        if isinstance(inner, Difference):
            return inner
        if inner is not None:
            todo.append((inner, path))
    return None


def _inside(
    want: Any, have: Any, path: _Path | None, rules: Rules
) -> Iterator[_Step] | Difference | None:
    """What remains to be compared of two values: None for nothing."""
    kind = type(want)
    if kind in (list, tuple) and _sequences(want, have, rules):
        if len(want) != len(have):
            return _counts(want, have, path, "items")
        return None if _flat_same(want, have) else zip(want, have, range(len(want)), strict=True)
    if kind is dict and type(have) is dict:
        return _inside_dict(want, have, path, rules)
    if kind in (set, frozenset) and type(have) is kind:
        alike = _alike(_sorted(want, rules), _sorted(have, rules), rules)
        return None if alike else _differ(want, have, path)
    return None if _scalars_same(want, have, rules) else _differ(want, have, path)


def _inside_dict(
    want: dict[Any, Any], have: dict[Any, Any], path: _Path | None, rules: Rules
) -> Iterator[_Step] | Difference:
    if len(want) != len(have):
        return _counts(want, have, path, "keys")
    wanted = _by_key(want, rules)
    given = _by_key(have, rules)
    if any(w[0] != h[0] for w, h in zip(wanted, given, strict=True)):
        return _differ(want, have, path)
    return ((want[w], have[h], w) for (_, w), (_, h) in zip(wanted, given, strict=True))


def _sequences(want: Any, have: Any, rules: Rules) -> bool:
    """Whether both are of a kind that is compared item by item."""
    if type(want) not in (list, tuple):
        return False
    return type(have) is type(want) or (rules.loose and type(have) in (list, tuple))


def _flat_same(want: Any, have: Any) -> bool:
    """Whether two sequences of plain scalars are equal, types included; False decides nothing."""
    kinds = list(map(type, want))
    if kinds != list(map(type, have)) or not _SCALARS.issuperset(kinds):
        return False
    return list(want) == list(have)


def _unordered(want: Any, have: Any, rules: Rules) -> Difference | None:
    if len(want) != len(have):
        return _counts(want, have, None, "items")
    wanted = _sorted(want, rules)
    given = _sorted(have, rules)
    if _alike(wanted, given, rules) or (rules.tolerant and _paired(want, have, rules)):
        return None
    return _differ(want, have, None, " in any order")


# -- numbers and other scalars -------------------------------------------------------------------


def _scalars_same(want: Any, have: Any, rules: Rules) -> bool:
    kind = type(want)
    if kind is type(have):
        if kind in _EXACT_TYPES:
            return bool(want == have)
        if kind is float:
            return near(want, have, rules)
        if kind is complex:
            return near(want.real, have.real, rules) and near(want.imag, have.imag, rules)
        return False
    if rules.mixed and {kind, type(have)} == {int, float}:
        return near(want, have, rules)
    return False


def near(want: float, have: float, rules: Rules) -> bool:
    """Whether two numbers, at least one of them a float, are the same within the tolerance."""
    if want == have:
        return True
    if not rules.tolerant:
        return _is_nan(want) and _is_nan(have)
    try:
        want = float(want)
        have = float(have)
    except OverflowError:  # an integer beyond the floats
        return False
    if not (isfinite(want) and isfinite(have)):
        return _is_nan(want) and _is_nan(have)
    return abs(want - have) <= rules.atol + rules.rtol * abs(want)


def _is_nan(value: float) -> bool:
    return value != value  # noqa: PLR0124 - the one value that is not itself, of any size


# -- collections without an order ----------------------------------------------------------------


_RANKS = {
    type(None): 0, bool: 1, int: 2, float: 3, complex: 5, str: 6, bytes: 7, tuple: 8, list: 9,
    set: 10, frozenset: 11, dict: 12,
}  # fmt: skip


_Token: TypeAlias = tuple[Any, ...]
_Tokens: TypeAlias = list[tuple[_Token, Any]]


def _token(value: Any, rules: Rules) -> _Token:
    """Equal for what is the same, and in one order with all others."""
    kind = type(value)
    if kind is float or kind is int:
        return (4, 0) if _is_nan(value) else (2 if rules.mixed else _RANKS[kind], value)
    if kind in _EXACT_TYPES:
        return (_RANKS[kind], 0 if value is None else value)
    if kind is list or kind is tuple:
        rank = 9 if rules.loose else _RANKS[kind]
        return (rank, tuple([_token(item, rules) for item in value]))
    if kind is dict:
        pairs = _by_key(value, rules)
        return (12, tuple([(token, _token(value[key], rules)) for token, key in pairs]))
    if kind is complex:
        return (5, _token(value.real, rules), _token(value.imag, rules))
    return (_RANKS[kind], tuple(sorted([_token(item, rules) for item in value])))


def _by_key(value: dict[Any, Any], rules: Rules) -> _Tokens:
    """(token, key) of every key, sorted by token; keys know no tolerance."""
    return _sorted(value, Rules(loose=True) if rules.loose else _EXACT)


def _sorted(items: Iterable[Any], rules: Rules) -> _Tokens:
    return sorted([(_token(item, rules), item) for item in items], key=_first)


def _first(pair: tuple[_Token, Any]) -> _Token:
    return pair[0]


def _alike(want: _Tokens, have: _Tokens, rules: Rules) -> bool:
    """Whether sorted items are the same one by one."""
    if len(want) != len(have):
        return False
    pairs = zip(want, have, strict=True)
    if rules.tolerant:
        return all(_walk(w[1], h[1], rules) is None for w, h in pairs)
    return all(w[0] == h[0] for w, h in pairs)


def _paired(want: Any, have: Any, rules: Rules) -> bool:
    """Whether every item finds a partner of its own, where sorting by approximate values misled."""
    if len(want) > _PAIRED or _parts(want) + _parts(have) > _PARTS:
        return False
    fits = [[j for j, h in enumerate(have) if _walk(w, h, rules) is None] for w in want]
    partner: dict[int, int] = {}

    def seat(item: int, tried: set[int]) -> bool:
        for place in fits[item]:
            if place not in tried:
                tried.add(place)
                if place not in partner or seat(partner[place], tried):
                    partner[place] = item
                    return True
        return False

    return all(seat(item, set()) for item in range(len(want)))


def _parts(value: Any) -> int:
    """How many plain values there are in a value, itself included; counted to the limit."""
    count = 0
    todo = [value]
    while todo and count <= _PARTS:
        item = todo.pop()
        count += 1
        if type(item) is dict:
            todo.extend(item)
            todo.extend(item.values())
        elif type(item) in _RANKS and type(item) not in _SCALARS and type(item) is not complex:
            todo.extend(item)
    return count


# -- what is said of it --------------------------------------------------------------------------


def _place(path: _Path | None) -> str:
    steps = []
    while path is not None:
        path, step = path
        steps.append(f"[{shown(step, 30)}]")
    return "".join(reversed(steps))


def _counts(want: Any, have: Any, path: _Path | None, what: str) -> Difference:
    return Difference(_place(path), f"{len(want)} {what}", f"{len(have)} {what}")


def _differ(want: Any, have: Any, path: _Path | None, how: str = "") -> Difference:
    return Difference(_place(path), _typed(want, have) + how, _typed(have, want))


def _typed(value: Any, other: Any) -> str:
    name = "" if type(value) is type(other) or value is None else f" ({type(value).__name__})"
    return shown(value) + name
