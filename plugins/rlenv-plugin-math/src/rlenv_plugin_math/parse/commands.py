"""LaTeX commands that take arguments: fractions, roots, binomials, number sets, accents."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rlenv_plugin_math.limits import Unparsed
from rlenv_plugin_math.tree import Call, Const, Div, Mul, NamedSet, Node, Num, SetOf, Sym

from .calculus import big, limit
from .engine import POSTFIX, PREFIX, PRODUCT, Parser
from .tables import environment

_DS = (Sym("d"), Sym("partial"))
Command = Callable[[Parser], Node]


def fraction(p: Parser) -> Node:
    top = p.group()
    # dx above: the denominator has none
    var = p.diff
    p.diff = None if p.diff else p.diff
    bottom = p.group()
    p.diff = var or p.diff
    below = _of_d(bottom)
    if below is not None:
        if top in _DS:
            return Call("diff", (p.expr(PRODUCT), below))
        above = _of_d(top)
        if above is not None and p.diff is None:
            return Call("diff", (above, below))
    return Div(top, bottom)


def _of_d(node: Node) -> Node | None:
    """The y of ``dy``."""
    if type(node) is Mul and len(node.args) == 2 and node.args[0] in _DS:
        return node.args[1]
    return None


def root(p: Parser) -> Node:
    degree: Node = Num(Fraction(2))
    if p.kinds[p.pos] == "[":
        degree = p.nested(lambda: p.expr(0), inside=True, stops=p.stops)
        p.expect("]")
    if p.kinds[p.pos] == "num":
        return Call("root", (PREFIX["num"](p, POSTFIX), degree))
    return Call("root", (p.group(), degree))


def binomial(p: Parser) -> Node:
    n = p.group()
    return Call("binomial", (n, p.group()))


def number_set(p: Parser) -> Node:
    braced = p.take("{")
    name = p.texts[p.pos]
    if p.kinds[p.pos] not in ("letter", "const") or len(name) != 1:
        raise p.broken()
    p.pos += 1
    if braced:
        p.expect("}")
    return NamedSet(name) if name in "RZQNCPFHK" else Sym(name)


def accent(name: str) -> Command:
    """A mark above: an arrow or hat changes no name, a bar over one letter is a conjugate."""

    def read(p: Parser) -> Node:
        node = p.group()
        ends = node.args if type(node) is Mul else ()
        points = len(ends) == 2 and all(type(a) is Sym and a.name[0].isupper() for a in ends)
        if points and name in ("vec", "overrightarrow"):
            return Call("vec", ends)
        if name in ("vec", "overrightarrow", "hat", "widehat", "overleftrightarrow"):
            return node
        if name in ("overline", "bar"):
            if type(node) is Mul and all(type(a) is Sym and a.name.isupper() for a in node.args):
                return node
            return Call("overline" if type(node) is Mul and name == "overline" else "conj", (node,))
        return Call(name, (node,))

    return read


def ignored(p: Parser) -> Node:
    """A command that wraps one argument and means nothing."""
    return p.group()


def constant_node(node: Node) -> Command:
    return lambda _: node


def dual(p: Parser) -> Node:
    """``\\overset{a}{b}``-likes keep the second argument."""
    p.group()
    return p.group()


COMMANDS: dict[str, Command] = {
    "frac": fraction,
    "dfrac": fraction,
    "tfrac": fraction,
    "cfrac": fraction,
    "sfrac": fraction,
    "nicefrac": fraction,
    "flatfrac": fraction,
    "sqrt": root,
    "binom": binomial,
    "dbinom": binomial,
    "tbinom": binomial,
    "mathbb": number_set,
    "Bbb": number_set,
    "mathds": number_set,
    "emptyset": constant_node(SetOf(())),
    "varnothing": constant_node(SetOf(())),
    "R": constant_node(NamedSet("R")),
    "Z": constant_node(NamedSet("Z")),
    "N": constant_node(NamedSet("N")),
    "Q": constant_node(NamedSet("Q")),
    "C": constant_node(NamedSet("C")),
    "reals": constant_node(NamedSet("R")),
    "Reals": constant_node(NamedSet("R")),
    "infin": constant_node(Const("inf")),
    "sum": big("sum"),
    "prod": big("prod"),
    "int": big("int"),
    "iint": big("int"),
    "oint": big("int"),
    "lim": limit,
    "begin": environment,
    "cancel": ignored,
    "cbrt": lambda p: Call("root", (p.group(), Num(Fraction(3)))),
} | {
    name: accent(name)
    for name in (
        "overline",
        "bar",
        "vec",
        "overrightarrow",
        "hat",
        "widehat",
        "tilde",
        "dot",
        "ddot",
        "widetilde",
        "overleftrightarrow",
        "overarc",
        "check",
        "breve",
    )
}


def command(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    rule = COMMANDS.get(p.texts[p.pos])
    if rule is None:
        raise Unparsed("unknown command", p.ats[p.pos])
    p.pos += 1
    p.deeper()
    node = rule(p)
    p.depth -= 1
    return node


PREFIX["cmd"] = command
