"""Which calls of a test are made for what they leave in their arguments.

A solution that changes an argument changes the test's own value.  ``out = candidate(x); assert out
== sorted(x)`` then expects what the solution wrote.  ``candidate(x); assert x == [1, 2, 3]`` asks
for the change: the argument is *pinned*, by an assertion that no result of the solution takes part
in.  This is read from the test's text alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from attrs import field, frozen

__all__ = ["Lines", "lines_that_pin"]

Lines = tuple[tuple[int, int], ...]
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Subscript, ast.Attribute, ast.Starred)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@frozen
class _Binding:
    """Names that get a value, in an assignment, a loop or a comprehension."""

    names: frozenset[str]
    value: ast.expr


@frozen
class _Facts:
    """What is known of the names of a test, wherever in it they are bound.

    Args:
        roots: names of the solution, and functions of the test that call it.
        results: names of values that the solution gave.
        arguments: names of values that the solution got.
    """

    roots: set[str] = field(factory=set)
    results: set[str] = field(factory=set)
    arguments: set[str] = field(factory=set)

    @property
    def size(self) -> int:
        """How much is known; it only grows."""
        return len(self.roots) + len(self.results) + len(self.arguments)

    def is_call(self, node: ast.AST) -> bool:
        """Whether a node calls the solution, or a method of a value that it gave."""
        return isinstance(node, ast.Call) and _root(node.func) in self.roots | self.results


def lines_that_pin(text: str, names: frozenset[str]) -> Lines:
    """First and last line of each call whose arguments the test pins.

    Args:
        text: a test that can be parsed.
        names: what the solution supplies.
    """
    tree = ast.parse(text)
    bindings = list(_bindings(tree))
    facts = _facts(tree, bindings, names)
    pinned = _pinned(tree, bindings, facts)
    return tuple(
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and facts.is_call(node) and _given(node) & pinned
    )


def _facts(tree: ast.Module, bindings: list[_Binding], names: frozenset[str]) -> _Facts:
    facts = _Facts(roots=set(names))
    before = -1
    while facts.size != before:
        before = facts.size
        for node in ast.walk(tree):
            if isinstance(node, _FUNCTIONS) and any(map(facts.is_call, ast.walk(node))):
                facts.roots.add(node.name)
            elif isinstance(node, ast.Call) and facts.is_call(node):
                facts.arguments.update(_given(node) - facts.roots)
        for binding in bindings:
            _spread(binding, facts)
    return facts


def _spread(binding: _Binding, facts: _Facts) -> None:
    """What is known of a value holds of the names that get it, and of what the value is made up
    of.
    """
    if _has_result(binding.value, facts):
        facts.results.update(binding.names)
    elif _names(binding.value) & facts.arguments:
        facts.arguments.update(binding.names)
    if binding.names & facts.arguments:
        facts.arguments.update(_parts(binding.value) - facts.roots)


def _bindings(tree: ast.Module) -> Iterator[_Binding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield _Binding(_names(target), node.value)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and node.value:
            yield _Binding(_names(node.target), node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield _Binding(_names(node.target), node.iter)


def _pinned(tree: ast.Module, bindings: list[_Binding], facts: _Facts) -> set[str]:
    """Arguments that an assertion pins, and that no assertion compares with a result but one of
    equality.
    """
    pinned: set[str] = set()
    exact: set[str] = set()
    compared: set[str] = set()
    for claim in _claims(tree):
        arguments = _names(claim) & facts.arguments
        if _has_result(claim, facts):
            compared |= arguments
            continue
        pinned |= arguments
        if isinstance(claim, ast.Compare) and isinstance(claim.ops[0], ast.Eq):
            sides = [claim.left, *claim.comparators]
            fixed = [side for side in sides if not _names(side) & facts.arguments]
            exact |= {side.id for side in sides if isinstance(side, ast.Name)} if fixed else set()
    compared = _sources(compared, bindings) & facts.arguments
    pinned = _sources(pinned, bindings) & facts.arguments
    return _aliases((pinned - compared) | (exact & facts.arguments), bindings)


def _sources(names: set[str], bindings: list[_Binding]) -> set[str]:
    """These names and those that their values are computed from."""
    found = set(names)
    before = -1
    while len(found) != before:
        before = len(found)
        for binding in bindings:
            if binding.names & found:
                found |= _names(binding.value)
    return found


def _aliases(names: set[str], bindings: list[_Binding]) -> set[str]:
    """These names and those whose values are made up of theirs."""
    found = set(names)
    before = -1
    while len(found) != before:
        before = len(found)
        for binding in bindings:
            if _parts(binding.value) & found:
                found |= binding.names
    return found


def _claims(tree: ast.Module) -> Iterator[ast.expr]:
    """The conditions of assertions, and of branches that may raise, in their smallest parts."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assert, ast.If)):
            yield from _split(node.test)


def _split(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _split(value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _split(node.operand)
    else:
        yield node


def _has_result(claim: ast.AST, facts: _Facts) -> bool:
    """Whether a result takes part in a claim, other than as the place of an item (``x[:k]``)."""
    if isinstance(claim, ast.Subscript):
        return _has_result(claim.value, facts)
    if isinstance(claim, ast.Name) and claim.id in facts.results:
        return True
    if facts.is_call(claim):
        return True
    return any(_has_result(part, facts) for part in ast.iter_child_nodes(claim))


def _given(call: ast.Call) -> set[str]:
    """Names in the arguments of a call."""
    given = [*call.args, *(word.value for word in call.keywords)]
    return {name for arg in given for name in _names(arg)}


def _parts(value: ast.expr) -> set[str]:
    """Names of the values that a value is made up of, as ``[x, y]`` is, and not computed from."""
    if isinstance(value, ast.Name):
        return {value.id}
    if not isinstance(value, _DISPLAYS):
        return set()
    parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
    if isinstance(value, (ast.Subscript, ast.Attribute)):
        parts = parts[:1]
    return {name for part in parts for name in _parts(part)}


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name))


def _root(node: ast.expr) -> str:
    """The name that an attribute, a call or an item is of, "" for none."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return ""
    return node.id
