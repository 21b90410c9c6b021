"""Objects of a solution whose classes extend plain types, and its own iterators: what tests may ask
of them.
"""

from __future__ import annotations

import pytest
from code_runs import closed_sandbox, run, task_of

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

HONEST = """
from collections import OrderedDict, namedtuple
from enum import IntEnum
class Stack(list):
    def push(self, x): self.append(x); return self
    def peek(self): return self[-1]
    def copy(self): return Stack(self)
class LRUCache(OrderedDict):
    def __init__(self, capacity): super().__init__(); self.capacity = capacity
    def get(self, key):
        if key not in self: return -1
        self.move_to_end(key); return self[key]
    def put(self, key, value):
        self[key] = value; self.move_to_end(key)
        if len(self) > self.capacity: self.popitem(last=False)
class Lower(dict):
    def __getitem__(self, key): return super().__getitem__(key.lower())
class Bag(set):
    def __len__(self): return 3
class Money(int):
    def cents(self): return self * 100
class Slug(str):
    def words(self): return self.split("-")
Point = namedtuple("Point", "x y")
class Level(IntEnum):
    LOW = 1
    HIGH = 2
class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n + 1
class Forever(Countdown):
    def __next__(self): return 7
class Solution:
    def build(self, xs): return Stack(xs)
    def down(self, n): return Countdown(n)
def build(xs): return Stack(xs)
def down(n): return Countdown(n)
def forever(): return Forever(1)
def both(n): return [Countdown(n), Countdown(1)]
def add(p, q): return Point(p[0] + q[0], p[1] + q[1])
def total(xs): return sum(xs)
def level(n): return Level.HIGH if n > 1 else Level.LOW
"""


def passed(source: str, entry: str, *tests: str) -> list[object]:
    """True, False or the status of each text."""
    answers = run(task_of({"kind": "asserts", "entry_point": entry, "test": [*tests]}), source)
    return [answer.value if answer.status == "ok" else answer.status for answer in answers]


@pytest.mark.parametrize(
    ("entry", "test"),
    [
        (
            "Stack",
            (
                "s = Stack()\ns.push(1)\ns.push(2)\nassert s.peek() == 2 and s.pop() == 2\nassert"
                " len(s) == 1 and s == [1]"
            ),
        ),
        (
            "Stack",
            (
                "s = Stack()\nassert not s and s == Stack() and s == []\ns.push(1).push(2)\nassert"
                " s and s.peek() == 2"
            ),
        ),
        (
            "Stack",
            (
                "s = Stack([3, 1])\nassert sorted(s) == [1, 3] and list(s) == [3, 1] and s[-1] == 1"
                " and s[:1] == [3] and 3 in s"
            ),
        ),
        (
            "Stack",
            (
                "s = Stack([1])\ns += [2]\nassert s + [3] == [1, 2, 3] and [0] + s == [0, 1, 2] and"
                " s * 2 == [1, 2, 1, 2] and s < [2]"
            ),
        ),
        (
            "Stack",
            (
                "s = Stack([1])\nassert isinstance(s, list) and isinstance(s, Stack) and str(s) =="
                " '[1]' and s.copy() == [1]"
            ),
        ),
        (
            "Stack",
            (
                "s = Stack([5])\ns[0] = 6\ns.append(7)\nassert s == [6, 7] and [6, 7] == s and s !="
                " [6] and total(s) == 13"
            ),
        ),
        ("Stack", "s, t = Stack([1]), Stack()\ns.push(t)\nassert s[1] is t and t == []"),
        (
            "LRUCache",
            (
                "c = LRUCache(2)\nc.put(1, 1)\nc.put(2, 2)\nassert c.get(1) == 1\nc.put(3,"
                " 3)\nassert c.get(2) == -1 and 2 not in c and 1 in c and c.capacity == 2"
            ),
        ),
        (
            "LRUCache",
            (
                "c = LRUCache(2)\nc.put('a', 1)\nassert c == {'a': 1} and dict(c) == {'a': 1} and"
                " list(c.items()) == [('a', 1)] and len(c) == 1"
            ),
        ),
        ("Lower", "d = Lower(a=1)\nassert d['A'] == 1 and d == {'a': 1}"),
        ("Bag", "b = Bag([1])\nassert len(b) == 3 and b | {2} == {1, 2} and b == {1}"),
        (
            "Money",
            (
                "m = Money(5)\nassert m == 5 and m.cents() == 500 and m + 1 == 6 and 1 + m == 6 and"
                " m > 4 and int(m) == 5 and {5: 1}[m] == 1"
            ),
        ),
        (
            "Slug",
            (
                "s = Slug('a-b')\nassert s == 'a-b' and s.words() == ['a', 'b'] and 'x' + s =="
                " 'xa-b' and s[0] == 'a' and f'{s}!' == 'a-b!'"
            ),
        ),
        (
            "Point",
            (
                "p = Point(1, y=2)\nassert p.x == 1 and p == (1, 2) and p == Point(1, 2) and add(p,"
                " p) == Point(2, 4)\na, b = p\nassert b == 2"
            ),
        ),
        ("level", "assert level(5) == Level.HIGH and level(5) == 2 and level(0) != Level.HIGH"),
        ("build", "s = build([1, 2])\nassert s == [1, 2] and s.pop() == 2"),
        ("Solution", "assert Solution().build([3]) == [3]"),
        ("down", "assert list(down(3)) == [3, 2, 1] and sum(down(2)) == 3 and next(down(9)) == 9"),
        ("both", "assert [list(x) for x in both(2)] == [[2, 1], [1]]"),
        ("forever", "it = forever()\nassert [next(it) for _ in range(3)] == [7, 7, 7]"),
        ("Countdown", "c = Countdown(3)\nassert next(c) == 3 and c.n == 2 and list(c) == [2, 1]"),
        ("Solution", "assert list(Solution().down(2)) == [2, 1]"),
        (
            "total",
            (
                "class Mine:\n    def __init__(self): self.n = 0\n    def __iter__(self): return"
                " self\n    def __next__(self):\n        self.n += 1\n        if self.n > 3: raise"
                " StopIteration\n        return self.n\nassert total(Mine()) == 6"
            ),
        ),
    ],
)
def test_what_a_test_may_ask_of_classes_that_extend_plain_types(entry: str, test: str) -> None:
    assert passed(HONEST, entry, test) == [True]


