"""Whatever is in brackets or bars: groups, tuples, intervals, sets, absolute values."""

from __future__ import annotations

from rlenv_plugin_math.limits import Unparsed
from rlenv_plugin_math.tree import Builder, Call, Logic, Matrix, Node, Rel, Seq, SetOf, Sym

from .engine import NO_STOPS, PREFIX, Parser
from .lists import combined, items

_FRENCH = frozenset(("[", "r["))
_BAR = frozenset(("|", "r|"))
_SUCH_THAT = frozenset(("|", ":", "mid"))
_NORM = frozenset(("norm", "rnorm"))


def bracket(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    """``(…)``, ``[…]``, ``(…]``, ``]…[``: a group when it holds one thing, else a sequence."""
    opening = p.texts[p.pos]
    saved = p.inside, p.stops
    p.inside = True
    p.stops = NO_STOPS if opening != "]" else _FRENCH
    p.deeper()
    p.pos += 1
    if p.kinds[p.pos] in (")", "]"):
        p.pos += 1
        nodes: list[Node] = []
        between = ""
    else:
        nodes, between = items(p)
        if "|" in between:
            nodes = [combined(nodes, between)]
            between = ""
        if p.kinds[p.pos] not in (")", "]", "r[", "["):
            raise p.broken()
        p.pos += 1
    closing = p.texts[p.pos - 1]
    p.depth -= 1
    p.inside, p.stops = saved
    if len(nodes) == 1:
        if (opening, closing) not in (("(", ")"), ("[", "]")):
            raise Unparsed("brackets that do not match", p.ats[p.pos - 1])
        return nodes[0]
    if opening == "[" and closing == "]":
        matrix = _matrix(nodes, between)
        if matrix is not None:
            return matrix
    return Seq(tuple(nodes), opening, closing)


def _matrix(nodes: list[Node], between: str) -> Matrix | None:
    """``[[1, 2], [3, 4]]`` and ``[1, 2; 3, 4]``."""
    if nodes and all(type(n) is Seq and n.opening == "[" and n.closing == "]" for n in nodes):
        rows = [n.items for n in nodes if type(n) is Seq]
    elif ";" in between and "," in between and set(between) == {";", ","}:
        rows = _rows(nodes, between)
    else:
        return None
    if len({len(row) for row in rows}) != 1:
        return None
    return Matrix(tuple(rows))


def _rows(nodes: list[Node], between: str) -> list[tuple[Node, ...]]:
    rows: list[list[Node]] = [[nodes[0]]]
    for sign, node in zip(between, nodes[1:], strict=True):
        if sign == ";":
            rows.append([])
        rows[-1].append(node)
    return [tuple(row) for row in rows]


def angled(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    r"""``\langle 1, 2 \rangle`` and ``<1, 2>``."""
    plain = p.kinds[p.pos] == "rel"
    if plain and p.texts[p.pos] != "<":
        raise p.broken()
    stops = frozenset(("rel",)) if plain else NO_STOPS
    nodes, _ = p.nested(lambda: items(p), inside=True, stops=stops)
    if p.texts[p.pos] != ">":
        raise p.broken()
    p.pos += 1
    return Seq(tuple(nodes), "<", ">")


def braces(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    r"""``\{1, 2\}``, ``\{x \mid x > 1\}``, a system behind ``\left\{``; ``{…}`` alone is a
    group.
    """
    group = p.kinds[p.pos] == "{"
    closing = ("}",) if group else ("\\}", "r.")
    saved = p.inside, p.stops
    p.inside = True
    p.stops = NO_STOPS if group and _holds_ratio(p) else _SUCH_THAT
    p.deeper()
    p.pos += 1
    if p.kinds[p.pos] in closing:
        p.pos += 1
        node: Node = SetOf(())
        if group and p.kinds[p.pos] in ("_", "^"):
            node = _prescript(p)
    else:
        node = _braced(p, group)
        if p.kinds[p.pos] not in closing:
            raise p.broken()
        system = p.kinds[p.pos] == "r."
        p.pos += 1
        if system and type(node) is SetOf and len(node.items) == 1:
            node = node.items[0]
    p.depth -= 1
    p.inside, p.stops = saved
    return node


def _holds_ratio(p: Parser) -> bool:
    """``{3:5}``, a group and no set."""
    at = p.pos + 1
    while p.kinds[at : at + 2] == ["num", ":"]:
        at += 2
    return at > p.pos + 1 and p.kinds[at : at + 2] == ["num", "}"]


def _braced(p: Parser, group: bool) -> Node:  # noqa: FBT001 - private
    nodes, between = items(p)
    if p.kinds[p.pos] in _SUCH_THAT:
        p.pos += 1
        p.stops = NO_STOPS
        return _builder(nodes, *items(p))
    if "|" in between:
        nodes = [combined(nodes, between)]
    if group and len(nodes) == 1:
        return nodes[0]
    return SetOf(tuple(nodes))


def _builder(left: list[Node], conditions: list[Node], between: str) -> Builder:
    if "|" in between:
        condition = combined(conditions, between)
    else:
        condition = conditions[0] if len(conditions) == 1 else Logic("and", tuple(conditions))
    element: Node = left[0] if len(left) == 1 else Seq(tuple(left), "(", ")")
    if type(element) is Rel and element.ops == ("in",):
        return Builder(element.args[0], condition, element.args[1])
    return Builder(element, condition)


def prescript(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    """``_{10}C_3``."""
    return _prescript(p)


def _prescript(p: Parser) -> Node:
    """``{}_nC_k`` and ``{}^nC_k``."""
    from .operators import script

    p.pos += 1
    top = script(p)
    if p.texts[p.pos] not in ("C", "P") or p.kinds[p.pos + 1] not in ("_", "^"):
        raise p.broken()
    name = "binomial" if p.texts[p.pos] == "C" else "P"
    p.pos += 2
    return Call(name, (top, script(p)))


def bars(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    """``|x|`` and its LaTeX spellings; the bars of a matrix are its determinant, ``||v||`` a
    norm.
    """
    start = p.pos
    left = p.kinds[start]
    node = p.nested(lambda: p.expr(0), stops=_BAR)
    if p.kinds[p.pos] != ("r|" if left == "l|" else "|"):
        raise p.broken()
    p.pos += 1
    double = p.kinds[start + 1] == p.kinds[p.pos - 2] == "|" and p.gaps[start + 1] == 0
    if double and type(node) is Call and node.name == "abs":
        return Call("norm", node.args)
    return Call("det" if type(node) is Matrix else "abs", (node,))


def norm(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    node = p.nested(lambda: p.expr(0), stops=_NORM)
    if p.kinds[p.pos] not in _NORM:
        raise p.broken()
    p.pos += 1
    return Call("norm", (node,))


def rounded(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    """Floor and ceiling."""
    kind = p.kinds[p.pos]
    name = p.texts[p.pos]
    node = p.nested(lambda: p.expr(0))
    p.expect("r" + kind[1:])
    return Call(name, (node,))


def ellipsis(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    p.pos += 1
    return Sym("...")


_RULES = (
    ("_^", prescript), ("([]", bracket), (("l]",), bracket), (("langle", "rel"), angled),
    (("{", "\\{"), braces), (("|", "l|"), bars), (("norm", "lnorm"), norm),
    (("lfloor", "lceil"), rounded), (("...",), ellipsis),
)  # fmt: skip
PREFIX |= {kind: rule for kinds, rule in _RULES for kind in kinds}
