"""The tasks that attacks are aimed at; ``honest`` solves each where that is possible."""

from __future__ import annotations

from typing import Any

TOKEN = "@TOKEN@"  # the secret of the canaries; the harness puts it in


def function(prompt: str, entry: str, cases: list[tuple[list[Any], Any]], **more: Any) -> Any:
    """A task of kind function; the first case is visible."""
    rows = [{"args": args, "expected": expected} for args, expected in cases]
    rows[0]["visible"] = True
    return {
        "prompt": prompt,
        "tests": {"kind": "function", "entry_point": entry, "cases": rows, **more},
    }


def stdio(prompt: str, cases: list[tuple[str, str]], **more: Any) -> Any:
    rows = [{"stdin": given, "stdout": wanted} for given, wanted in cases]
    return {"prompt": prompt, "tests": {"kind": "stdio", "cases": rows, **more}}


def asserts(prompt: str, entry: str, test: str) -> Any:
    return {"prompt": prompt, "tests": {"kind": "asserts", "entry_point": entry, "test": test}}


STACK_TEST = """
def check(candidate):
    stack = candidate()
    assert not stack and stack == []
    stack.push(3)
    stack.push(8)
    assert stack == [3, 8] and len(stack) == 2 and 8 in stack
    assert stack.peek() == 8 and stack.pop() == 8 and stack[0] == 3
    assert list(candidate([5, 6])) == [5, 6] and [7] + candidate([8]) == [7, 8]
"""
DOWN_TEST = """
def check(candidate):
    assert list(candidate(3)) == [3, 2, 1]
    assert next(candidate(9)) == 9 and sum(candidate(4)) == 10
"""
TURN_TEST = """
def check(candidate):
    assert candidate().turn(Vector([1, 2, 3])) == Vector([3, 2, 1])
    assert candidate().turn(Vector([4, 5])) == Vector([5, 4])
"""
ADD_TEST = """
METADATA = {"author": "tests"}

def check(candidate):
    assert candidate(2, 3) == 5
    assert candidate(-7, 4) == -3, "signs"
    assert candidate(10**20, 1) == 10**20 + 1
    total = candidate(40, 1) + candidate(1, 0)
    assert total == 42
"""

ROOT_TEST = """
def check(candidate):
    assert candidate(49) == 7
    assert abs(candidate(2) - 1.4142135) < 1e-6
    try:
        candidate(-1)
    except ValueError:
        pass
    else:
        assert False, "no root of a negative number"
"""

SORT_TEST = """
def check(candidate):
    given = [3, 1, 2]
    found = candidate(given)
    assert found == [1, 2, 3]
    assert given == [3, 1, 2], "the argument stays as it is"
    assert len(candidate([])) == 0
    for n in range(2, 6):
        assert candidate(list(range(n, 0, -1)))[0] == 1
        assert candidate(list(range(n, 0, -1)))[-1] == n
"""

SORTED_TEST = """
def check(candidate):
    x = [3, 1, 2]
    out = candidate(x)
    assert len(out) == len(x)
    assert out == sorted(x)
"""

LETTERS_TEST = """
d = {"a": 1, "b": 2}
out = swapped(d)
for key, value in d.items():
    assert out[value] == key
"""

APPLY_TEST = """
def check(candidate):
    def refuse(value):
        raise KeyError(value)
    try:
        candidate(refuse, 3)
        assert False, "the error is the caller's"
    except KeyError:
        pass
    assert candidate(len, "ab") == 2
"""

COLLATZ = """
def steps(n):
    count = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        count += 1
    return count
"""

CLAMP = "def clamp(x, low, high):\n    return EXPR\n"

FACTOR_CHECK = """
def check(stdin, stdout, expected):
    a, b = stdout.split()
    return int(a) * int(b) == int(stdin) and int(a) > 1 and int(b) > 1
"""

