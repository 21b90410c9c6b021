"""What people write and numba compiles, in the words of the rules: loops over tuples, and types of
arrays by name.

``for d in (16, 8):`` becomes a loop over ``range(2)`` that begins with ``d = 16 if d_at == 0 else
8``; ``"int32"``, ``np.dtype("int32")`` and ``int`` become the type of numpy that they name.
"""

from __future__ import annotations

# ruff: noqa: TID252 - a sandbox has these packages under no other name
import ast
import copy
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING or not __package__:  # in a sandbox there is no package
    from kernel_words import DTYPES
    from planning.values import Refused
else:
    from ..planning.values import Refused
    from .kernel_words import DTYPES

__all__ = ["usual"]

MOST = 32  # elements of a tuple that a loop goes over
_TYPES = {
    **{code: name for name, code in reversed(DTYPES.items()) if name != "intp"},
    **{name: name for name in DTYPES},
    "bool": "bool_",
    "half": "float16",
    "single": "float32",
    "double": "float64",
    "float": "float64",
    "int": "int64",
    "b1": "bool_",
    "?": "bool_",
}
_ELEMENTS = (
    ast.Constant,
    ast.Name,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)
_USUAL = {"order": "C", "stream": 0, "strides": None}  # what numba takes if nothing is said


def usual(tree: ast.Module) -> ast.Module:
    """The same program; its tree is changed in place.

    Raises:
        Refused: a loop over a tuple that numba would not compile, or whose elements may change.
    """
    words = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.arg, ast.alias))]
    taken = {getattr(node, "id", "") or getattr(node, "arg", "") for node in words}
    taken |= {node.asname or node.name for node in words if isinstance(node, ast.alias)}
    types = _Types(taken)
    types.visit(tree)
    _Loops(tree, taken).visit(tree)
    made = [ast.alias(name, local) for name, local in types.made.items()]
    if made:
        tree.body.insert(0, ast.ImportFrom("numpy", made, 0))
    return ast.fix_missing_locations(tree)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


class _Types(ast.NodeTransformer):
    """Types of arrays as names of numpy; ``made`` has those that have to be imported."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.made: dict[str, str] = {}

    def visit_Module(self, node: ast.Module) -> ast.Module:
        for statement in node.body:
            if isinstance(statement, ast.Assign):
                statement.value = self._type(statement.value)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
        if name not in ("array", "device_array"):
            return node
        host = name == "device_array"
        node.args[1:2] = [self._type(part, host=host) for part in node.args[1:2]]
        node.keywords = [k for k in node.keywords if not (host and _unsaid(k))]
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                keyword.value = self._type(keyword.value, host=host)
        return node

    def _type(self, node: ast.expr, *, host: bool = True) -> ast.expr:
        inner = node
        if host and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            inner = node.args[0] if getattr(node.func, "attr", "") == "dtype" else node
        said = getattr(inner, "value", None) if isinstance(inner, ast.Constant) else None
        if host and isinstance(inner, ast.Name) and inner.id in ("float", "int", "bool"):
            said = inner.id
        full = _TYPES.get(said.lstrip("<=|")) if isinstance(said, str) else None
        if full is None:
            return inner
        local = self.made.get(full) or self.made.setdefault(full, _fresh(f"{full}_", self.taken))
        return ast.copy_location(ast.Name(local, ast.Load()), node)


def _unsaid(keyword: ast.keyword) -> bool:
    given = keyword.value
    return isinstance(given, ast.Constant) and given.value == _USUAL.get(str(keyword.arg), keyword)


class _Loops(ast.NodeTransformer):
    """Loops over tuples as loops over ``range``."""

    def __init__(self, tree: ast.Module, taken: set[str]) -> None:
        self.taken = taken
        nodes = list(ast.walk(tree))
        self.given = Counter(node.arg for node in nodes if isinstance(node, ast.arg))
        self.given.update(
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        self.tuples = {
            node.targets[0].id: node.value
            for node in nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Tuple)
            and self.given[node.targets[0].id] == 1
        }
        self.plan = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.plan = not node.decorator_list
        self.generic_visit(node)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        over = node.iter
        target = node.target
        counter = ""
        if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "enumerate":
            plain = len(over.args) == 1 and not over.keywords  # counted from 0
            both = target.elts if isinstance(target, ast.Tuple) and plain else []
            if len(both) == 2 and isinstance(both[0], ast.Name):
                over = over.args[0]
                target = both[1]
                counter = both[0].id
        values = self._values(over)
        if values is None:
            return node
        counter = counter or _fresh(f"{getattr(target, 'id', 'each')}_at", self.taken)
        self._check(node, values)
        first = _assigned(target, values, counter)
        call = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(len(values))], [])
        made = ast.For(ast.Name(counter, ast.Store()), call, [*first, *node.body], node.orelse)
        for part in (made.target, call, *(each for one in first for each in ast.walk(one))):
            ast.copy_location(part, node)
        return ast.copy_location(made, node)

    def _values(self, node: ast.expr) -> list[ast.expr] | None:
        found = self.tuples.get(node.id) if isinstance(node, ast.Name) else node
        if isinstance(found, ast.Tuple) or (self.plan and isinstance(found, ast.List)):
            return found.elts
        return None

    def _check(self, node: ast.For, values: list[ast.expr]) -> None:
        parts = [part for value in values for part in ast.walk(value)]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        rows = [part.elts if isinstance(part, ast.Tuple) else [part] for part in values]
        kinds = max((set(map(_kind, row)) - {None} for row in zip(*rows)), key=len, default=())
        own = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        fixed = all(isinstance(part, (*_ELEMENTS, ast.Tuple)) for part in parts)
        if not 1 <= len(values) <= MOST:
            said = (
                f"a loop over a tuple of {len(values)} elements; from 1 to {MOST}, or use range(…)"
            )
        elif not fixed or any(self.given[name] > 1 or name in own for name in names):
            said = "a loop over a tuple goes over numbers and names that are given once"
        elif len(kinds) > 1 and not self.plan:
            said = "numba loops over tuples whose elements are of one type"
        else:
            return
        raise Refused(node.lineno, said)


def _kind(value: ast.expr) -> type | None:
    """What numba makes of a number that is written out; None where a name decides."""
    parts = list(ast.walk(value))
    kinds = [type(part.value) for part in parts if isinstance(part, ast.Constant)]
    if float in kinds or any(isinstance(part, ast.Div) for part in parts):
        return float
    named = any(isinstance(part, ast.Name) for part in parts)
    return None if named or not kinds else kinds[0]


def _assigned(target: ast.expr, values: list[ast.expr], counter: str) -> list[ast.stmt]:
    """What a loop begins with: its target is given the element whose turn it is."""
    if isinstance(target, ast.Tuple):
        size = len(target.elts)
        rows = [value.elts if isinstance(value, ast.Tuple) else [] for value in values]
        if any(len(row) != size for row in rows):
            raise Refused(target.lineno, f"{size} names for another number of values")
        columns = zip(target.elts, zip(*rows))
        return [each for one, row in columns for each in _assigned(one, list(row), counter)]
    chosen = copy.deepcopy(values[-1])
    for place in reversed(range(len(values) - 1)):
        test = ast.Compare(ast.Name(counter, ast.Load()), [ast.Eq()], [ast.Constant(place)])
        chosen = ast.IfExp(test, copy.deepcopy(values[place]), chosen)
    return [ast.Assign([target], chosen)]
