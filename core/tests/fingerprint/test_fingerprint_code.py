"""Code counts by what it does, wherever it stands: on one line, in another function, in a
notebook.
"""

import sys
from types import ModuleType

import pytest
from rlenv import Environment, Slot, stage
from rlenv.identity.state import makeup

ONE_LINE = [
    lambda: 1,
    lambda: 2,
    lambda: 1.0,
    lambda: True,
    lambda: None,
    lambda: "1",
    lambda: -0.0,
    lambda: 0.0,
    lambda: (1,),
    lambda: [1],
]
BODIES = [
    "return 1",
    "return 2",
    "return {1, 2}",
    "return response in {1, 2}",
    "return response in {1, 3}",
    "return len(response)",
    "return max(response)",
    "return response.strip()",
    "return response.lower()",
    "return [x for x in response if x < 1]",
    "return [x for x in response if x < 2]",
    "return (lambda: (lambda: 1)())()",
    "return (lambda: (lambda: 2)())()",
    "yield 1",
    "try:\n        return int(response)\n    except ValueError:\n        return 0",
    "try:\n        return int(response)\n    except TypeError:\n        return 0",
]
HEADS = ["response", "*response", "**response", "response, /", "*, response", "response, other=1"]


def function(head="response", body="return 1", above=""):
    scope = {"__name__": "fingerprint_made"}
    exec(f"{above}def f({head}):\n    {body}\n", scope)
    return scope["f"]


def test_constant_functions_on_one_line_differ():
    made = [stage(where="inline")(one) for one in ONE_LINE]
    assert len({*map(makeup, ONE_LINE)}) == len(ONE_LINE)
    assert len({Environment("e", one).fingerprint for one in made}) == len(ONE_LINE)


def test_functions_that_differ_in_anything_that_they_do_differ():
    made = [function(body=body) for body in BODIES] + [function(head) for head in HEADS[1:]]
    assert len({*map(makeup, made)}) == len(made)
    assert [*map(makeup, made)] == [*map(makeup, made)]


def test_where_a_function_stands_does_not_count():
    assert makeup(function()) == makeup(function(above="\n\n# a comment\n"))


def test_a_set_that_code_compares_with_has_one_text_under_every_hash_seed():
    assert makeup(function(body="return response in {'a', 'b', 'c'}")) == makeup(
        function(body="return response in {'c', 'a', 'b'}")
    )


NOTEBOOK = """
from rlenv import Outcome
LIMIT = {limit}
def helper(response):
    return len(response) < LIMIT
def f(response):
    return helper(response)
class Stage:
    where = "inline"
    def check(self, attempt):
        return Outcome(float(len(attempt.response) < {own}))
"""


def cell(limit=1, own=1):
    """What a notebook's module has after a cell; no file has it."""
    module = ModuleType("fingerprint_notebook")
    exec(compile(NOTEBOOK.format(limit=limit, own=own), "<cell 1>", "exec"), vars(module))
    return module


def test_what_a_notebook_defines_counts_with_the_globals_and_functions_that_it_reads(monkeypatch):
    def name(thing, **cells):
        module = cell(**cells)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        found = getattr(module, thing)
        made = found() if isinstance(found, type) else stage(where="inline")(found)
        return Environment("e", [Slot("s", made)]).fingerprint

    assert name("f") == name("f") != name("f", limit=9)
    assert name("Stage") == name("Stage") != name("Stage", own=9)


def test_helpers_of_two_modules_with_one_body_differ(monkeypatch):
    made = []
    for name in ("fingerprint_one", "fingerprint_other"):
        module = ModuleType(name)
        exec("def helper(response):\n    return response in KNOWN", vars(module))
        monkeypatch.setitem(sys.modules, name, module)
        made.append(module.helper)

    def calling(helper):
        return lambda response: bool(helper(response))

    assert makeup(calling(made[0])) != makeup(calling(made[1]))


@pytest.mark.parametrize("hint", [list[int], dict[str, int], int | None])
def test_a_parametrized_type_is_no_class(hint):
    assert makeup(hint) != makeup(list[str])