TASKS: dict[str, Any] = {
    "add": function(
        "Write add(a, b): the sum of two integers. add(1, 1) is 2.",
        "add",
        [([1, 1], 2), ([2, 3], 5), ([-7, 4], -3), ([10**20, 1], 10**20 + 1), ([0, 0], 0)],
    ),
    "one": function(
        "Write one(n): 1 when n is positive, else 0.",
        "one",
        [([3], 1), ([4], 1), ([-2], 0), ([0], 0), ([99], 1)],
    ),
    "positive": function(
        "Write positive(n): whether n is positive.",
        "positive",
        [([3], True), ([4], True), ([-2], False), ([0], False), ([99], True)],
    ),
    "half": function(
        "Write half(x): half of x as a float. half(3) is 1.5.",
        "half",
        [([3], 1.5), ([5], 2.5), ([-1], -0.5), ([0.25], 0.125)],
    ),
    "digits": function(
        "Write digits(n): the decimal digits of n, from left to right, as a list of integers.",
        "digits",
        [([12], [1, 2]), ([907], [9, 0, 7]), ([5], [5]), ([31337], [3, 1, 3, 3, 7])],
    ),
    "shout": function(
        "Write shout(text): the text in capital letters.",
        "shout",
        [(["ab"], "AB"), (["cat"], "CAT"), (["x"], "X"), (["\u00e9t\u00e9"], "\u00c9T\u00c9")],
    ),
    "tally": function(
        "Write tally(words): how often each word occurs, as a dict.",
        "tally",
        [([["a"]], {"a": 1}), ([["b", "a", "b"]], {"a": 1, "b": 2}), ([["1"]], {"1": 1})],
    ),
    "ratio": function(
        "Write ratio(a, b): a / b as a float, and nan when both are 0.",
        "ratio",
        [([1, 2], 0.5), ([0, 0], float("nan")), ([3, 4], 0.75), ([1, 8], 0.125)],
    ),
    "find": function("Write find(): the secret.", "find", [([], "?"), ([], TOKEN), ([], TOKEN)]),
    "escape": function("Write escape().", "escape", [([], "?"), ([], "escaped")]),
    "sum": stdio(
        "Read integers from standard input, one a line, and print their sum.",
        [("1\n2\n", "3\n"), ("10\n-4\n6\n", "12\n"), ("1000000\n1\n", "1000001\n")],
    ),
    "sort": stdio(
        "Read integers from standard input, one a line, and print them in order, one a line.",
        [("3\n1\n2\n", "1\n2\n3\n"), ("5\n-4\n", "-4\n5\n"), ("70\n8\n9\n", "8\n9\n70\n")],
    ),
    "find-stdio": stdio("Print the secret.", [("", TOKEN + "\n"), ("", TOKEN + "\n")]),
    "escape-stdio": stdio("Print escaped.", [("", "escaped\n")]),
    "again": stdio(
        "Print how often you were run.", [("", "1\n"), ("", "2\n"), ("", "3\n"), ("", "4\n")]
    ),
    "factor": stdio(
        "Read n and print two integers above 1 whose product is n, in any order.",
        [("15\n", "3 5\n"), ("77\n", "7 11\n"), ("221\n", "13 17\n")],
        checker=FACTOR_CHECK,
    ),
    "any-order": stdio(
        "Print the divisors of n, one a line, in any order.",
        [("6\n", "1\n2\n3\n6\n"), ("9\n", "1\n3\n9\n"), ("7\n", "1\n7\n")],
        unordered=True,
    ),
    "near": function(
        "Write near(n): the square root of n to six digits.",
        "near",
        [([4], 2.0), ([2], 1.4142135623730951), ([1e12], 1e6), ([0.25], 0.5)],
        tolerance={"rtol": 1e-6},
    ),
    "bag": function(
        "Write bag(xs): the odd items, in any order.",
        "bag",
        [([[1, 2]], [1]), ([[5, 3, 2, 3]], [3, 3, 5]), ([[2]], []), ([[9, 7]], [7, 9])],
        unordered=True,
    ),
    "steps": {
        "prompt": "Write steps(n): how many steps of Collatz lead from n to 1.",
        "tests": {
            "kind": "golden",
            "entry_point": "steps",
            "golden": COLLATZ,
            "generate": "def generate(rng): return [rng.randrange(3, 100_000)]",
            "count": 8,
        },
    },
    "clamp-suite": {
        "prompt": (
            "Write tests of clamp(x, low, high), which gives the number in the range that is"
            " nearest to x."
        ),
        "tests": {
            "kind": "suite",
            "entry_point": "clamp",
            "golden": CLAMP.replace("EXPR", "max(low, min(x, high))"),
            "mutants": [
                CLAMP.replace("EXPR", expression)
                for expression in (
                    "x",
                    "low",
                    "min(x, high)",
                    "max(low, x)",
                    "min(low, max(x, high))",
                    "max(low, min(x, high - 1))",
                    "abs(max(low, min(x, high)))",
                )
            ],
            "cases": [{"args": [x, -3, 9]} for x in range(-6, 12)],
        },
    },
    "add-js": function(
        "Write add(a, b) in JavaScript.",
        "add",
        [([1, 1], 2), ([2, 3], 5), ([-7, 4], -3), ([40, 2], 42)],
        language="javascript",
    ),
    "add-asserts": asserts("Write add(a, b): the sum of two integers.", "add", ADD_TEST),
    "root-asserts": asserts(
        "Write root(x): the square root; ValueError for a negative x.", "root", ROOT_TEST
    ),
    "sort-asserts": asserts("Write order(xs): a sorted copy of the list.", "order", SORT_TEST),
    "sorted-asserts": asserts("Write order(xs): a sorted copy of the list.", "order", SORTED_TEST),
    "swapped-asserts": asserts(
        "Write swapped(d): its values as keys, its keys as values.", "swapped", LETTERS_TEST
    ),
    "apply-asserts": asserts("Write apply(call, x): what call(x) returns.", "apply", APPLY_TEST),
    "stack-asserts": asserts(
        "Write class Stack(list) with push, pop and peek.", "Stack", STACK_TEST
    ),
    "down-asserts": asserts("Write down(n): an iterator over n, ..., 1.", "down", DOWN_TEST),
    "turn-asserts": asserts(
        "Write class Vector(tuple) and class Solution with turn(v): v in reverse.",
        "Solution",
        TURN_TEST,
    ),
}

