"""What functions and classes reach besides their own code is in the fingerprint too, in one
order.
"""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import fingerprint_patched as patched
import pytest
import rlenv
from rlenv import Environment, Task
from rlenv.identity.state import State

TASK = Task("say something", id="t")
HELPERS = str(Path(__file__).parent / "helpers")


def global_of_a_lambda(limit):
    patched.LIMIT = limit
    return patched.made()


def table_of_a_lambda(limit):
    patched.TABLE["limit"] = limit
    return patched.looks_up()


def global_here(limit):
    patched.LIMIT = limit
    return patched.here


def constant_of_a_module_here(limit):
    patched.LIMIT = limit
    return rlenv.stage(where="inline")(lambda response: float(len(response) > patched.LIMIT))


def module_made_by_code(limit):
    module = ModuleType("settings")
    module.LIMIT = limit
    return lambda response: float(len(response) > module.LIMIT)


def module_that_makes_up_attributes(limit):
    module = ModuleType("settings")
    module.__getattr__ = lambda _: limit
    return lambda response: float(len(response) > module.LIMIT)


def metaclass(limit):
    class Meta(type):
        limit = 0

    Meta.limit = limit
    kind = Meta("Kind", (), {})
    return lambda response: float(len(response) > kind.limit)


def kind_of_method(limit):
    class Kind:
        @(staticmethod if limit == 1 else classmethod)
        def count(*given):
            return len(given)

    return lambda response: float(len(response) > 4 * (Kind.count() - 0))


def docstring(limit):
    class Prompt:
        pass

    Prompt.__doc__ = "x" * limit
    return lambda response: float(len(response) > len(Prompt.__doc__))


def annotations(limit):
    class Shape:
        pass

    Shape.__annotations__ = {"limit": limit}
    return lambda response: float(len(response) > Shape.__annotations__["limit"])


def docstring_of_a_function(limit):
    def prompt():
        pass

    prompt.__doc__ = "x" * limit
    return lambda response: float(len(response) > len(prompt.__doc__))


def circle(limit):
    """Two lists hold themselves in two ways that look alike from inside."""
    first: list[object] = []
    first += [[first], 1]
    again: list[object] = [first[0], 9]
    if limit != 1:
        again = []
        again += [[again], 9]
    both = [first, again]
    return lambda response: float(len(response) > both[1][0][0][1])


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.setattr(patched, "LIMIT", 1)
    monkeypatch.setitem(patched.TABLE, "limit", 1)


@pytest.mark.parametrize(
    "made",
    [
        global_of_a_lambda,
        table_of_a_lambda,
        global_here,
        constant_of_a_module_here,
        module_made_by_code,
        module_that_makes_up_attributes,
        metaclass,
        kind_of_method,
        docstring,
        annotations,
        docstring_of_a_function,
        circle,
    ],
)
def test_two_settings_that_differ_in_a_verdict_differ_in_the_fingerprint(made):
    found = []
    for limit in (1, 9):
        with Environment("e", [rlenv.stage(where="inline")(made(limit))]) as env:
            found.append((env.verify(TASK, "four"), env.fingerprint))
        with Environment("e", [rlenv.stage(where="inline")(made(limit))]) as env:
            assert env.fingerprint == found[-1][1]
    (one, first), (other, second) = found
    assert one != other
    assert first != second


CALLED_INSIDE = """
import sys
sys.path.append(sys.argv[1])
from rlenv import Environment
def score(response):
    import fingerprint_late
    return fingerprint_late.LIMIT
print(Environment("e", [score]).fingerprint)
"""


def test_a_module_that_a_function_imports_when_it_runs_counts(tmp_path):
    found = []
    for limit in (1, 9):
        (tmp_path / "fingerprint_late.py").write_text(f"LIMIT = {limit}\n")
        found.append(printed(CALLED_INSIDE, str(tmp_path)))
    assert found[0] != found[1]


CIRCLES = """
from rlenv import Environment
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
def third(n): return n > 3 and even(n) or odd(n)
class Settings:
    def __init__(self, **values): self.__dict__.update(values)
given = {"a": even, "b": odd, "c": third}
names = sorted(given, key=hash)
held = Settings(**{name: given[name] for name in names})
known = {even, odd, third}
def score(response): return float(any(each(3) for each in known)) if held else 0.0
print(Environment("e", [score]).fingerprint)
"""


def test_functions_that_call_each_other_have_one_fingerprint_in_every_process():
    assert len({printed(CIRCLES, seed=str(seed)) for seed in range(4)}) == 1


def printed(code, *args, seed="0"):
    environ = {**os.environ, "PYTHONHASHSEED": seed}
    argv = [sys.executable, "-c", code, *args]
    return subprocess.run(argv, env=environ, capture_output=True, text=True, check=True).stdout


def test_circles_of_one_shape_have_one_text():
    def ring(values):
        first: list[object] = []
        last = first
        for value in values:
            new: list[object] = [value]
            last.append(new)
            last = new
        last.append(first)
        return first

    def text(value):
        return State().of(value, "it")

    assert text(ring([1, 2])) == text(ring([1, 2]))
    assert text(ring([1, 2])) != text(ring([1, 3]))
    assert text({"a": ring([1]), "b": ring([2])}) == text({"b": ring([2]), "a": ring([1])})
