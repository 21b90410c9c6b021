"""Sums, products, integrals and limits."""

from __future__ import annotations

from collections.abc import Callable

from rlenv_plugin_math.limits import Unparsed
from rlenv_plugin_math.tree import Big, Const, Node, Rel, Sym

from .engine import NO_STOPS, PREFIX, SUM, Parser
from .operators import SET_NODES, script

_ARROWS = frozenset(("to", ""))


def big(kind: str) -> Callable[[Parser], Node]:
    """The reader of one big operator, behind its command."""

    def read(p: Parser) -> Node:
        low, high = _bounds(p)
        return _integral(p, low, high) if kind == "int" else _sum(p, kind, low, high)

    return read


def united(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    r"""``\bigcup_{k=1}^{n} [k, k+1)``."""
    kind = p.texts[p.pos]
    p.pos += 1
    low, high = _bounds(p)
    node = _sum(p, kind, low, high)
    if low is None or type(node) is not Big or type(node.body) not in SET_NODES:
        raise p.broken()
    return node


def _bounds(p: Parser) -> tuple[Node | None, Node | None]:
    low: Node | None = None
    high: Node | None = None
    while p.kinds[p.pos] in ("_", "^"):
        above = p.kinds[p.pos] == "^"
        p.pos += 1
        if above:
            high = script(p, below=True)
        else:
            low = script(p, below=True)
    return low, high


def _sum(p: Parser, kind: str, low: Node | None, high: Node | None) -> Node:
    body = p.expr(SUM)
    if type(low) is Rel and low.ops == ("=",) and type(low.args[0]) in (Sym, Const):
        return Big(kind, body, low.args[0].name, low.args[1], high)  # type: ignore[union-attr]
    if type(low) is Sym and high is None:
        return Big(kind, body, low.name)
    return Big(kind, body, "", low, high)


def _integral(p: Parser, low: Node | None, high: Node | None) -> Node:
    saved = p.diff, p.stops
    p.diff = ""
    p.stops = NO_STOPS
    body = p.expr(SUM - 1)
    var = p.diff
    p.diff, p.stops = saved
    if not var:
        raise Unparsed("an integral without its variable", p.ats[p.pos])
    return Big("int", body, var, low, high)


def limit(p: Parser) -> Node:
    r"""``\lim_{x \to 0^+}``: the side, if any, stands as ``high``."""
    p.expect("_")
    p.expect("{")
    var = p.texts[p.pos]
    p.pos += 1
    if p.kinds[p.pos] != "implies" or p.texts[p.pos] not in _ARROWS:
        raise p.broken()
    p.pos += 1
    saved = p.inside, p.stops
    p.inside = False
    p.stops = frozenset("^")
    point = p.expr(0)
    p.inside, p.stops = saved
    side: Node | None = None
    if p.take("^"):
        side = script(p)
    p.expect("}")
    return Big("lim", p.expr(SUM), var, point, side)


PREFIX["setop"] = united
