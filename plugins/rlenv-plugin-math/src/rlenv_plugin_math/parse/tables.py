"""``\\begin{…}`` environments: matrices, arrays, systems and cases."""

from __future__ import annotations

from rlenv_plugin_math.limits import Unparsed, words_of
from rlenv_plugin_math.tree import Call, Items, Matrix, Node, Piecewise, Rel, Text

from .engine import NO_STOPS, Parser
from .lists import combined, items

_MATRICES = words_of(
    """
    pmatrix bmatrix Bmatrix matrix smallmatrix array psmallmatrix bsmallmatrix tabular
    """
)
_SYSTEMS = words_of(
    """
    cases aligned align gathered gather split rcases dcases alignedat eqnarray equation
    """
)
_IF = words_of("if for when where")
_ELSE = words_of("otherwise else")


def environment(p: Parser) -> Node:
    r"""Everything from behind ``\begin`` to its ``\end{…}``."""
    name = _name(p)
    if name in ("array", "alignedat", "tabular"):
        _skip_group(p)
    saved = p.inside, p.stops
    p.inside = name in _MATRICES
    p.stops = NO_STOPS
    rows = _table(p, name)
    p.inside, p.stops = saved
    p.expect("endenv")
    if _name(p) != name:
        raise Unparsed("environments that do not match", p.ats[p.pos])
    if not rows:
        raise Unparsed("an empty environment", p.ats[p.pos])
    return _shape(name, rows, p)


def _shape(name: str, rows: list[list[Node]], p: Parser) -> Node:
    if name in _SYSTEMS or (name == "array" and _is_system(rows)):
        return _system(rows)
    if len({len(row) for row in rows}) != 1:
        raise Unparsed("rows of different length", p.ats[p.pos])
    matrix = Matrix(tuple(map(tuple, rows)))
    if name == "vmatrix":
        return Call("det", (matrix,))
    if name == "Vmatrix":
        return Call("norm", (matrix,))
    return matrix


def _is_system(rows: list[list[Node]]) -> bool:
    return all(len(row) == 1 and type(row[0]) is Rel for row in rows) or any(
        type(row[-1]) is Rel and len(row) == 2 for row in rows
    )


def _system(rows: list[list[Node]]) -> Node:
    if all(len(row) == 1 for row in rows):
        nodes = tuple(row[0] for row in rows)
        return nodes[0] if len(nodes) == 1 else Items(nodes)
    branches: list[tuple[Node, Node | None]] = []
    for row in rows:
        condition = row[1] if len(row) > 1 else None
        otherwise = type(condition) is Text and condition.words in _ELSE
        branches.append((row[0], None if otherwise else condition))
    return Piecewise(tuple(branches))


def _name(p: Parser) -> str:
    """``{pmatrix}``: the letters between the braces."""
    p.expect("{")
    start = p.pos
    while p.kinds[p.pos] not in ("}", "end"):
        p.pos += 1
    name = "".join(p.texts[start : p.pos]).rstrip("*")
    p.expect("}")
    return name


def _skip_group(p: Parser) -> None:
    """``{cc|c}``, ``{@{}l@{}}``."""
    if p.kinds[p.pos] != "{":
        return
    depth = 0
    while True:
        kind = p.kinds[p.pos]
        depth += (kind == "{") - (kind == "}")
        if kind == "end":
            raise p.broken()
        p.pos += 1
        if depth == 0:
            return


def _table(p: Parser, name: str) -> list[list[Node]]:
    rows: list[list[Node]] = [[]]
    system = name in _SYSTEMS
    while True:
        kind = p.kinds[p.pos]
        if kind == "row":
            p.pos += 1
            if rows[-1]:
                rows.append([])
            if p.kinds[p.pos] == "[":  # \\[2pt]
                _skip_length(p)
        elif kind == "&" or (kind == "," and system):
            p.pos += 1
        elif kind == "endenv":
            break
        elif kind == "end":
            raise p.broken()
        else:
            rows[-1].append(_cell(p, rows[-1], system=system))
    return [row for row in rows if row]


def _skip_length(p: Parser) -> None:
    pos = p.pos + 1
    if p.kinds[pos] == "num" and p.kinds[pos + 1] in ("word", "letter"):
        while p.kinds[pos] not in ("]", "end"):
            pos += 1
        p.pos = pos + (p.kinds[pos] == "]")


def _cell(p: Parser, row: list[Node], *, system: bool) -> Node:
    if p.texts[p.pos].lower() in _IF and p.kinds[p.pos] == "word":
        p.pos += 1
    if p.kinds[p.pos] == "rel" and row:  # x + y &= 3
        return _joined(p, row)
    if not system:
        return p.expr(0)
    node = p.expr(0)
    if p.kinds[p.pos] not in ("and", "or"):
        return node
    word = "&" if p.kinds[p.pos] == "and" else "|"
    p.pos += 1
    nodes, between = items(p)
    return combined([node, *nodes], word + between)


def _joined(p: Parser, row: list[Node]) -> Node:
    from .relations import relation

    left = row.pop()
    return relation(p, left)
