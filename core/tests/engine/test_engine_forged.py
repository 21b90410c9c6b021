"""A response that runs in its worker, because a stage executes it, reaches neither the caller nor
another item.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

import pytest
from rlenv import Environment, Slot, Task
from rlenv.model.errors import RlenvError
from rlenv.workers import call

sys.path.append(str(Path(__file__).parents[1] / "workers" / "helpers"))

from forger import Executes, ExecutesLater, ExecutesTogether, attack, progress

TASK = Task("p", answer="a", id="t")
PLACES = [Executes("worker"), ExecutesLater("worker"), ExecutesTogether("worker")]
NAMES = ["sync", "async", "group"]

PICKLE = "pickle.dumps(Evil())"
MEMO = "b'\\x80\\x04Nr' + struct.pack('<I', 1 << 27) + b'.'"  # the C unpickler touches 2 GB for it


def forged(body: str, tag: str = "wire.DONE", seq: str = "mine()") -> str:
    return f"send({tag}, {seq}, {body})"


def odd(**fields: object) -> str:
    return forged(repr(progress(**fields).encode()))


# Each group is tried in one run: a worker that ends costs a tenth of a second.
GROUPS = {
    "no JSON of a result": {
        "a pickle": forged(PICKLE),
        "a memo": forged(MEMO),
        "no JSON": forged("b'{'"),
        "nothing": forged("b''"),
        "no text": forged("b'\\xff\\xfe'"),
        "two values": forged("b'[1] [2]'"),
        "deep": forged("b'[' * 1_000_000"),
        "a huge integer": forged("b'9' * 1_000_000"),
    },
    "odd numbers": {
        "NaN": odd(score=float("nan")),
        "above 1": odd(score=1.5),
        "below 0": odd(score=-1e-9),
        "a text for a score": odd(score="1"),
        "True for a score": odd(score=True),
        "nothing for a score": odd(score=None),
        "an infinite second": odd(seconds=float("inf")),
        "a year of seconds": odd(seconds=10**400),
        "a text for seconds": odd(seconds="1"),
    },
    "odd results": {
        "another stage": odd(stage="other"),
        "a list for a stage": odd(stage=["s"]),
        "a list for data": odd(data=[1]),
        "a number for detail": odd(detail=5),
        "steps": odd(steps=[[0, 7.5]]),
        "huge steps": odd(steps=[[10**400, 0.5]]),
        "an outcome too long": odd(outcome=[1.0, "", {}, None, {}, 1]),
        "a text for an outcome": odd(outcome="abcde"),
        "an outcome and a fault": odd(fault=["error", "m", False]),
    },
    "odd shapes": {
        "a fault without a text": odd(outcome=None, fault=["error", 5, False]),
        "a result too long": odd(rest=[[]]),
        "a dict for results": odd(results=[{"a": 1}]),
        "no progress": forged("b'[[], {}]'"),
        "an artifact of no class": forged("b'[[[0, 1]]]'"),
        "a failure of another kind": forged('b\'["pool", "m", 0, null]\'', "wire.FAILED"),
        "a failure without a text": forged("b'[\"error\", 5, 0, null]'", "wire.FAILED"),
        "a failure with a huge mark": forged('b\'["error", "m", 999999, null]\'', "wire.FAILED"),
        "a failure with junk": forged('b\'["error", "m", 0, [[1], 2]]\'', "wire.FAILED"),
    },
    "odd lists of results": {
        "a number without a result": "write(wire.DONE, 0, b'[%d]' % mine())",
        "a number that is none": """write(wire.DONE, 0, b'["x", [0]]')""",
        "a list for a number": "write(wire.DONE, 0, b'[[1], [0]]')",
        "no list of results": "write(wire.DONE, 0, b'{}')",
        "results in a dict": """write(wire.DONE, 0, b'{"12": 1}')""",
        "a number of results": "write(wire.DONE, 0, b'1')",
        "its own and another's": "write(wire.DONE, 0, b'[%d, [0], %d, 1]' % (mine(), mine() + 1))",
    },
    "odd records": {
        "an item of nobody": forged("b'1'", seq="10**9"),
        "item 0": forged("b'1'", seq="0"),
        "the last item": forged("b'1'", seq="2**64 - 1"),
        "too long": "os.write(socket(), struct.pack('<IQQ', 1, mine(), 1 << 40))",
        "cut short": "os.write(socket(), struct.pack('<IQQ', 1, mine(), 1000)); os._exit(0)",
        "its own twice": forged("b'[0]'") + "; " + forged("b'1'"),
        "a program broken": "[send(wire.BUILT, n, b'[\"broken\", 0]') for n in range(1, 400)]",
        "ready again": forged("b''", "wire.READY", "1"),
        "a partial one": forged(PICKLE, "wire.PARTIAL") + "; os._exit(0)",
    },
}
LARGE = {
    "too many values": "send(wire.DONE, mine(), b'[' + b'{},' * 20_000_000 + b'1]')",
    "many partial ones": (
        "body = bytes(60 << 20); [send(wire.PARTIAL, mine(), body) for _ in range(9)]"
    ),
    "a flood": "[send(wire.DONE, mine(), b' ' * (60 << 20) + b'1') for _ in range(4)]",
}
BODIES = {name: body for group in GROUPS.values() for name, body in group.items()} | LARGE


SLOW = pytest.mark.slow  # records of the others are read as those of a plain check
SINGLE = [pytest.param(PLACES[n], id=NAMES[n], marks=[SLOW] * n) for n in (0, 1)]
GROUP = pytest.param(PLACES[2], id="group", marks=SLOW)


@pytest.fixture(scope="module", params=[*SINGLE, GROUP])
def env(request):
    with Environment("e", [Slot("s", request.param, timeout=60.0)]) as env:
        yield env


def asked(env, response):
    return (
        env.evaluate_group(TASK, [response])[0] if env.group_only else env.evaluate(TASK, response)
    )


def forge(env, bodies, mark):
    """Every body is asked about alone, and none of them harms what comes after."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, body in bodies.items():
        found = asked(env, attack(str(mark), body))
        if found.scored:
            assert 0.0 <= found.value <= 1.0, name
        else:
            assert found.fault.kind in ("crash", "contract", "error", "pool"), name
        assert not mark.exists(), name
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 1 << 20  # KiB
    assert asked(env, "right").value == 1.0
    assert asked(env, "wrong").value == 0.0


