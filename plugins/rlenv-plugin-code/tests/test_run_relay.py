"""Between a test and a solution: whatever the solution sends, the test passes only on the right
value.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.sandbox import ChannelEnded, ChannelError, ChannelTimeout, Exit
from rlenv_plugin_code import guest
from rlenv_plugin_code.codec import BadFrame, decode, encode
from rlenv_plugin_code.drive.asserts import Pair, _checked, asserts, run_text
from rlenv_plugin_code.drive.clock import Clock
from rlenv_plugin_code.drive.plan import plan
from rlenv_plugin_code.drive.ran import Ran, Stop

GUEST = str(Path(guest.__file__).parent)
if GUEST not in sys.path:
    sys.path.append(GUEST)
TEXT = "assert f(1) == 2\nassert f([1], key=len) == [2]\nassert Thing(3).value == 4"
END = b""


class Solution:
    """A program that is a function from requests to frames."""

    isolation: Any = "process"

    def __init__(self, reply: Callable[[list[Any]], bytes | ChannelError]) -> None:
        self.reply = reply
        self.asked: list[list[Any]] = []
        self.sent: list[bytes] = []

    async def start(self, *_: Any, **__: Any) -> None:
        pass

    async def send(self, frame: bytes) -> None:
        self.asked.append(decode(frame))

    async def recv(self, _: int, timeout: float) -> bytes:
        said = self.reply(self.asked[-1])
        if isinstance(said, ChannelError):
            raise said
        self.sent.append(said)
        return said

    def clock(self) -> float:
        return 0.0

    async def finish(self, _: float | None = None) -> Exit:
        return Exit(None, "killed")

    async def close(self) -> None:
        pass


class Test(Solution):
    """The real test side, in a thread."""

    __test__ = False

    def __init__(self) -> None:
        self.inbox: queue.Queue[bytes | None] = queue.Queue()
        self.outbox: queue.Queue[bytes] = queue.Queue()
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        import rlenv_asserts  # type: ignore[import-not-found]

        frame = self.inbox.get()
        if frame is not None:
            test = rlenv_asserts.Test(self)
            ended = test.run(decode(frame)[1:])
            self.outbox.put(b"end\n" + encode([ended, test.seen]))

    def read(self) -> bytes | None:
        return self.inbox.get()

    def write(self, frame: bytes) -> None:
        self.outbox.put(frame)

    async def start(self, *_: Any, **__: Any) -> None:
        self.thread.start()

    async def send(self, frame: bytes) -> None:
        self.inbox.put(frame)

    async def recv(self, _: int, timeout: float) -> bytes:
        return self.outbox.get(timeout=5)

    async def close(self) -> None:
        self.inbox.put(None)
        if self.thread.ident is not None:
            self.thread.join(5)
        assert not self.thread.is_alive()


def ran(
    reply: Callable[[list[Any]], bytes | ChannelError], text: str = TEXT
) -> tuple[Ran, Solution]:
    solution = Solution(reply)

    async def one() -> Any:
        return solution

    async def other() -> Any:
        return Test()

    request = run_text(plan(text, "", "", "f"), "f")
    made = asyncio.run(asserts(Pair(one, other), "source", [request], Clock(10), 5.0))
    return made, solution


def honest(request: list[Any]) -> bytes:
    kind, n = request[:2]
    if kind == "source":
        return b'["loaded",%d]' % n
    if kind != "ask":
        return b'["ok",%d,[2],false,null,false]' % n
    op, target, _, _, raised = request[2:]
    if target == "Thing":
        return b'["ok",%d,["o",0],true,null,false]' % n
    if op == "get":
        return b'["ok",%d,4,false,null,false]' % n
    return b'["ok",%d,%s,false,null,false]' % (n, b"[2]" if raised else b"2")


def test_the_honest_answers_pass() -> None:
    made, solution = ran(honest)
    assert made.answers[0].value is True
    assert [request[2:4] for request in solution.asked[1:]] == [
        ["call", "f"],
        ["call", "f"],
        ["call", "Thing"],
        ["get", 0],
    ]


def test_a_program_that_does_not_load_never_meets_the_test() -> None:
    made, solution = ran(lambda request: b'["err",%d,"ValueError",3]' % request[1])
    assert made.answers[0].status == "error"
    assert len(solution.asked) == 1


def test_what_is_no_answer_ends_the_run() -> None:
    bad = [
        b'["ok",%d,2]',
        b'["ok",%d,["o",0],true,null,0]',
        b'["ok",%d,["o",-1],true,null,false]',
        b'["ok",%d,["p",-1],true,null,false]',
        b'["ok",%d,["p",[1]],true,null,false]',
        b'["ok",%d,["n","f"],true,null,false]',
        b'["ok",%d,["v"],true,null,false]',
        b'["ok",%d,["g",[],1],true,null,false]',
        b'["ok",%d,["d",[[["v",1]]]],true,null,false]',
        b'["ok",%d,2,false,[[],[]],false]',
        b'["ok",%d,2,false,[[],{"d":[[1,2]]}],false]',
        b'["ok",%d,2,false,["l",[["v",[]]]],true]',
        b'["back",%d,-1,[[],{"d":[]}],false]',
        b'["back",%d,true,[[],{"d":[]}],false]',
        b'["err",%d,"a","b"]',
        b'["err",%d,"a","b",3]',
        b'["end",%d]',
    ]
    for form in bad:

        def reply(request: list[Any], form: bytes = form) -> bytes:
            return honest(request) if request[0] == "source" else form % request[1]

        assert ran(reply)[0].answers[0].status == "protocol", form


def test_the_end_of_an_iteration_ends_no_loop_of_the_test() -> None:
    def reply(request: list[Any]) -> bytes:
        if request[0] == "source":
            return honest(request)
        return b'["err",%d,"StopIteration","StopIteration",""]' % request[1]

    for text in (
        "assert all(map(lambda n: f(n) == 2, [1, 1]))",
        "for got in map(f, [1]):\n    assert got == 2\nassert True",
    ):
        assert ran(reply, text)[0].answers[0].value is False, text
    expected = "try:\n    f(1)\n    assert False\nexcept StopIteration:\n    pass"
    assert ran(reply, expected)[0].answers[0].value is True


def test_a_test_that_ran_out_of_memory_on_a_call_back_is_the_solutions_doing(
    monkeypatch: Any,
) -> None:
    import rlenv_asserts

    def reply(request: list[Any]) -> bytes:
        if request[0] == "source":
            return honest(request)
        return b'["back",%d,0,[[1],{"d":[]}],false]' % request[1]

    def exhausted(_: bytes) -> Any:
        raise MemoryError

    monkeypatch.setattr(rlenv_asserts, "decode", exhausted)
    assert ran(reply, "assert f(1) == 2")[0].answers[0].value is False


def test_endless_calls_back_end_with_the_time_of_the_case() -> None:
    def reply(request: list[Any]) -> bytes:
        if request[0] == "source":
            return honest(request)
        return b'["back",%d,0,[[1],{"d":[]}],false]' % solution_n[0]

    solution_n = [0]

    def noting(request: list[Any]) -> bytes:
        if request[0] == "ask":
            solution_n[0] = request[1]
        return reply(request)

    from rlenv_plugin_code.drive import asserts as module

    before = module.ASKS
    module.ASKS = 200
    try:
        made, _ = ran(noting, "assert f(len) == 2")
    finally:
        module.ASKS = before
    assert made.answers[0].error == "more than 200 calls"


# -- laws


forms = st.recursive(
    st.builds(
        lambda v: ["v", v], st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=2)
    )
    | st.builds(lambda t, n: [t, n], st.sampled_from("ofcnx"), st.integers(-1, 2) | st.just("f")),
    lambda inner: (
        st.builds(lambda t, b: [t, b], st.sampled_from("ltsz"), st.lists(inner, max_size=2))
        | st.builds(lambda b: ["d", b], st.lists(st.tuples(inner, inner).map(list), max_size=2))
        | st.builds(
            lambda b, w: ["g", b, w], st.lists(inner, max_size=2), st.booleans() | st.integers(0, 1)
        )
    ),
    max_leaves=4,
)
values = (
    st.integers(0, 4)
    | st.none()
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.integers(0, 3))
    | forms
)
inputs = st.none() | forms | st.tuples(st.lists(values, max_size=2), st.just({})).map(list)
answers = (
    st.tuples(st.just("ok"), values, st.booleans(), inputs, st.booleans())
    | st.tuples(st.just("back"), st.integers(-1, 2), inputs, st.booleans())
    | st.tuples(
        st.just("err"),
        st.sampled_from(["ValueError", "StopIteration", "Mine", "SystemExit", "print", ""]),
        st.sampled_from(
            ["ValueError", "StopIteration", "UnicodeDecodeError", "SystemExit", "print"]
        ),
        st.text(max_size=3),
    )
    | st.lists(values, max_size=4).map(tuple)
)


def frame(n: int, answer: tuple[Any, ...]) -> bytes:
    head, rest = (answer[0], answer[1:]) if answer else ("ok", ())
    return encode([head, n, *rest])


def right(sent: bytes) -> bool:
    """Whether a frame says 2, which the first assertion wants."""
    try:
        answer = decode(sent)
    except BadFrame:
        return False
    if type(answer) is not list or len(answer) != 6 or answer[0] != "ok":
        return False
    return bool(answer[2] == 2 if answer[3] is False else answer[2] == ["v", 2])


@settings(max_examples=250, deadline=None)
@given(st.lists(st.none() | answers | st.binary(max_size=30), min_size=1, max_size=6))
def test_nothing_that_a_solution_sends_raises_or_passes_a_test_that_it_should_not(
    steps: list[Any],
) -> None:
    waiting = iter(steps)
    pending: list[int] = []

    def reply(request: list[Any]) -> bytes | ChannelError:
        if request[0] == "source":
            return honest(request)
        if request[0] == "ask":
            pending.append(request[1])
        step = next(waiting, END)
        if step == END:
            return ChannelEnded("gone")
        if isinstance(step, bytes):
            return step
        said = (
            honest([request[0], pending[-1], *request[2:]])
            if step is None
            else frame(pending[-1], step)
        )
        if not said.startswith(b'["back"'):
            pending.pop()
        return said

    made, solution = ran(reply, "assert f(1, print) == 2")
    answer = made.answers[0]
    if answer.status == "ok" and answer.value is True:
        assert right(solution.sent[-1])
    else:
        assert answer.value in (None, False)


@settings(max_examples=200, deadline=None)
@given(answers, st.integers(0, 5))
def test_every_answer_that_is_let_through_can_be_read_on_the_other_side(
    answer: tuple[Any, ...], n: int
) -> None:
    import rlenv_objects  # type: ignore[import-not-found]

    data = frame(n, answer)
    try:
        kind = _checked(data, n)
    except Stop:
        return
    sound = decode(data)
    if kind == "ok":
        for value, raised in ((sound[2], sound[3]), (sound[4], sound[5])):
            if raised and value is not None:
                with suppress(TypeError):  # a list as a key, as in Python itself
                    rlenv_objects.lower(value, lambda tag, body: (tag, body))


def test_json_of_a_test_run_names_no_expected_value_to_the_solution() -> None:
    _, solution = ran(honest)
    assert "4" not in json.dumps([request[2:] for request in solution.asked])


def test_a_timeout_of_the_test_counts_against_the_case() -> None:
    made, _ = ran(
        lambda request: honest(request) if request[0] == "source" else ChannelTimeout("late")
    )
    assert made.answers[0].status == "timeout"
