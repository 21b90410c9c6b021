"""The tables of all dialects: the whole of what answers in Python's syntax may say."""

import ast

import pytest
from rlenv_plugin_cuda.guest.kernel_words import CONSTANT, DIALECTS
from rlenv_plugin_cuda.lang_triton.names import KERNEL
from rlenv_plugin_cuda.planning.checking import Checker
from rlenv_plugin_cuda.planning.dialect import Dialect
from rlenv_plugin_cuda.planning.names import Names
from rlenv_plugin_cuda.planning.tables import CONSTANT as OTHER_CONSTANT
from rlenv_plugin_cuda.planning.tables import CPP_PLAN, PLAN
from rlenv_plugin_cuda.planning.values import Refused

ALL = {
    **{f"numba {role}": dialect for role, dialect in DIALECTS.items()},
    "numba constant": CONSTANT,
    "triton kernel": KERNEL,
    "plan": PLAN,
    "cuda plan": CPP_PLAN,
    "constant": OTHER_CONSTANT,
}
# (statements, expressions, operators, values, calls, builtins, facts, methods): a table that grows
# is a larger surface, so it is stated here too.
SIZES = {
    "numba kernel": (10, 11, 24, 57, 121, 10, 3, 0),
    "numba device": (10, 11, 24, 57, 121, 10, 3, 0),
    "numba plan": (11, 11, 24, 43, 81, 10, 3, 0),
    "numba constant": (10, 7, 24, 151, 74, 0, 0, 0),
    "triton kernel": (9, 12, 24, 15, 241, 4, 4, 21),
    "plan": (10, 13, 28, 54, 29, 10, 6, 12),
    "cuda plan": (10, 13, 28, 54, 29, 10, 6, 12),
    "constant": (10, 12, 28, 54, 16, 10, 6, 12),
}
STATEMENTS = [
    "x = 1", "x: int = 1", "x += 1", "del x", "if x: pass", "for x in x: pass", "while x: pass",
    "return x", "raise x", "try:\n    pass\nfinally:\n    pass", "assert x", "import os",
    "from os import path", "global x", "x()", "pass", "break", "continue", "with x: pass",
    "def f(): pass", "class C: pass", "async def f(): pass", "match x:\n    case 1: pass",
]  # fmt: skip
EXPRESSIONS = [
    "x and y", "(x := 1)", "x + y", "-x", "lambda: x", "x if x else x", "{1: x}", "{x}",
    "[x for x in x]", "{x for x in x}", "{x: x for x in x}", "(x for x in x)", "x < y", "x()",
    "f'{x}'", "1", "x.shape", "x[0]", "x", "[x]", "(x,)",
]  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_a_table_is_as_large_as_it_was(name: str) -> None:
    dialect = ALL[name]
    tables = (
        *(dialect.statements, dialect.expressions, dialect.operators, dialect.values),
        *(dialect.calls, dialect.builtins, dialect.facts, dialect.methods),
    )
    assert tuple(map(len, tables)) == SIZES[name]


@pytest.mark.parametrize("name", ALL)
def test_no_table_names_what_is_hidden_or_of_the_interpreter(name: str) -> None:
    dialect = ALL[name]
    named = dialect.values | dialect.calls | dialect.builtins | dialect.facts | dialect.methods
    parts = {part for full in named for part in full.split(".")}
    assert not {part for part in parts if part.startswith("_")}
    assert not parts & {"eval", "exec", "open", "compile", "getattr", "setattr", "vars", "type"}
    assert not dialect.operators & {ast.MatMult}


def rejected(dialect: Dialect, node: ast.stmt) -> bool:
    (function,) = ast.parse("def f(x, y):\n    pass").body
    assert isinstance(function, ast.FunctionDef)
    function.body = [node]
    try:
        Checker(dialect, Names(), function).statement(node, 1)
    except Refused:
        return True
    return False


@pytest.mark.parametrize("name", ALL)
def test_a_node_in_no_table_is_rejected(name: str) -> None:
    dialect = ALL[name]
    let_through: set[str] = set()
    for text in STATEMENTS:
        (node,) = ast.parse(text).body
        if type(node) not in dialect.statements and not rejected(dialect, node):
            let_through.add(text)
    for text in EXPRESSIONS:
        (given,) = ast.parse(f"z = {text}").body
        assert isinstance(given, ast.Assign)
        if type(given.value) not in dialect.expressions and not rejected(dialect, given):
            let_through.add(text)
    assert let_through == set()
