"""Calls of a function: what programs answer, how they fail, and what honest ones may do."""

from __future__ import annotations

import subprocess
import sys

import pytest
from code_runs import closed_sandbox, function_task, jailed, judged, run, task_of
from rlenv.model.errors import TaskError

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]


def values(source: str, *inputs: object) -> list[object]:
    answers = run(function_task(*inputs), source)
    return [answer.value if answer.status == "ok" else answer.error for answer in answers]


def test_a_function_answers_with_plain_values() -> None:
    source = "def f(x): return {x: [1, 2.5, (None, True), {3}, b'z', 10**40, 'ä\\ud800']}"
    assert values(source, "k") == [{"k": [1, 2.5, (None, True), {3}, b"z", 10**40, "ä\ud800"]}]


def test_keyword_arguments_arrive() -> None:
    cases = [{"args": [1], "kwargs": {"y": 2}, "expected": 3}]
    task = task_of({"kind": "function", "entry_point": "f", "cases": cases})
    assert run(task, "def f(x, *, y): return x + y")[0].value == 3


def test_the_response_is_its_last_block() -> None:
    text = (
        "Think.\n```python\ndef f(x): return 0\n```\nBetter:\n```python\ndef f(x): return x\n```\n"
    )
    assert values(text, 5) == [5]


def test_one_process_serves_all_cases_of_a_response() -> None:
    assert values("seen = []\ndef f(x):\n    seen.append(x)\n    return seen", 1, 2) == [
        [1],
        [1, 2],
    ]


def test_and_the_next_response_sees_nothing_of_it() -> None:
    source = (
        "import os\ndef f(x):\n    open('mark', 'a').write('x')\n    return"
        " len(open('mark').read())"
    )
    jailed()
    for _ in range(2):
        assert run(function_task(1), source, isolation="jail")[0].value == 1


def test_exceptions_are_told_by_their_builtin_names() -> None:
    source = "class Mine(Exception): pass\ndef f(x):\n    if x: raise KeyError(x)\n    raise Mine"
    assert values(source, 1, 0) == ["KeyError", "an exception of its own"]


def test_exit_is_an_exception_like_others() -> None:
    assert values("import sys\ndef f(x):\n    sys.exit(x)\n", 0, 1) == ["SystemExit"] * 2


def test_a_process_that_ends_answers_nothing_more() -> None:
    answers = run(
        function_task(1, 2, 3), "import os\ndef f(x):\n    return x if x < 2 else os._exit(0)"
    )
    assert [answer.status for answer in answers] == ["ok", "crash", "skipped"]


def test_a_case_that_takes_too_long_is_the_last() -> None:
    source = "def f(x):\n    while x: pass\n    return x"
    answers = run(function_task(0, 1, 0), source, timeout=0.5)
    assert [answer.status for answer in answers] == ["ok", "timeout", "skipped"]


def test_sleeping_is_no_way_to_go_unscored() -> None:
    outcome, answers = judged(
        function_task(1), "import time\ndef f(x): time.sleep(60)", timeout=0.3
    )
    assert outcome.score == 0
    assert answers.answers[0].status == "timeout"


def test_a_budget_ends_what_cases_within_their_time_would_not() -> None:
    source = "import time\ndef f(x):\n    time.sleep(0.3)\n    return x"
    answers = run(function_task(*range(20)), source, timeout=1.0, budget=1.0)
    assert answers[0].status == "ok"
    assert answers[-1].status == "skipped"
    assert sum(answer.status == "ok" for answer in answers) <= 4


def test_what_does_not_load_answers_nothing() -> None:
    outcome, answers = judged(function_task(1, 2), "x = 1\ndef f(:\n")
    assert outcome.score == 0
    assert answers.answers[1].error == "SyntaxError in line 2, before any call"


def test_a_missing_function_is_an_error_of_each_case() -> None:
    assert values("def g(x): return x", 1, 2) == ["NameError"] * 2


def test_no_program_is_no_run() -> None:
    outcome, answers = judged(function_task(1), "   ")
    assert outcome.score == 0
    assert answers.answers[0].error == "the response has no program"


@pytest.mark.parametrize(
    ("made", "kind"),
    [("(i for i in range(3))", "generator"), ("lambda: 1", "function"), ("object()", "object")],
)
def test_what_is_no_plain_value_is_an_error(made: str, kind: str) -> None:
    assert values(f"def f(x): return {made}", 1) == [
        f"TypeError: the result is no plain value: {kind}"
    ]


def test_subclasses_count_as_what_they_are_made_of() -> None:
    source = (
        "from collections import Counter, OrderedDict, namedtuple, defaultdict\nfrom enum import"
        " IntEnum\nclass One(IntEnum):\n    A = 1\nclass Liar(int):\n    def __eq__(self, other):"
        " return True\n    __hash__ = int.__hash__\nPoint = namedtuple('Point', 'x y')\ndef f(x):"
        " return [Counter('aab'), OrderedDict(a=1), Point(1, 2), One.A, Liar(7), defaultdict(int)]"
    )
    made = values(source, 1)[0]
    assert made == [{"a": 2, "b": 1}, {"a": 1}, (1, 2), 1, 7, {}]
    assert isinstance(made, list)
    assert [type(value) for value in made] == [dict, dict, tuple, int, int, dict]