LIAR = """
class Meta(type):
    def __instancecheck__(cls, value): return True
    def __subclasscheck__(cls, value): return True
    def __eq__(cls, other): return True
    __hash__ = type.__hash__
class Yes:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 0
    def __bool__(self): return True
    def __reduce__(self): return (eval, ("1",))
    def __add__(self, other): return Yes()
    __radd__ = __sub__ = __rsub__ = __mul__ = __add__
class L(Yes, list, metaclass=Meta):
    __class__ = int
    n = 0
    def __iter__(self):
        L.n += 1
        return iter([L.n])
    def __getitem__(self, i): return L()
class D(Yes, dict, metaclass=Meta):
    def __getitem__(self, key): return D()
    def items(self): return D()
class I(Yes, int): pass
class S(Yes, str): pass
class T(Yes, tuple): pass
class F(Yes, float): pass
class Deaf(list):
    def __init__(self, *args): pass
class Blank(tuple):
    def __new__(cls, *args): return tuple.__new__(cls)
class It(Yes):
    left = 3
    def __iter__(self): return self
    def __next__(self):
        if not self.left: raise StopIteration
        self.left -= 1
        return Yes()
class Late(list):
    def __len__(self): self.append(0); return 3
LIARS = {"L": L, "D": D, "I": I, "S": S, "T": T, "F": F, "Yes": Yes, "It": It}
def liar(kind): return LIARS[kind]()
def known(x): return x
def rotate(xs): return Deaf()
def shift(p): return Blank()
class Solution:
    def solve(self, kind): return liar(kind)
    def rotate(self, xs): return Deaf()
    def shift(self, p): return Blank()
"""
KINDS = ("L", "D", "I", "S", "T", "F", "Yes", "It")


CLAIMS = (
    "{} == [1, 2]",
    "[1, 2] == {}",
    "{} == {{1: 2}}",
    "{} == 5",
    "{} == 'five'",
    "{} == (1, 2)",
    "{} in [[1, 2], 5, 'five', (1, 2)]",
    "not ({} != [1, 2])",
    "5 <= {} <= 6",
    "{} > [1]",
    "isinstance({}, bytes)",
    "{}[0] == 5",
    "list({}) == [5]",
    "{} + [5] == [6, 5]",
    "5 in {}",
    "hash({}) == hash('five')",
)


@pytest.mark.parametrize("kind", KINDS)
def test_no_class_decides_what_its_objects_equal(kind: str) -> None:
    direct = [f"assert {claim.format(f'liar({kind!r})')}" for claim in CLAIMS]
    calls = (f"liar({kind!r})", f"Solution().solve({kind!r})", f"{kind}()")
    asked = [f"known(1)\nassert {claim.format(call)}" for claim in CLAIMS for call in calls]

    for entry, tests in (("liar", direct), ("known", asked)):
        found = zip(tests, passed(LIAR, entry, *tests), strict=True)
        assert [test for test, value in found if value is not False] == []