MORE = ("odd numbers", "odd lists of results", "no JSON of a result")  # read by the same lines


@pytest.mark.parametrize(
    "group", [pytest.param(name, marks=[SLOW] * (name in MORE)) for name in GROUPS]
)
def test_a_forged_record_is_a_fault_or_a_score_of_its_own_item_and_nothing_else(
    env, group, tmp_path
):
    forge(env, GROUPS[group], tmp_path / "ran")


@pytest.mark.slow  # half a gigabyte of records for each
@pytest.mark.parametrize("name", LARGE)
def test_a_huge_forged_record_is_one_too(env, name, tmp_path):
    forge(env, {name: LARGE[name]}, tmp_path / "ran")


def test_no_tag_and_no_number_makes_the_caller_run_anything(env, tmp_path):
    sends = "for seq in (0, mine(), mine() + 1, 2**63): send({}, seq, {})"
    forge(env, {tag: sends.format(tag, PICKLE) for tag in range(9)}, tmp_path / "ran")


EACH = pytest.param(1, marks=pytest.mark.slow)  # every body, the large ones too: half a minute


@pytest.mark.parametrize("step", [16, EACH])
@pytest.mark.parametrize("stage", SINGLE)
def test_neighbors_of_forgers_keep_their_rewards(stage, step, tmp_path):
    bodies = [*BODIES.values()] if step == 1 else [*BODIES.values()][: -len(LARGE) : step]
    code = [attack(str(tmp_path / "ran"), body) for body in bodies]
    rows = [("right" if i % 2 else "wrong") for i in range(400 // step)]
    for i, one in enumerate(code):
        rows[4 * i] = one
    with Environment("e", [Slot("s", stage, timeout=20.0)]) as env:
        found = list(env.evaluate_many([(TASK, row) for row in rows], workers=2))

    assert not (tmp_path / "ran").exists()
    for row, one in zip(rows, found, strict=True):
        if row in ("right", "wrong"):
            assert one.value == float(row == "right"), one.fault


DESCRIPTORS = """
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        os.ftruncate(fd, 0)
    except OSError:
        pass
"""
BOARDS = {
    "cut short": DESCRIPTORS,
    "CPU time since ever": (
        "report()[1][board.BASE:] = memoryview(struct.pack('dd', float('-inf'), 1e-3)).cast('d')"
    ),
    "no numbers": "report()[1][board.DEADLINE] = report()[1][board.BASE] = float('nan')",
    "huge marks": "report()[0][board.MARK] = 2**63 - 1; report()[1][board.DEADLINE] = -1e300",
}


@pytest.mark.parametrize("name", BOARDS)
def test_what_a_worker_does_to_its_board_costs_its_own_item_only(name, tmp_path):
    code = attack(str(tmp_path / "ran"), f"{BOARDS[name]}\nimport time\ntime.sleep(3600)")
    with Environment("e", [Slot("s", Executes("worker"), timeout=1.5)]) as env:
        found = list(env.evaluate_many([(TASK, row) for row in ("right", code, "wrong")]))

    assert [v.value for v in found] == [1.0, None, 0.0]
    assert found[1].fault.kind == "timeout"


HIDES = {
    "no deadline": "report()[1][board.DEADLINE] = float('inf')",
    "no number": "report()[1][board.DEADLINE] = 1e300; report()[0][board.SEQ] = 0",
    "another number": "report()[1][board.DEADLINE] = 1e300; report()[0][board.SEQ] = 10**9",
    "a program": "report()[1][board.DEADLINE] = 1e300; report()[0][board.SEQ] = -1",
    "no number in the first slot": "server().board.q[board.FIRST] = 0",
    "the number of the next item": (
        "report()[1][board.DEADLINE] = 1e300; report()[0][board.SEQ] += 1"
    ),
    "a program that it says is built": (
        "report()[1][board.DEADLINE] = 1e300; [send(wire.BUILT, n, b'[\"\", 0]') for n in range(9)]"
    ),
    "news without end": (
        """report()[1][board.DEADLINE] = 1e300
import time
while True:
    time.sleep(0.1)
    send(wire.PARTIAL, mine(), b'[0]')
    send(wire.SPENT, 1, b'')"""
    ),
}


LONG = ("no number", "no number in the first slot")  # eight seconds each, as "no deadline"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[SLOW] * (name in LONG)) for name in HIDES]
)
@pytest.mark.parametrize("stage", SINGLE)
def test_an_item_that_hides_from_its_deadline_is_ended_by_the_caller(stage, name, tmp_path):
    code = attack(str(tmp_path / "ran"), f"{HIDES[name]}\nimport time\ntime.sleep(3600)")
    with Environment("e", [Slot("s", stage, timeout=1.5)]) as env:
        assert env.verify(TASK, "right") == 1.0
        found = list(env.evaluate_many([(TASK, row) for row in ("right", code, "wrong", "right")]))

    assert [v.value for v in found] == [1.0, None, 0.0, 1.0]
    assert found[1].fault.kind in ("crash", "timeout", "pool")


FRAMES = {
    "beats in the future": "cells.d[board.BEAT] = float('inf')",
    "beats that are no number": "cells.d[board.BEAT] = float('nan')",
    "beats far away": "cells.d[board.BEAT] = 1e300",
    "beats that go on": (
        """
def beat():
    while True:
        cells.d[board.BEAT] = time.monotonic()
        time.sleep(0.01)
import threading
threading.Thread(target=beat, daemon=True).start()"""
    ),
    "a neighbor at work": "cells.q[board.CURRENT] = max(others)",
    "a neighbor past its deadline": (
        """
for at in slots:
    if cells.q[at] in others:
        cells.d[at + board.DEADLINE] = 0.0"""
    ),
    "a neighbor past its budget": (
        """
for at in slots:
    if cells.q[at] in others:
        cells.d[at + board.BASE], cells.d[at + board.LIMIT] = float('-inf'), 1e-3"""
    ),
    "a neighbor that crashes": "cells.q[board.CURRENT] = max(others); os._exit(3)",
}
FRAME = """
import time
cells = server().board
slots = range(board.FIRST, board.FIRST + board.WIDTH * board.SLOTS, board.WIDTH)
me = mine()
others = {cells.q[at] for at in slots} - {0, me}
"""


FAR = ("beats that are no number", "beats far away")  # three seconds each


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[SLOW] * (name in FAR)) for name in FRAMES]
)
def test_what_one_item_writes_on_the_board_costs_its_neighbors_on_the_loop_nothing(name, tmp_path):
    code = attack(str(tmp_path / "ran"), f"{FRAME}{FRAMES[name]}\ntime.sleep(3600)")
    rows = ["right", "wrong", code, "right", "wrong", "right"]
    with Environment("e", [Slot("s", ExecutesLater("worker"), timeout=1.5)]) as env:
        assert env.verify(TASK, "right") == 1.0
        found = list(env.evaluate_many([(TASK, row) for row in rows], workers=1))

    assert [v.value for v in found] == [1.0, 0.0, None, 1.0, 0.0, 1.0], [v.fault for v in found]


