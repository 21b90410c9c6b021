"""Tests that call a proxy: the text in one sandbox, the solution in another, every answer checked
between.

Control is always on one side: the test's until it asks, the solution's until it answers or calls
back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal, TypeAlias

from attrs import evolve, frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import Session

from rlenv_plugin_code.artifacts import Answer
from rlenv_plugin_code.codec import BadFrame, Unencodable, decode, encode

from .clock import Clock
from .function import loaded
from .link import FUNCTION_BOOT, Link, numbers, parsed, raised
from .plan import Plan
from .ran import Ran, Stop, ended, filled, judged, shared

__all__ = ["Changes", "Pair", "asserts", "run_text", "with_changes"]

# Which changes of arguments reach the test: all, those that it pins (see ``pinning``), or none.
Changes: TypeAlias = Literal["all", "pinned", "none"]

TEST_BOOT = "import rlenv_asserts; rlenv_asserts.serve()"
DEPTH = 32  # calls inside one another, of the solution and back
ASKS = 1_000_000  # in one run
_LISTS = ("l", "t", "s", "z")


def run_text(plan: Plan, entry_point: str) -> bytes:
    """The request that runs one text and lets it see all changes of arguments: encoded once per
    task.

    Raises:
        Unencodable: the text is too long.
    """
    names = map(list, (plan.names, plan.errors, plan.classes, plan.calls))
    asserts = [list(lines) for lines in plan.asserts]
    pins = [list(lines) for lines in plan.pins]
    return encode(["run", plan.setup, plan.text, entry_point, *names, asserts, pins, "all"])


def with_changes(request: bytes, changes: Changes) -> bytes:
    """The request with another rule for changes of arguments."""
    return request.removesuffix(encode("all") + b"]") + encode(changes) + b"]"


@frozen
class Pair:
    """How to get the two sessions.

    Both are there before a program starts, since its time runs from then.
    """

    solution: Callable[[], Awaitable[Session]]
    test: Callable[[], Awaitable[Session]]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[Session, Session]]:
        """Both, the solution's first."""
        async with AsyncExitStack() as stack:
            solution = await self.solution()
            stack.push_async_callback(solution.close)
            test = await self.test()
            stack.push_async_callback(test.close)
            yield solution, test


async def asserts(
    pair: Pair,
    source: str,
    tests: Sequence[bytes],
    clock: Clock,
    timeout: float,  # noqa: ASYNC109 - one of many
) -> Ran:
    """Run the tests, one after another, against one loaded solution.

    Raises:
        VerifierFault: a sandbox could not start, or a test fails by itself.
    """
    try:
        text = encode(source)
    except Unencodable as err:
        return Ran(filled([], Stop("error", f"the source is {err}"), len(tests), 0.0))
    async with pair.opened() as (solution, test):
        return await _run(_Relay(tests, clock, timeout), text, solution, test)


async def _run(relay: _Relay, source: bytes, solution: Session, test: Session) -> Ran:
    clock = relay.clock
    timeout = relay.timeout
    await solution.start(FUNCTION_BOOT, wall_s=max(clock.left(), 0.001))
    try:
        await relay.load(Link(solution, clock, timeout), source)
    except Stop as stop:
        return await _ran(relay, stop, solution)
    await test.start(TEST_BOOT, wall_s=max(clock.left(), 0.001))
    try:
        await relay.all(Link(test, clock, timeout))
    except Stop as stop:
        return await _ran(relay, stop, solution, test)
    return await _ran(relay, None, solution, test)


async def _ran(
    relay: _Relay, stop: Stop | None, solution: Session, test: Session | None = None
) -> Ran:
    """End both programs and say what became of the cases."""
    gone = stop is not None and stop.ended
    exit_ = await solution.finish(0.1 if gone and relay.asked_solution else 0)
    of_test = None if test is None else await test.finish(0.1 if gone else 0)
    blamed = exit_ if relay.asked_solution or of_test is None else of_test
    if stop is not None and gone:
        stop = ended(blamed)
    answers = filled(relay.answers, stop, len(relay.tests), relay.clock.used())
    ran = judged(shared(answers, exit_), stop, blamed)
    return evolve(ran, leaning=tuple(relay.leaning))


