"""``code/style``: what each part of the score measures, and that nothing but style raises it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from code_runs import closed_sandbox, task_of
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Outcome, Task
from rlenv_plugin_code.stages.style import Style

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]
OPEN: dict[str, Any] = {"isolation": "process", "min_isolation": "process"}
PARTS = ("length", "line", "nesting", "complexity", "naming", "dead")
GOOD = '''
"""Statistics."""
import math


def deviation(values: list[float]) -> float:
    """The standard deviation of some numbers."""
    if not values:
        raise ValueError("no values")
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


class Table:
    MOST = 3

    def rows(self):
        while True:
            yield self.MOST
'''


def styled(source: str, task: Task | None = None, **options: Any) -> Outcome:
    stage = Style(**{**OPEN, **options})
    task = task or Task("Write it.")
    stage.validate(task)
    made = asyncio.run(stage.check(Attempt(task, f"```python\n{source}\n```")))
    assert isinstance(made, Outcome)
    return made


def measured(source: str, part: str) -> object:
    return styled(source).data[part]


def test_a_program_in_good_style_is_worth_one() -> None:
    found = styled(GOOD)

    assert found.score == 1.0, found.detail
    assert {name: found.data[name] for name in PARTS} == {
        "length": 5, "line": 80, "nesting": 3, "complexity": 3, "naming": 0, "dead": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("part", "source", "value"),
    [
        ("length", "def f(x):\n" + "    x += 1\n" * 30 + "    return x", 31),
        ("length", "x = 1\n" * 9 + "def f():\n    return 2", 10),
        ("length", "def f(x): return [" + "x + 1, " * 90 + "]", 22),
        ("length", "x = '" + "run(1)\\n" * 100 + "'\nprint(x)", 17),
        ("length", "x = " + "'a' 'b' " * 400 + "\nprint(x)", 20),
        ("length", "x = [" + "10, " * 500 + "]\nprint(x)", 42),
        ("line", "x = 1  # " + "long " * 30, 159),
        (
            "nesting",
            "def f(x):\n  for a in x:\n    if a:\n      while a:\n        with a: print(a)",
            5,
        ),
        ("nesting", "if a: b()\nelif c: d()\nelif e: f()\nelse: g()", 1),
        ("nesting", "x = lambda: [[c for c in b] for b in (lambda: 1)()]\nx()", 3),
        (
            "nesting",
            "def f():\n  def g():\n    def h():\n      return 1\n    return h\n  return g",
            3,
        ),
        (
            "complexity",
            (
                "def f(a, b):\n  if a and b or a: return 1\n  for x in a: assert x\n  return [y for"
                " y in a if y]"
            ),
            8,
        ),
        (
            "complexity",
            "def f(a):\n  try: a()\n  except OSError: return 1 if a else 2\ndef g(): return 1",
            3,
        ),
        ("naming", "def aB(Cd):\n  eF = Cd\n  return eF", 3),
        ("naming", "class my_class: pass\nl = 1\nprint(l, my_class)", 2),
        (
            "naming",
            (
                "MOST = 1\n_x, __ = MOST, 2\nclass HTTPError(Exception): max_x = 3\nPair ="
                " tuple[int, int]"
            ),
            0,
        ),
        ("dead", "def f():\n  return 1\n  print(2)", 1),
        ("dead", "import os, re\nfrom math import sin as s, cos\nprint(cos(re))", 2),
        ("dead", "def f(x):\n  a = 1\n  b: int = 2\n  c = 3\n  c += x\n  _d = 4\n  return a", 2),
        ("dead", "def f(x):\n  'doc'\n  'not one'\n  x\n  [x]\n  ...\n  return x()", 3),
        ("dead", "if 0: print(1)\nwhile True:\n  break\n  print(2)\nwhile 0: print(3)", 3),
        ("dead", "__all__ = ['sin']\nfrom math import sin", 0),
        (
            "dead",
            (
                "n = 0\ndef f():\n  global n\n  n = 1\ndef g():\n  k = 0\n  def h():\n    nonlocal"
                " k\n    k = 1\n  return h"
            ),
            0,
        ),
    ],
)
def test_what_the_parts_measure(part: str, source: str, value: int) -> None:
    assert measured(source, part) == value


def test_a_part_falls_evenly_between_its_limits() -> None:
    source = "def f(x):\n" + "    x += 1\n" * 20 + "    return x"  # 21 statements
    worth = [styled(source, length=length).score for length in ((21, 41), (11, 31), (1, 21))]

    assert worth == pytest.approx([1.0, 5.5 / 6, 5 / 6])
    assert "length 21 (0.50)" in styled(source, length=(11, 31)).detail


HIDDEN = (
    "for x in range(9):\n    for y in range(9):\n        for z in range(9):\n            if x and y"
    " and z: print(x)"
)


@pytest.mark.parametrize(
    "source",
    [
        f"exec({HIDDEN!r})",
        f"eval(compile({HIDDEN!r}, '', 'exec'))",
        f"e = exec\ndef f(g=e): g({HIDDEN!r})\nf()",
        f"import builtins\ngetattr(builtins, 'ex' + 'ec')({HIDDEN!r})",
        f"getattr(__builtins__, 'ex' + 'ec')({HIDDEN!r})",
        f"globals()['__builtins__'].exec({HIDDEN!r})",
        f"__import__('builtins').exec({HIDDEN!r})",
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {HIDDEN!r}])",
        f"import os\nos.system('python -c ' + {HIDDEN!r})",
        f"import timeit\ntimeit.timeit({HIDDEN!r}, number=1)",
        f"import sys\nsys.modules['builtins'].exec({HIDDEN!r})",
        f"def f(): {HIDDEN!r}\nf.__globals__['__builtins__'].exec(f.__doc__)",
        "import types, marshal\nf = types.FunctionType(marshal.loads(b''), {})\nf()",
        "def f(): pass\nf.__code__ = f.__code__.replace(co_code=b'')\nf()",
        f"open('m.py', 'w').write({HIDDEN!r})\nimport m\nprint(m)",
        f"def f():\n    return {HIDDEN.encode()!r}\nopen('m.py', 'wb').write(f())",
        f"import os, sys\nos.execv(sys.executable, ['python', '-c', {HIDDEN!r}])",
        "open('m.py', 'w').write('from math import pi')\nimport m\nprint(m)",
        "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen']\nprint(1)",
    ],
)
def test_code_that_is_not_in_the_tree_is_worth_nothing(source: str) -> None:
    found = styled(source)

    assert found.score == 0.0
    assert "it uses" in found.detail


def test_texts_that_are_prose_are_no_code() -> None:
    source = (
        "WORDS = ['for', 'x', 'a = b', 'if you like', 'import', 'a\\nb', '1 + 1', '(' *"
        " 9]\nprint(WORDS)"
    )
    assert styled(source).score == 1.0


def test_names_that_only_look_like_these_are_none() -> None:
    source = (
        "import re\n\ncode = re.compile('a')\n\n\ndef evaluate(trace):\n    return"
        " code.match(trace)"
    )
    assert styled(source).score == 1.0


@pytest.mark.parametrize(
    "source",
    [
        "",
        "   \n# x",
        "pass",
        "...",
        "'text'",
        "import os",
        "def f(): pass",
        "class A:\n    '''x'''\n    def f(self): ...",
        "def f(x):\n    'doc'\n    raise NotImplementedError",
        "def f(x): return None",
        "def f(x):\n    return",
        "global x",
        "def f(:",
    ],
)
def test_a_program_that_does_nothing_or_is_none_is_worth_nothing(source: str) -> None:
    assert styled(source).score == 0.0


@pytest.mark.parametrize(
    "source", ["()", "A", "[[10]]", "1 + 1", "a.b", "x < y", "{'score': 1.0}", "'a' if b else c"]
)
def test_a_value_is_no_program(source: str) -> None:
    assert styled(source).score == 0.0


def test_a_program_has_what_the_task_asks_for() -> None:
    function = {"kind": "function", "entry_point": "f", "cases": [{"args": [1], "expected": 1}]}
    program = {"kind": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}
    for tests, source, worth in (
        (function, "def g(x):\n    return x", 0.0),
        (function, "answer = 42", 0.0),
        (function, "def f(x):\n    return x", 1.0),
        (function, "f = lambda x: x", 1.0),
        (function, "from math import sin as f", 0.0),
        (program, "answer = 42", 0.0),
        (program, "Outcome(score=1.0)", 0.0),
        (program, "print(1)", 1.0),
        (program, "import sys\n\nsys.stdout.write('1')", 1.0),
        (program, "any(map(print, 'ab'))", 1.0),
    ):
        assert styled(source, task_of(tests)).score == worth, source


def test_nothing_that_is_added_raises_the_score() -> None:
    poor = "def f(aB, cD):\n" + "    if aB: aB -= 1\n" * 22 + "    return aB"
    before = styled(poor).score
    for more in (
        "\n\n\ndef helper():\n    return 1",
        "\n\n" + "\n".join(f"good_{n} = {n}" for n in range(9)),
        "\n# a comment\n'''a text'''",
        "\nimport math\nprint(math.pi)",
    ):
        assert styled(poor + more).score <= before


def test_one_line_of_expressions_is_not_shorter_than_statements() -> None:
    plain = "def f(xs):\n    best = None\n" + "".join(
        f"    if xs[{n}] > 3 and xs[{n}] < 9:\n        best = xs[{n}]\n" for n in range(12)
    )
    packed = "f = lambda xs: " + " or ".join(
        f"(xs[{n}] > 3 and xs[{n}] < 9 and xs[{n}])" for n in range(12)
    )
    assert styled(packed).score < styled(plain + "    return best").score


def test_names_of_the_task_are_not_the_programs() -> None:
    source = "class Solution:\n    def twoSum(self, nums, badName):\n        return [nums, badName]"
    tests = {
        "kind": "function",
        "entry_point": "Solution.twoSum",
        "cases": [{"args": [[1], 1], "expected": 1}],
    }
    assert measured(source, "naming") == 2
    assert styled(source, Task("Write twoSum(nums, badName).")).data["naming"] == 0
    found = styled(source, Task("Write it.", info={"tests": {**tests, "entry_point": "twoSum"}}))
    assert found.data["naming"] == 1
    assert "; line 3: badName" in found.detail


def test_lines_are_the_responses_own_and_the_first_that_costs_is_named() -> None:
    assert styled("x = 1\nimport os").detail.endswith("; line 3: unused import os")


@pytest.mark.parametrize(
    "option", [(3,), (3, 3), (-1, 2), (1, float("inf")), ("a", "b"), (1, 2, 3)]
)
def test_limits_that_make_no_sense_are_rejected(option: Any) -> None:
    with pytest.raises(ConfigError, match="nesting is"):
        Style(nesting=option)


def test_only_python_is_read() -> None:
    tests = {"kind": "stdio", "cases": [{"stdin": "", "stdout": "1"}], "language": "shell"}
    with pytest.raises(TaskError, match="reads Python only"):
        styled("echo 1", task_of(tests))


@pytest.mark.parametrize(
    "source",
    [
        "(" * 5000,
        "x = " + "-" * 100_000 + "1",
        "x = 1\0",
        "x" + ".y" * 300,
        "a = " + "[" * 90 + "]" * 90,
    ],
)
def test_any_source_has_a_score(source: str) -> None:
    assert 0.0 <= styled(source).score <= 1.0
