"""Collections without order: a one-to-one matching of members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlenv_plugin_math.compare.evaluate import Evaluator
from rlenv_plugin_math.compare.kernels import floats
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.tree import Node, Num

_MOST_PAIRS = 4_000


def distinct(members: Sequence[Node], case: Case) -> list[Node]:
    """The members without those that equal an earlier one."""
    found: list[Node] = []
    numbers: set[Any] = set()
    sized: list[tuple[Node, Any]] = []
    for member in members:
        if type(member) is Num:
            if member.value not in numbers:
                numbers.add(member.value)
                found.append(member)
        else:
            size = _size(member, case)
            case.spend(1 + len(sized) // 8)
            if not any(not far(size, known) and case.same(other, member) for other, known in sized):
                sized.append((member, size))
                found.append(member)
    return found


def _size(node: Node, case: Case) -> Any:
    """A constant's approximate value, to pass over the members that are nowhere near; None if
    unknown.
    """
    if case.options.rel_tol or case.options.abs_tol:
        return None
    at = Evaluator(floats(), {}, case)
    try:
        value, error = at.of(node)
    except Undefined:
        return None
    return value if error <= 1e-6 * abs(value) else None


def far(one: Any, other: Any) -> bool:
    """Whether two approximate values cannot be equal, nor one the other rounded."""
    return one is not None and other is not None and abs(one - other) > 1e-3 * abs(one)


def matched(gold: Sequence[Node], given: Sequence[Node], case: Case) -> bool:
    """Whether the members pair off, each with an equal one."""
    if len(gold) != len(given):
        return False
    plain = [[m.value for m in side if type(m) is Num] for side in (gold, given)]
    if all(len(values) == len(gold) for values in plain) and sorted(plain[0]) == sorted(plain[1]):
        case.reached("exact")
        return True
    if len(gold) ** 2 > _MOST_PAIRS:
        case.doubt = True
        return False
    return _pair_off(gold, given, case)


def _pair_off(gold: Sequence[Node], given: Sequence[Node], case: Case) -> bool:
    """Augmenting paths, since a rounded decimal may equal two members."""
    equal: dict[tuple[int, int], bool] = {}
    owner: dict[int, int] = {}
    sizes = [_size(member, case) for member in gold], [_size(member, case) for member in given]

    def fits(wanted: int, found: int) -> bool:
        if far(sizes[0][wanted], sizes[1][found]):
            return False
        if (wanted, found) not in equal:
            equal[wanted, found] = case.same(gold[wanted], given[found])
        return equal[wanted, found]

    def place(wanted: int, tried: set[int]) -> bool:
        for found in range(len(given)):
            if found in tried or not fits(wanted, found):
                continue
            tried.add(found)
            if found not in owner or place(owner[found], tried):
                owner[found] = wanted
                return True
        return False

    return all(place(wanted, set()) for wanted in range(len(gold)))


def in_order(gold: Sequence[Node], given: Sequence[Node], case: Case) -> bool:
    """Whether the members are equal one by one."""
    return len(gold) == len(given) and all(
        case.same(wanted, found) for wanted, found in zip(gold, given, strict=True)
    )