def test_an_expected_object_that_forgets_its_arguments_is_equal_to_no_answer() -> None:
    claims = (
        "Solution().rotate([1, 2]) == Deaf([2, 1])",
        "Solution().shift((1, 2)) == Blank(1, 2)",
        "Solution().rotate([1, 2]) <= Deaf([2, 1])",
        "Solution().rotate([1, 2]) in [Deaf([2, 1])]",
        "not (Solution().rotate([1, 2]) != Deaf([2, 1]))",
        "Solution().rotate([1]) == Solution().rotate([2])",
    )
    tests = [f"known(1)\nassert {claim}" for claim in claims]

    found = zip(tests, passed(LIAR, "known", *tests), strict=True)
    assert [test for test, value in found if value is not False] == []


def test_one_object_that_is_always_made_again_is_no_expected_value() -> None:
    source = """
class Vector(list):
    def __new__(cls, *args):
        cls.one = getattr(cls, "one", None) or list.__new__(cls)
        return cls.one
class Solution:
    def turn(self, v): return Vector(v)
    def late(self, v): return list.__new__(Vector)
"""
    tests = (
        "assert candidate().turn(Vector([1, 2])) == Vector([2, 1])",
        "assert candidate().turn([1, 2]) == Vector([2, 1])",
        "assert candidate().late([1, 2]) == Vector([2, 1])",
        "assert candidate().late(1) is not Vector([2, 1]) and Vector([2, 1]) is Vector([1])",
    )
    assert passed(source, "Solution", *tests) == [False, False, False, True]


SPIES = {
    "earlier ones become what a later one is made of": (
        """
ALL = []
class Vector(list):
    def __init__(self, xs=()):
        super().__init__(xs)
        for v in ALL: v[:] = xs
        ALL.append(self)
class Solution:
    def turn(self, v): ALL.clear(); return Vector(v)
"""
    ),
    "what an object is made of is emptied": (
        """
class Vector(list):
    def __init__(self, xs=()):
        if isinstance(xs, list): xs.clear()
class Solution:
    def turn(self, v): return Vector()
"""
    ),
    "the answer is what was made before": (
        """
SEEN = []
class Vector(list):
    def __init__(self, xs=()):
        super().__init__(xs); SEEN.append(self)
class Solution:
    def turn(self, v): return next((s for s in SEEN if s is not v), v)
"""
    ),
    "the answer is empty, and so is what is expected": (
        """
class Vector(list):
    def __init__(self, *args): pass
class Solution:
    def turn(self, v): return []
"""
    ),
    "the answer is one of several, and so is what is expected": (
        """
class Vector(dict):
    def __init__(self, *args): self[0] = 7
class Solution:
    def turn(self, v): return {0: 7} if isinstance(v, Vector) else [[], {0: 7}]
"""
    ),
    "the answer is in what another one holds": (
        """
class Vector(list):
    def __init__(self, xs=()):
        super().__init__(xs)
        if isinstance(xs, list): Vector.last = self
class Solution:
    def turn(self, v): return Late()
class Late(Vector):
    def __len__(self): self[:] = Vector.last; return 2
"""
    ),
}
TURNS = (
    "assert candidate().turn(Vector([1, 2])) == Vector([2, 1])",
    "x = candidate().turn(Vector([1, 2]))\ne = Vector([2, 1])\nassert len(x) == 2 and x == e",
    "e = Vector([2, 1])\nassert candidate().turn(Vector([1, 2])) == e",
    "assert Vector([2, 1]) == candidate().turn(Vector([1, 2]))",
    "assert [x] == [Vector([2, 1])] if (x := candidate().turn([1, 2])[-1]) else False",
)


@pytest.mark.parametrize("spy", SPIES)
def test_an_expected_object_tells_no_solution_its_answer(spy: str) -> None:
    assert passed(SPIES[spy], "Solution", *TURNS) == [False] * 5


def test_an_answer_is_compared_with_an_object_that_the_test_makes_after_it() -> None:
    source = """
class Vector(list): pass
class Solution:
    def turn(self, v): return Vector(v[::-1])
"""
    many = (
        "assert [candidate().turn(Vector([n, 2])) for n in (1, 3, 5)] == [Vector([2, n]) for n in"
        " (1, 3, 5)]"
    )
    assert passed(source, "Solution", TURNS[0], TURNS[1], many) == [True] * 3


def test_what_an_object_holds_is_asked_each_time() -> None:
    tests = (
        "x = Late()\nassert x == [] and len(x) == 3 and x == [0]",
        "x = Late()\nlen(x)\nassert x == []",
    )
    assert passed(LIAR, "Late", *tests) == [True, False]


def test_an_endless_iterator_of_the_solution_does_not_outlast_its_time() -> None:
    slow = (
        "import time\nclass It:\n    def __iter__(self): return self\n    def __next__(self):"
        " time.sleep(0.01); return 1\ndef f(): return It()"
    )
    task = task_of({"kind": "asserts", "entry_point": "f", "test": "assert list(f()) == [1]"})
    assert run(task, slow, timeout=0.5)[0].status == "timeout"
    quick = slow.replace("time.sleep(0.01)", "pass")
    assert run(task, quick, timeout=5.0)[0].value is not True