LEFT = """
import threading, time
from rlenv.workers import report as notes
cells, me = server().board, mine()
slots = [board.FIRST + board.WIDTH * slot for slot in range(0, board.SLOTS)]

def later(act):
    # once another item runs here, at each moment
    def wait():
        while True:
            for at in slots:
                if cells.q[at] not in (0, me):
                    act(at)
    threading.Thread(target=wait, daemon=True).start()

def expire(at):
    cells.d[at + board.DEADLINE] = 0.0

def vanish(at):
    cells.q[at] = 0
    time.sleep(3600)

def stop(at):
    os.kill(os.getpid(), 19)

def leave(at):
    os._exit(3)
"""
LEAVINGS = {
    "a thread that ends deadlines": "later(expire)",
    "a thread that hides items": "later(vanish)",
    "a thread that stops the worker": "later(stop)",
    "a thread that ends the worker": "later(leave)",
    "another clock": "notes.monotonic = lambda: 0.0",
    "all items revoked": "cells.q[board.REVOKED] = 2**62",
    "a result of its own and no end": (
        "send(wire.DONE, me, b'[0]'); cells.q[slots[0]] = 0; time.sleep(3600)"
    ),
    "an alarm": "import signal; signal.signal(14, lambda *_: 1 / 0); signal.setitimer(0, 0.1)",
    "a task that blocks": (
        "import asyncio; asyncio.get_event_loop_policy().get_event_loop().call_later(0.1,"
        " time.sleep, 3600)"
    ),
}


