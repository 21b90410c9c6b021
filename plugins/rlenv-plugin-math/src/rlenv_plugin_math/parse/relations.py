"""What is between whole expressions: relations, residues, sets, ratios, logic."""

from __future__ import annotations

from rlenv_plugin_math.tree import Call, Div, Logic, Mod, Node, Ratio, Rel, SetOp, Text

from .engine import (
    INFIX,
    LAND,
    LOR,
    MODULO,
    OVER,
    POSTFIX,
    PREFIX,
    RATIO,
    RELATION,
    SETS,
    Parser,
    Prose,
)


def relation(p: Parser, left: Node) -> Node:
    """A chain of relations: all of it is one node."""
    args = [left]
    ops: list[str] = []
    while p.kinds[p.pos] in ("rel", "mid") and p.kinds[p.pos] not in p.stops:
        ops.append(p.texts[p.pos] if p.kinds[p.pos] == "rel" else "divides")
        p.pos += 1
        args.append(p.expr(RELATION))
    return Rel(tuple(args), tuple(ops))


def modulo(p: Parser, left: Node) -> Node:
    r"""``left (mod m)``, ``\pmod{m}``, ``left mod m``."""
    how = p.texts[p.pos]
    p.pos += 1
    if how == "p" and p.kinds[p.pos] in ("{", "num"):
        return Mod(left, p.group() if p.kinds[p.pos] == "{" else p.expr(POSTFIX))
    node = Mod(left, p.expr(SETS))
    if how == "(":
        p.expect(")")
    return node


def set_operation(p: Parser, left: Node) -> Node:
    op = p.texts[p.pos]
    args = [left]
    while p.kinds[p.pos] == "setop" and p.texts[p.pos] == op:
        p.pos += 1
        args.append(p.expr(SETS))
    return SetOp(op, tuple(args))


def ratio(p: Parser, left: Node) -> Node:
    items = [left]
    while p.kinds[p.pos] == ":" and ":" not in p.stops:
        p.pos += 1
        items.append(p.expr(RATIO))
    if any(type(item) is Text for item in items):
        raise Prose
    return Ratio(tuple(items))


def logic(p: Parser, left: Node) -> Node:
    kind = p.kinds[p.pos]
    op = p.texts[p.pos]
    args = [left]
    while p.kinds[p.pos] == kind:
        p.pos += 1
        args.append(p.expr(LAND if op == "and" else LOR))
    return Logic(op, tuple(args))


def negation(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    p.pos += 1
    p.deeper()
    node = p.expr(LAND)
    p.depth -= 1
    return Logic("not", (node,))


def over(p: Parser, left: Node) -> Node:
    r"""``{a \over b}`` and ``{n \choose k}``."""
    name = p.texts[p.pos]
    p.pos += 1
    right = p.expr(OVER)
    return Div(left, right) if name == "frac" else Call("binomial", (left, right))


PREFIX["not"] = negation
INFIX |= {
    "rel": (RELATION, relation),
    "mid": (RELATION, relation),
    "mod": (MODULO, modulo),
    "setop": (SETS, set_operation),
    ":": (RATIO, ratio),
    "land": (LAND, logic),
    "lor": (LOR, logic),
    "over": (OVER, over),
}