class _Relay:
    """Carries requests and answers between the two sides."""

    def __init__(self, tests: Sequence[bytes], clock: Clock, timeout: float) -> None:
        self.tests = tests
        self.clock = clock
        self.timeout = timeout
        self.answers: list[Answer] = []
        self.leaning: list[str] = []  # of each answer: see ``Ran``
        self.asked_solution = True  # whose turn it is
        self._numbers: list[int] = []
        self._answered = 0  # how often the solution has
        self._heard = False  # whether anything of the solution has reached the test

    async def load(self, solution: Link, source: bytes) -> None:
        self.solution = solution
        n = self._number()
        await solution.send(b'["source",%d,%s]' % (n, source))
        error = await loaded(solution, n)
        if error is None:
            return
        self.answers += [Answer("error", error=error)] * len(self.tests)
        raise Stop("error", error)

    async def all(self, test: Link) -> None:
        """Run every text."""
        self.test = test
        for request in self.tests:
            self._answered = 0
            self._heard = False
            self.asked_solution = False
            await test.send(request)
            clock = self.clock.part(self.timeout)
            failed = await self._one(clock)
            self.answers.append(Answer("ok", failed is None, failed or "", wall=clock.used()))

    def _number(self) -> int:
        if not self._numbers:
            self._numbers = list(numbers(256))
        return self._numbers.pop()

    async def _one(self, clock: Clock) -> str | None:
        """Relay until the text has ended: what it raised, or None."""
        pending: list[int] = []  # numbers of the solution's open requests
        for _ in range(ASKS):
            self.asked_solution = False
            frame = await self.test.recv(clock.left())
            kind, _, body = frame.partition(b"\n")
            if kind == b"end":
                return self._verdict(body)
            if kind == b"ask":
                if len(pending) == DEPTH:
                    raise Stop("error", f"calls more than {DEPTH} deep")
                pending.append(self._number())
                request = b'["ask",%d,%s]' % (pending[-1], body)
            else:
                request = b'["%s",%s]' % (kind, body)
            self.asked_solution = True
            await self.solution.send(request)
            answer = await self.solution.recv(clock.left())
            if _checked(answer, pending[-1]) != "back":
                pending.pop()
                self._answered += 1
            self._heard = True
            await self.test.send(answer)
        raise Stop("error", f"more than {ASKS} calls")

    def _verdict(self, body: bytes) -> str | None:
        try:
            failed, leaning = decode(body)
        except BadFrame as err:
            said = f"the test's sandbox sent no result: {err}"
            raise VerifierFault(Fault("error", said)) from None
        self.leaning.append(leaning)
        if not (self._answered if failed is None else self._heard):  # it has had no part in this
            how = "passes" if failed is None else f"fails ({_about(*failed)})"
            raise VerifierFault(Fault("error", f"a test {how} before the solution has answered"))
        return None if failed is None else _why(failed[0])


def _why(what: str) -> str:
    """What a test's end says, without its text: that may hold what was expected."""
    if what == "Refused":
        return "an object of the program's own where a plain value was expected"
    return raised(what)


def _about(what: str, text: str) -> str:
    """The same with the text, where it can be of a mistake in the test only."""
    mistakes = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError")
    return f"{what}: {text}" if what in mistakes else what


def _checked(frame: bytes, n: int) -> str:
    """What kind of answer of the solution a frame is.

    Raises:
        Stop: none that may be passed on.
    """
    answer = parsed(frame, n)
    kind = answer[0]
    rest = answer[2:]
    if kind == "ok":
        good = len(rest) == 4 and _value(rest[0], rest[1]) and _changed(rest[2], rest[3])
    elif kind == "back":
        good = len(rest) == 3 and type(rest[0]) is int and rest[0] >= 0 and _inputs(*rest[1:])
    else:
        good = kind == "err" and len(rest) == 3 and all(type(text) is str for text in rest)
    if not good:
        raise Stop("protocol", "an answer of no known form")
    return str(kind)


def _value(value: Any, raised: Any) -> bool:
    return raised is False or (raised is True and _form(value))


def _changed(inputs: Any, raised: Any) -> bool:
    return (inputs is None and raised is False) or _inputs(inputs, raised)


def _inputs(inputs: Any, raised: Any) -> bool:
    """Whether these are [args, kwargs], plain or lifted."""
    if raised is True:
        return _form(inputs) and inputs[0] == "l" and _pair_of_forms(inputs[1])
    if raised is not False or type(inputs) is not list or len(inputs) != 2:
        return False
    return type(inputs[0]) is list and _keywords(inputs[1])


def _pair_of_forms(forms: list[Any]) -> bool:
    if len(forms) != 2:
        return False
    args, kwargs = forms
    if not (args[0] == "l" or (args[0] == "v" and type(args[1]) is list)):
        return False
    if kwargs[0] == "v":
        return _keywords(kwargs[1])
    return kwargs[0] == "d" and all(k[0] == "v" and type(k[1]) is str for k, _ in kwargs[1])


def _keywords(kwargs: Any) -> bool:
    return type(kwargs) is dict and all(type(key) is str for key in kwargs)


def _form(form: Any) -> bool:
    """Whether this is a lifted value; ``decode`` has bounded its depth."""
    if type(form) is not list or len(form) < 2 or type(form[0]) is not str:
        return False
    tag = form[0]
    body = form[1]
    if tag == "g":
        return len(form) == 3 and type(form[2]) is bool and _forms(body)
    if len(form) != 2:
        return False
    if tag in _LISTS:
        return _forms(body)
    if tag == "d":
        return type(body) is list and all(_forms(pair) and len(pair) == 2 for pair in body)
    return tag == "v" or (tag in ("o", "p", "f", "c") and type(body) is int and body >= 0)


def _forms(body: Any) -> bool:
    return type(body) is list and all(map(_form, body))