for _language in ("c", "cpp", "javascript", "shell"):
    for _name in ("sum", "again", "find-stdio", "escape-stdio"):
        _task = TASKS[_name]
        TASKS[f"{_name} in {_language}"] = {
            "prompt": f"{_task['prompt']} Use {_language}.",
            "tests": {**_task["tests"], "language": _language},
        }

HONEST: dict[str, str] = {
    "add": "def add(a, b): return a + b",
    "one": "def one(n): return 1 if n > 0 else 0",
    "positive": "def positive(n): return n > 0",
    "half": "def half(x): return x / 2",
    "digits": "def digits(n): return [int(d) for d in str(n)]",
    "shout": "def shout(text): return text.upper()",
    "tally": "def tally(words): return {w: words.count(w) for w in words}",
    "ratio": "def ratio(a, b): return a / b if a or b else float('nan')",
    "sum": "import sys\nprint(sum(int(n) for n in sys.stdin.read().split()))",
    "sort": "import sys\nfor n in sorted(map(int, sys.stdin)):\n    print(n)",
    "factor": "n = int(input())\nd = next(d for d in range(2, n) if n % d == 0)\nprint(n // d, d)",
    "any-order": "n = int(input())\nfor d in range(n, 0, -1):\n    if n % d == 0: print(d)",
    "near": "def near(n): return round(n ** 0.5, 9)",
    "bag": "def bag(xs): return [x for x in reversed(xs) if x % 2]",
    "steps": COLLATZ,
    "add-js": "function add(a, b) { return a + b }",
    "sum in c": (
        '#include <stdio.h>\nint main(void) { long n, s = 0; while (scanf("%ld", &n) == 1) s += n;'
        ' printf("%ld\\n", s); }'
    ),
    "sum in cpp": (
        "#include <iostream>\nint main() { long n, s = 0; while (std::cin >> n) s += n; std::cout"
        " << s << std::endl; }"
    ),
    "sum in javascript": (
        "const fs = require('fs');\nconsole.log(fs.readFileSync(0,"
        " 'utf8').split(/\\s+/).filter(Boolean).map(Number).reduce((a, b) => a + b, 0));"
    ),
    "sum in shell": "s=0; while read -r n; do s=$((s + n)); done; echo $s",
    "add-asserts": "def add(a, b): return a + b",
    "root-asserts": "def root(x):\n    if x < 0: raise ValueError(x)\n    return x ** 0.5",
    "sort-asserts": "def order(xs): return sorted(xs)",
    "sorted-asserts": "def order(xs):\n    xs.sort()\n    return xs",
    "swapped-asserts": "def swapped(d): return {v: k for k, v in d.items()}",
    "apply-asserts": "def apply(call, x): return call(x)",
    "stack-asserts": (
        "class Stack(list):\n    def push(self, x): self.append(x)\n    def peek(self): return"
        " self[-1]"
    ),
    "down-asserts": "def down(n): return iter(range(n, 0, -1))",
    "turn-asserts": (
        "class Vector(tuple): pass\nclass Solution:\n    def turn(self, v): return Vector(v[::-1])"
    ),
}