def depth_of(source: str) -> int:
    """The depth of recursion, 9,500 at most, that this interpreter allows ``f`` where rlenv does
    not run it.

    Since Python 3.12 calls through C have a limit of their own, which no program can set
    (https://docs.python.org/3/whatsnew/3.12.html, sys.setrecursionlimit): 800 in 3.12.1, 10,000 in
    3.13.0.
    """
    code = (
        "import sys\n"
        "sys.setrecursionlimit(100_000)\n"
        "depth = 0\n"
        "try:\n"
        f"    while depth < 9500: exec({source!r}); depth = f(depth + 100)\n"
        "except RecursionError: pass\n"
        "print(depth)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.parametrize(
    "source",
    [
        "def f(n): return n and 1 + f(n - 1)",
        "from functools import lru_cache\n@lru_cache(None)\ndef f(n): return n and 1 + f(n - 1)",
        "def f(n): return n and 1 + max(map(f, [n - 1]))",
    ],
)
def test_deep_recursion_works_through_python_and_through_c(source: str) -> None:
    bare = depth_of(source)
    deep = bare if bare == 9500 else bare * 3 // 4  # the calls around a program count too

    assert values(source, deep) == [deep]


def test_endless_recursion_is_an_error_of_the_program() -> None:
    assert values("def f(n): return f(n)", 1) == ["RecursionError"]


def test_threads_loops_and_coroutines_work() -> None:
    threads = (
        "import threading, time\n"
        "def beat():\n    while True: time.sleep(0.01)\n"
        "threading.Thread(target=beat, daemon=True).start()\n"
        "def f(x):\n    out = []\n    t = threading.Thread(target=out.append, args=(x,))\n"
        "    t.start(); t.join()\n    return out\n"
    )
    assert values(threads, 3, 4) == [[3], [4]]
    loops = "import asyncio\nasync def g(x):\n    await asyncio.sleep(0)\n    return x\n"
    assert values(loops + "def f(x): return asyncio.run(g(x))", 3) == [3]
    assert values(loops + "async def f(x): return await g(x)", 3) == [3]


def test_prints_harm_nothing_and_are_not_lost() -> None:
    source = (
        "import sys\ndef f(x):\n    print('{' * 200000)\n    sys.stderr.write('[')\n    return x"
    )
    assert values(source, 1, 2) == [1, 2]
    assert values("import sys\nsys.stdout = None\ndef f(x): return x", 1) == [1]
    assert values("import sys\nsys.stdout.close()\ndef f(x): return x", 1) == [1]


def test_names_of_builtins_may_be_used_up() -> None:
    source = (
        "import builtins\nlen = type = list = dict = None\nbuiltins.print = builtins.sum ="
        " builtins.sorted = None\ndef f(x): return x"
    )
    assert values(source, 1) == [1]


def test_demonstrations_under_the_guard_are_not_run() -> None:
    assert values("def f(x): return x\nif __name__ == '__main__':\n    input()\n", 1) == [1]


def test_programs_find_their_own_module_and_source() -> None:
    source = (
        "import sys, inspect, pickle\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass P:\n    x: 'int'\n"
        "def f(x):\n"
        "    assert sys.modules[f.__module__].f is f\n"
        "    assert pickle.loads(pickle.dumps(P(x))) == P(x)\n"
        "    return inspect.getsource(f).startswith('def f')\n"
    )
    assert values(source, 1) == [True]


def test_a_method_can_be_the_entry_point_of_its_class_by_hand() -> None:
    assert values("class Solution:\n    def go(self, x): return x + 1\nf = Solution().go", 1) == [2]


def test_forged_frames_are_answers_and_no_more() -> None:
    forged = (
        "import os, struct\ndef f(x):\n"
        "    text = b'[\"ok\",1,42]'\n"
        "    os.write(3, struct.pack('<I', len(text)) + text)\n    return x\n"
    )
    assert [answer.status for answer in run(function_task(1, 2), forged)] == ["protocol", "skipped"]
    for text in (b"", b"\\xff\\xff\\xff\\x7f", b"\\0\\0\\0\\0" * 3, b"\\x02\\0\\0\\0[]"):
        source = f"import os\nos.write(3, b'{text.decode()}')\ndef f(x): return x\n"
        wanted = "ok" if not text else "protocol"
        assert run(function_task(1), source)[0].status == wanted
    assert run(function_task(1), "import os\nos.close(3)\ndef f(x): return x")[0].status != "ok"


def test_repetitions_with_other_hash_seeds_find_what_hangs_on_them() -> None:
    outcome, answers = judged(
        function_task(1), "def f(x): return list({'a', 'b', 'c', 'd'})", repeat=4
    )
    assert not answers.stable
    assert outcome.score == 0
    outcome, answers = judged(function_task(1), "def f(x): return {'a', 'b', 'c', 'd'}", repeat=3)
    assert answers.stable
    assert outcome.score == 1


def test_unpreloaded_modules_can_be_imported() -> None:
    assert values(
        "import statistics, heapq, re\ndef f(x): return statistics.mean(x)", [1, 2, 3]
    ) == [2]


def test_arguments_that_cannot_be_sent_are_refused_at_load() -> None:
    with pytest.raises(TaskError, match="the task"):
        run(function_task(object()), "")
