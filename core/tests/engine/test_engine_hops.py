"""How many functions and modules one call passes through: what a reader of the engine has to
follow.
"""

import gc
import sys
import threading

import pytest
from attrs import frozen
from rlenv import Attempt, Environment, Outcome, Slot, Task

TASK = Task("p", id="t")
PASSED = Outcome(1.0)
FUNCTIONS = 20  # of an inline call, the stage's own check included
MODULES = 13  # of core that a call of a worker passes on the caller's side; the goal is 10


@frozen
class Trivial:
    where: str

    def check(self, attempt: Attempt) -> Outcome:
        return PASSED


@pytest.fixture
def calls():
    """(module, code) of what was called, in this thread and in that of a pool that starts from now
    on.
    """
    found = []

    def note(frame, event, _):
        if event == "call" and threading.current_thread().name in ("MainThread", "rlenv-workers"):
            found.append((frame.f_globals.get("__name__", ""), frame.f_code))

    before = threading.getprofile(), sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    gc.disable()  # what others have in gc.callbacks is no part of a call
    yield found
    gc.enable()
    threading.setprofile(before[0])
    sys.setprofile(before[1])


def warm(where):
    env = Environment("e", [Slot("s", Trivial(where))], memory_mb=1777)  # a pool of its own
    for _ in range(3):
        assert env.verify(TASK, "r") == 1.0
    return env


def test_an_inline_call_passes_few_functions(calls):
    with warm("inline") as env:
        calls.clear()
        env.verify(TASK, "r")
        seen = list(calls)
    found = {code for _, code in seen}

    names = sorted(f"{code.co_filename}:{code.co_qualname}" for code in found)
    assert len(found) <= FUNCTIONS, "\n".join(names)


def test_a_call_of_a_worker_passes_few_modules(calls):
    found = []
    with warm("worker") as env:
        for _ in range(
            20
        ):  # beside some of them the pool looks at its boards, which is no part of a call
            calls.clear()
            env.verify(TASK, "r")
            written = {name for name, code in calls if not code.co_filename.startswith("<")}
            found.append({name for name in written if name.startswith("rlenv.")})
    passed = min(found, key=len)

    assert "rlenv.workers.dispatch" in passed  # the thread of the pool is followed too
    assert len(passed) <= MODULES, sorted(passed)