ENDED = ("all items revoked", "a result of its own and no end")  # twice to a deadline of 2 s


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[SLOW] * (name in ENDED)) for name in LEAVINGS]
)
@pytest.mark.parametrize("stage", SINGLE)
def test_what_an_item_leaves_in_its_worker_costs_the_next_ones_nothing(stage, name, tmp_path):
    code = attack(str(tmp_path / "ran"), f"{LEFT}{LEAVINGS[name]}")
    for batch in (False, True):
        with Environment("e", [Slot("s", stage, timeout=2.0)]) as env:
            rows = [(TASK, row) for row in ("right", code, "slow", "wrong", "slow")]
            verdicts = (
                env.evaluate_many(rows, workers=1)
                if batch
                else map(env.evaluate, *zip(*rows, strict=True))
            )
            values = [v.value for v in verdicts]
        assert [values[0], *values[2:]] == [1.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "name", ["a pickle", "a memo", "no JSON", "deep", "an item of nobody", "too long"]
)
def test_a_call_survives_forged_records(name, tmp_path):
    with pytest.raises(RlenvError):
        call("forger:execute", attack(str(tmp_path / "ran"), BODIES[name]), seconds=5.0)
    assert not (tmp_path / "ran").exists()
    assert call("math:factorial", 5) == 120


def test_the_loop_of_a_caller_survives_forged_records(tmp_path):
    async def main():
        rows = ["right", attack(str(tmp_path / "ran"), BODIES["a pickle"]), "wrong"] * 5
        with Environment("e", [Slot("s", Executes("worker"), timeout=20.0)]) as env:
            return await asyncio.gather(*[env.aevaluate(TASK, row) for row in rows])

    found = asyncio.run(main())
    assert [v.value for v in found[::3]] == [1.0] * 5
    assert [v.value for v in found[2::3]] == [0.0] * 5
    assert {v.fault.kind for v in found[1::3]} <= {"crash", "pool"}
    assert not (tmp_path / "ran").exists()
