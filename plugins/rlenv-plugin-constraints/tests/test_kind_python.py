"""Rules for Python programs: what their text tells, under aliases and disguises."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv.text import visible
from rlenv_plugin_constraints.kinds.python import Python
from rlenv_plugin_constraints.kinds.python_calls import Calls, Imports
from rlenv_plugin_constraints.kinds.python_complexity import Complexity, complexities
from rlenv_plugin_constraints.kinds.python_signature import Signature
from rlenv_plugin_constraints.text import Text

NO_EVAL = Calls(forbid=("eval", "os.system", "subprocess"))
HIDDEN = [
    "eval('1')", "from os import system as s\ns('x')", "import os as o\no.system('x')",
    "f = eval\nf('x')", "list(map(eval, x))", "getattr(os, 'sys' + 'tem')('x')",
    "__import__('os').system('x')", "import importlib\nimportlib.import_module('os').system('')",
    "__builtins__['eval']('x')", "().__class__.__base__.__subclasses__()",
    "import builtins\nbuiltins.eval('1')", "from os import *\nsystem('x')",
    "def f(e=eval): return e('1')", "(lambda g: g('1'))(eval)",
    "import os\nos.__dict__['system']('x')", "import sys\nsys.modules['os'].system('x')",
    "a, b = 1, eval\nb('1')", "if (e := eval): e('1')", "for e in [eval]: e('1')",
    "class A:\n  f = eval\nA.f('1')", "x = [eval][0]\nx('1')", "import subprocess as sp\nsp.run(1)",
    "@eval\ndef f(): pass", "import os\no = os\no.system('x')", "import os\ng = os.system\ng('x')",
    "exec('x')", "ｅval('1')", "from builtins import eval as e\ne('1')",
    "import os\nclass A: o = os\nA.o.system('x')", "import os\nd = {'o': os}\nd['o'].system('x')",
    "import posix\nposix.system('x')", "import os\n[o.system('x') for o in [os]]",
    "import os\nmatch os:\n  case o: o.system('x')", "import os\ndef f(o): o.system('x')\nf(os)",
    "import shutil\nshutil.os.system('x')", "a = eval\nb = a\nc = b\nc('1')", "vars()['eval']('1')",
    "f = eval if x else len\nf('1')", "```python\nprint(1)\n```\nand\n```python\neval('1')\n```",
]  # fmt: skip
PLAIN = [
    "print(1)",
    "import math\nmath.sqrt(2)",
    "model.eval(1)",
    "def evaluate(x):\n    return x\nevaluate(1)",
    "import sys\nn = sys.stdin.read()\nprint(n)",
    "import os\nprint(os.path.join('a', 'b'))",
    "'eval(1)'.upper()\nprint()",
    "# eval('1')\nprint()",
    "Use no eval(x).\n```python\nprint(1)\n```",
]


@pytest.mark.parametrize("program", HIDDEN)
def test_a_forbidden_call_is_seen_or_held_possible(program: str) -> None:
    assert not NO_EVAL.check(Text(program)).satisfied


@pytest.mark.parametrize("program", PLAIN)
def test_an_innocent_program_is_satisfied(program: str) -> None:
    assert NO_EVAL.check(Text(program)).satisfied


CLEAN = "x = f(1)\n"
EVIL = "eval('1')\n"


@pytest.mark.parametrize(
    "response",
    [
        f"```python\n{CLEAN}```\n```python3.11\n{EVIL}```",
        f"```python\n{CLEAN}```\n```{{.python}}\n{EVIL}```",
        f"{EVIL}[THINK]\n\n</think>{CLEAN}",
        f"```python\n{EVIL}```\n<think>\n```python\n{CLEAN}```\n</think>",
        f"```python\n{EVIL}```\n[THINK]```python\n{CLEAN}```",
        f"<think>a</think>```js\n{CLEAN}```\n{EVIL}",
        f"Hm.\n</think>\n```python\n{EVIL}```",
        f"```python\n{EVIL}```<|im_end|>",
        f"\r```py\n{EVIL}\n```\n- item\n",
        f"```python\n{CLEAN}```\n- item\n    ```python\n    {EVIL}    ```",
    ],
)
def test_the_program_looked_at_is_the_one_that_would_run(response: str) -> None:
    assert not NO_EVAL.check(Text(visible(response))).satisfied


def test_thinking_and_marks_of_the_end_are_no_program() -> None:
    for response in (
        f"<think>{EVIL}</think>\n```py\n{CLEAN}```<|im_end|>",
        f"{EVIL}\n</think>\n```python3.12\n{CLEAN}```",
        f"\ufeff{CLEAN}</s>",
    ):
        assert NO_EVAL.check(Text(visible(response))).satisfied


def test_only_allowed_calls() -> None:
    rule = Calls(allow=("len", "math", ".append"))
    assert rule.check(Text("import math\nx = []\nx.append(math.sqrt(len(x)))")).satisfied
    assert rule.check(Text("def f(x):\n    return len(x)\nf([])")).satisfied
    for program in (
        "print(1)",
        "x.sort()",
        "f()()",
        "len = print\nlen(1)",
        "def f(): pass\nf = print\nf(1)",
        "(lambda: 0)()",
    ):
        assert not rule.check(Text(program)).satisfied
    assert not Calls(forbid=(".sort",)).check(Text("x.sort()")).satisfied
    assert Calls(forbid=("eval",), dynamic="allow").check(Text("getattr(x, 'y')()")).satisfied


@pytest.mark.parametrize(
    ("program", "fits"),
    [
        ("import math", True),
        ("import os", False),
        ("from collections import abc", True),
        ("import collections.abc as c", True),
        ("from . import x", False),
        ("from .math import x", False),
        ("__import__('os')", False),
        ("x = f(1)", True),
        ("import mathx", False),
        ("import math, os", False),
        ("from math import *\nprint(sin(1))", True),
        ("def f():\n    import os", False),
        ("exec('import os')", False),
        ("try:\n    import os\nexcept ImportError:\n    pass", False),
    ],
)
def test_imports(program: str, fits: bool) -> None:
    assert Imports(allow=("math", "collections")).check(Text(program)).satisfied is fits


def test_names_within_modules_are_forbidden_as_well() -> None:
    rule = Imports(forbid=("os.system", "socket"))
    assert rule.check(Text("import os\nos.getcwd()")).satisfied
    for program in (
        "from os import system",
        "import os\nos.system('x')",
        "import socket as s",
        "from socket import *",
        "from os import *",
    ):
        assert not rule.check(Text(program)).satisfied


WANTED = Signature(signature="def f(a: int, b=2, *, c) -> str")
GOOD = "def f(a: int, b=2, *, c) -> str:\n    return 1\n"


@pytest.mark.parametrize(
    ("program", "fits"),
    [
        (GOOD, True),
        ("def f(a: int, b: int=2, *, c: str) -> str: return 1", True),
        ("x = 1\n\n@cache\n" + GOOD, True),
        ("def f(a, b=2, *, c) -> str: return 1", False),
        ("def f(a: int, b=3, *, c) -> str: return 1", False),
        ("def f(a: int, b=2, c=None) -> str: return 1", False),
        ("def f(a: int, b=2, *, c): return 1", False),
        ("def f(a: int, b=2, *args, c) -> str: return 1", False),
        ("def f(a: int, b=2, /, *, c) -> str: return 1", False),
        ("def f(a: int, b=2, *, c) -> str: pass", False),
        ('def f(a: int, b=2, *, c) -> str:\n    """Doc."""\n    ...', False),
        (GOOD + "f = 3", False),
        (GOOD + "def f(x): return 1", False),
        (GOOD + "class f: pass", False),
        (GOOD + "del f", False),
        (GOOD + "if x:\n  from y import f", False),
        (GOOD + "for f in x: pass", False),
        ("class A:\n  def f(a: int, b=2, *, c) -> str: return 1", False),
        ("async def f(a: int, b=2, *, c) -> str: return 1", False),
        ("def g(): pass", False),
        ("# " + GOOD, False),
        ("'''\n" + GOOD + "'''", False),
    ],
)
def test_signatures(program: str, fits: bool) -> None:
    assert WANTED.check(Text(program)).satisfied is fits


def test_a_method_is_found_in_its_class() -> None:
    rule = Signature(signature="def solve(self, x)", within="Solution")
    assert rule.check(Text("class Solution:\n    def solve(self, x):\n        return x")).satisfied
    assert not rule.check(Text("def solve(self, x):\n    return x")).satisfied


@pytest.mark.parametrize(
    ("program", "most"),
    [
        ("def f(): return 1", 1),
        ("def f(x):\n    if x: return 1\n    elif y: return 2\n    else: return 3", 3),
        ("def f(x):\n    if x and y or z: return 1", 4),
        ("def f(x):\n    for i in x:\n        while i: i -= 1\n    else: pass", 3),
        ("def f(x):\n    try: g()\n    except A: pass\n    except B: pass\n    finally: h()", 3),
        ("def f(x): return [a for a in x if a if b]", 4),
        ("def f(x): return 1 if x else 2", 2),
        (
            (
                "def f(x):\n"
                "    match x:\n"
                "        case 1: pass\n"
                "        case 2 if x: pass\n"
                "        case _: pass"
            ),
            4,
        ),
        ("def f(x):\n    def g(y):\n        if y: pass\n    if x: pass", 2),
        ("if a: pass\nif b: pass\nif c: pass", 4),
        ("f = lambda x: x if x else 1", 2),
        ("class A:\n    if a: pass\n    def f(self): pass", 2),
    ],
)
def test_complexity_is_mccabes(program: str, most: int) -> None:
    assert max(count for _, _, count in complexities(ast.parse(program))) == most
    assert Complexity(max=most).check(Text(program)).satisfied
    if most > 1:
        found = Complexity(max=most - 1).check(Text(program))
        assert not found.satisfied
        assert found.spans


NESTED = [
    "-" * 90_000 + "1",
    "1+" * 40_000 + "1",
    "(" * 10_000,
    "[" * 10_000 + "]" * 10_000,
    "x" + ".a" * 40_000,
    "if x: pass\n" + "elif x: pass\n" * 5000,
    "not " * 20_000 + "x",
    "f" + "()" * 30_000,
    "x = 1\n" * 200_000,
    "lambda:" * 10_000 + "x",
    "f'{" * 300,
]


@pytest.mark.parametrize(
    "program",
    [
        *NESTED,
        "",
        "def",
        "\x00",
        "x = 1\x00",
        "\ud800",
        "x = '\ud800",
        "hello world",
        "Hello",
        "42",
        "'prose'",
        "pass",
        "1" * 6000,
        "\f\n\tx",
        "```python\n```",
        "print 'x'",
        "<think>x = f(1)",
    ],
)
def test_what_is_no_program_satisfies_nothing(program: str) -> None:
    for rule in (Python(), NO_EVAL, Imports(forbid=("os",)), WANTED, Complexity(max=10_000_000)):
        assert not rule.check(Text(program)).satisfied


def test_nodes() -> None:
    found = Python(forbid_nodes=("While",)).check(Text("```python\nx = 1\nwhile x: pass\n```"))
    assert not found.satisfied
    assert found.spans == ((16, 29),)
    only = Python(allow_nodes=("FunctionDef", "Return", "BinOp", "operator"))
    assert only.check(Text("def f(a, b):\n    return a + b")).satisfied
    assert not only.check(Text("def f(a, b):\n    return g(a)")).satisfied
    assert not Python(max_nodes=3).check(Text("x = y + 1")).satisfied
    assert Python().check(Text("x = '\\d'")).satisfied


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (Python, {"forbid_nodes": ("Whlie",)}),
        (Python, {"allow_nodes": ("For",), "forbid_nodes": ("For",)}),
        (Calls, {}),
        (Imports, {}),
        (Calls, {"forbid": ("eval()",)}),
        (Calls, {"allow": ("a",), "forbid": ("a",)}),
        (Signature, {"signature": "f(x)"}),
        (Signature, {"signature": "def f(x"}),
        (Complexity, {"max": 0}),
    ],
)
def test_rules_that_make_no_sense(kind: Any, options: Any) -> None:
    with pytest.raises(ConfigError):
        kind(**options)


@given(st.text(max_size=80) | st.text(alphabet="def f(x):\n ()[]{}'\"\\=.,", max_size=80))
def test_every_text_gets_an_answer(response: str) -> None:
    for rule in (Python(), NO_EVAL, Imports(allow=("math",)), WANTED, Complexity(max=3)):
        for begin, end in rule.check(Text(response)).spans:
            assert 0 <= begin <= end <= len(response)
