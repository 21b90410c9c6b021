"""A tree as text that parses to the same tree: for reports, for rewriting golds, and for the
tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .printed import clock, date, number
from .tree import (
    Add,
    Based,
    Big,
    Builder,
    Call,
    Choice,
    Clock,
    Const,
    Date,
    Div,
    Items,
    Logic,
    Matrix,
    Mod,
    Mul,
    NamedSet,
    Neg,
    Node,
    Num,
    Piecewise,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    Rel,
    Seq,
    SetOf,
    SetOp,
    Sym,
    Text,
)

# how tight a node holds together; what is looser than its place gets brackets
_LIST, _OR, _AND, _REL, _MOD, _SET, _RATIO, _SUM, _PRODUCT, _POWER, _ATOM = range(11)
_LEVELS: dict[type, int] = {
    Items: _LIST, Rel: _REL, Mod: _MOD, SetOp: _SET, Ratio: _RATIO, Add: _SUM,
    PlusMinus: _SUM, Neg: _SUM, Big: _SUM, Mul: _PRODUCT, Quantity: _PRODUCT, Pow: _POWER,
    Based: _POWER,
}  # fmt: skip
_CALL_LEVELS = {"factorial": _POWER, "factorial2": _POWER, "compose": _POWER, "diff": _PRODUCT}
_OPS = {
    "=": "=", "!=": r"\ne", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "~": r"\approx",
    "divides": r"\mid",
}  # fmt: skip
_SET_OPS = {
    "union": r" \cup ", "intersection": r" \cap ", "difference": r" \setminus ",
    "product": r" \times ",
}  # fmt: skip
_CONSTANTS = {"pi": r"\pi", "e": "e", "i": "i", "inf": r"\infty"}
_FUNCTIONS = (
    {
        name: f"\\{name}"
        for name in (
            "sin",
            "cos",
            "tan",
            "cot",
            "sec",
            "csc",
            "sinh",
            "cosh",
            "tanh",
            "coth",
            "ln",
            "log",
            "gcd",
            "max",
            "min",
            "det",
            "arg",
        )
    }
    | {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan"}
    | {
        name: rf"\operatorname{{{name}}}"
        for name in (
            "lcm",
            "sgn",
            "asinh",
            "acosh",
            "atanh",
            "acot",
            "asec",
            "acsc",
            "sech",
            "csch",
            "tr",
        )
    }
    | {"re": r"\operatorname{Re}", "im": r"\operatorname{Im}"}
)
_BRACKETED = {
    "abs": (r"\left|", r"\right|"), "norm": (r"\left\|", r"\right\|"),
    "floor": (r"\lfloor ", r" \rfloor"), "ceil": (r"\lceil ", r" \rceil"), "conj": (r"\bar{", "}"),
    "dot": (r"\dot{", "}"), "ddot": (r"\ddot{", "}"), "tilde": (r"\tilde{", "}"),
    "widetilde": (r"\widetilde{", "}"), "overarc": (r"\overarc{", "}"),
    "overline": (r"\overline{", "}"),
}  # fmt: skip
_MONEY = {"$": "dollar", "€": "euro", "£": "gbp", "¥": "yen", "₹": "rupee", "₩": "won"}


def render(node: Node) -> str:
    """LaTeX text for which ``parse(render(node)) == node``, for every tree that ``parse`` gives."""
    return _at(node, -1)


def _at(node: Node, floor: int) -> str:
    """The text of ``node`` where only what binds tighter than ``floor`` may stand bare."""
    if floor > _LIST and isinstance(node, Choice) and node.value is None:
        return rf"\text{{option {node.letter}}}"
    if floor >= _LIST and isinstance(node, Items):
        rows = r" \\ ".join(_at(item, _LIST) for item in node.items)
        return rf"\begin{{cases}} {rows} \end{{cases}}"
    text = _RULES[type(node)](node)
    return text if _level(node) > floor else f"({text})"


def _level(node: Node) -> int:
    if isinstance(node, Num):
        return _SUM if node.value < 0 else _ATOM
    if isinstance(node, Choice):
        return _ATOM if node.value is None else _LIST
    if isinstance(node, Logic):
        return _OR if node.op == "or" else _AND
    if isinstance(node, Call):
        return (
            _POWER
            if node.name.startswith("factorial")
            else _PRODUCT
            if node.name == "diff"
            else _ATOM
        )
    if isinstance(node, Quantity) and _level(node.value) == _SUM and isinstance(node.value, Num):
        return _SUM
    return _LEVELS.get(type(node), _ATOM)


def _list(nodes: tuple[Node, ...]) -> str:
    return ", ".join(_at(node, _LIST) for node in nodes)


def _symbol(node: Sym) -> str:
    name, _, below = node.name.partition("_")
    if name == "...":
        return r"\ldots"
    if name.startswith("angle "):
        return "\\" + name
    if name[1:] == "⃗":
        return rf"\mathbf{{{name[0]}}}"
    head = name.rstrip("'")
    text = head if len(head) == 1 else f"\\{head} "
    if below:
        tail = below.rstrip("'")
        return f"{text}_{{{tail}}}{below[len(tail) :]}"
    return text + name[len(head) :]


def _sum(node: Add) -> str:
    text = ""
    for arg in node.args:
        if not text:
            text = _at(arg, _SUM) if not isinstance(arg, (Neg, Num)) else _at(arg, -1)
        elif isinstance(arg, Neg):
            text += f" - {_at(arg.arg, _SUM)}"
        elif isinstance(arg, (Num, Quantity)) and _level(arg) == _SUM:
            text += f" - {_at(arg, -1)[1:]}"
        else:
            text += f" + {_at(arg, _SUM)}"
    return text


def _product(node: Mul) -> str:
    parts = [_at(arg, _PRODUCT) for arg in node.args]
    for at, arg in enumerate(node.args[:-1]):
        if isinstance(arg, Num) and arg.decimals and arg.value >= 0:
            parts[at] = f"({parts[at]})"  # or it may join a power of ten behind it
    return r" \cdot ".join(parts)


def _power(node: Pow) -> str:
    base = _at(node.base, _POWER)
    if isinstance(node.base, (Call, Div)) and not base.startswith("("):
        base = f"({base})"
    return f"{base}^{{{_at(node.exponent, -1)}}}"


def _plus_minus(node: PlusMinus) -> str:
    sign = r"\pm" if node.sign > 0 else r"\mp"
    right = _at(node.right, _SUM)
    if node.left is None:
        return f"{sign} {right}"
    left = _at(node.left, -1 if isinstance(node.left, (Add, Num, Neg)) else _SUM)
    return f"{left} {sign} {right}"


def _call(node: Call) -> str:
    name = node.name
    args = node.args
    if name in _BRACKETED and len(args) == 1:
        opening, closing = _BRACKETED[name]
        return f"{opening}{_at(args[0], -1)}{closing}"
    if name == "root":
        degree = (
            "" if args[1].__class__ is Num and _at(args[1], -1) == "2" else f"[{_at(args[1], -1)}]"
        )
        return rf"\sqrt{degree}{{{_at(args[0], -1)}}}"
    if name in ("factorial", "factorial2"):
        return _at(args[0], _POWER) + "!" * (1 + (name == "factorial2"))
    if name == "compose":
        return rf"{_at(args[0], _POWER)} \circ {_at(args[1], _POWER)}"
    if name == "binomial":
        return rf"\binom{{{_at(args[0], -1)}}}{{{_at(args[1], -1)}}}"
    if name == "diff" and len(args) == 1:
        return f"({_at(args[0], -1)})'"
    if name == "diff":
        return rf"\frac{{d}}{{d {_at(args[1], _PRODUCT)}}}({_at(args[0], -1)})"
    if name == "log" and len(args) == 2:
        return rf"\log_{{{_at(args[1], -1)}}}({_at(args[0], -1)})"
    head = _FUNCTIONS.get(name) or (f"{name[:-3]}^{{-1}}" if name.endswith("^-1") else name)
    return f"{head}({_list(args)})"


def _big(node: Big) -> str:
    body = _at(node.body, _PRODUCT)
    if node.kind == "lim":
        side = "" if node.high is None else f"^{_at(node.high, -1)}"
        low = "" if node.low is None else _at(node.low, _POWER)
        return rf"\lim_{{{node.var} \to {low}{side}}} {body}"
    high = "" if node.high is None else f"^{{{_at(node.high, -1)}}}"
    low = "" if node.low is None else _at(node.low, -1)
    if node.kind == "int":
        return rf"\int{'_{' + low + '}' if low else ''}{high} {body} \, d {_symbol(Sym(node.var))}"
    var = _symbol(Sym(node.var)) if node.var else ""
    under = " = ".join(part for part in (var, low) if part)
    return rf"\{node.kind}{'_{' + under + '}' if under else ''}{high} {body}"


def _piecewise(node: Piecewise) -> str:
    rows = (
        f"{_at(value, _LIST)} & " + (_at(condition, _LIST) if condition else "\\text{otherwise}")
        for value, condition in node.branches
    )
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def _relation(node: Rel) -> str:
    text = _at(node.args[0], _REL)
    for op, arg in zip(node.ops, node.args[1:], strict=True):
        sign = _OPS.get(op) or f"\\{op}"
        text += f" {sign} {_at(arg, _REL)}"
    return text


def _logic(node: Logic) -> str:
    if node.op == "not":
        return rf"\lnot {_at(node.args[0], _REL - 1)}"
    level = _OR if node.op == "or" else _AND
    sign = r" \lor " if node.op == "or" else r" \land "
    return sign.join(_at(arg, level) for arg in node.args)


def _sequence(node: Seq) -> str:
    opening = {"<": r"\langle "}.get(node.opening, node.opening)
    closing = {">": r" \rangle"}.get(node.closing, node.closing)
    return f"{opening}{_list(node.items)}{closing}"


def _builder(node: Builder) -> str:
    domain = "" if node.domain is None else rf" \in {_at(node.domain, _REL)}"
    condition = (
        _list(node.condition.args)
        if isinstance(node.condition, Logic) and node.condition.op == "and"
        else _at(node.condition, _LIST)
    )
    return rf"\{{{_at(node.element, _REL)}{domain} \mid {condition}\}}"


def _set_operation(node: SetOp) -> str:
    level = _PRODUCT if node.op == "product" else _SET
    return _SET_OPS[node.op].join(_at(arg, level) for arg in node.args)


def _named_set(node: NamedSet) -> str:
    name = node.name[0]
    suffix = node.name[1:]
    script = "" if not suffix else f"_{{{suffix[1:]}}}" if suffix[0] == "_" else f"^{{{suffix}}}"
    return rf"\mathbb{{{name}}}{script}"


def _matrix(node: Matrix) -> str:
    rows = (" & ".join(_at(entry, _LIST) for entry in row) for row in node.rows)
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def _mod(node: Mod) -> str:
    return rf"{_at(node.value, _MOD)} \pmod{{{_at(node.modulus, -1)}}}"


def _quantity(node: Quantity) -> str:
    name = node.unit[0][0]
    value = _at(node.value, _SUM) if not isinstance(node.value, Num) else number(node.value)
    if len(node.unit) == 1 and node.unit[0][1] == 1:
        if name in ("deg", "degC", "degF"):
            return value + r"^{\circ}" + (rf"\text{{{name[3:]}}}" if name[3:] else "")
        if name == "%":
            return value + r"\%"
        if name in "$€£¥₹₩":
            bare = isinstance(node.value, Num)
            sign = "-" if bare and value.startswith("-") else ""
            symbol = r"\$" if name == "$" else name
            return f"{sign}{symbol}{value.lstrip('-') if bare else f'({_at(node.value, -1)})'}"
    parts = (
        f"\\text{{{_MONEY.get(n, n)}}}" + (f"^{{{power}}}" if power != 1 else "")
        for n, power in node.unit
    )
    return f"{value} {' '.join(parts)}"


def _choice(node: Choice) -> str:
    return f"({node.letter})" + ("" if node.value is None else f" {_at(node.value, -1)}")


_RULES: dict[type, Callable[[Any], str]] = {
    Num: number,
    Const: lambda n: _CONSTANTS[n.name],
    Sym: _symbol,
    Add: _sum,
    Mul: _product,
    Div: lambda n: rf"\frac{{{_at(n.top, -1)}}}{{{_at(n.bottom, -1)}}}",
    Neg: lambda n: f"-{_at(n.arg, _SUM)}",
    Pow: _power,
    PlusMinus: _plus_minus,
    Call: _call,
    Big: _big,
    Piecewise: _piecewise,
    Rel: _relation,
    Logic: _logic,
    Seq: _sequence,
    Items: lambda n: _list(n.items),
    SetOf: lambda n: rf"\{{{_list(n.items)}\}}",
    Builder: _builder,
    SetOp: _set_operation,
    NamedSet: _named_set,
    Matrix: _matrix,
    Mod: _mod,
    Based: lambda n: f"{n.digits}_{{{n.base}}}",
    Quantity: _quantity,
    Choice: _choice,
    Clock: clock,
    Date: date,
    Ratio: lambda n: " : ".join(_at(item, _RATIO) for item in n.items),
    Text: lambda n: n.words,
}
