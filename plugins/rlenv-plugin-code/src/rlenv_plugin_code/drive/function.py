"""Calls of a function: one process for all cases of one response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from rlenv_plugin_code.artifacts import Answer, sent
from rlenv_plugin_code.codec import BadFrame, Unencodable, decode, encode

from .link import FUNCTION_BOOT, Link, numbers, parsed, raised
from .ran import Ran, Stop, filled, judged, played, shared

__all__ = ["call_text", "ended_well", "functions", "loaded", "read_answer"]

END_SECONDS = 1.0
LINES = 1 << 31  # no source has more; and a number beyond some thousand digits could not be printed
UNASKED = "a frame that nobody asked for"


def call_text(name: str, args: Sequence[object], kwargs: object) -> bytes:
    """The part of a request that stays the same: encoded once per task.

    Raises:
        Unencodable: an argument has no encoding.
    """
    return encode([name, list(args), kwargs])[1:]


async def functions(
    link: Link,
    source: str,
    calls: Sequence[bytes],
    program: str | Sequence[str] = FUNCTION_BOOT,
    files: Mapping[str, bytes | tuple[bytes, int]] | None = None,
) -> Ran:
    """Load ``source`` and make the calls, one after another.

    Args:
        link: the session, which is not closed, the running budget, and the seconds for the loading
            and for each call.
        source: the solution.
        calls: see ``call_text``.
        program: what serves the calls.
        files: what it finds in its working directory.

    Raises:
        VerifierFault: the sandbox could not start it.
    """
    try:
        text = encode(source)
    except Unencodable as err:
        return Ran(filled([], Stop("error", f"the source is {err}"), len(calls), 0.0))
    session = link.session
    await session.start(program, files or {}, wall_s=max(link.clock.left(), 0.001))
    run = _Calls(link, calls)
    stop, exit_ = await played(session, run.all(text))
    answers = filled(run.answers, stop, len(run.calls), run.clock.used())
    return judged(shared(answers, exit_), stop, exit_)


class _Calls:
    """One loading and the calls after it."""

    __slots__ = ("answers", "calls", "clock", "late", "link", "numbers")

    def __init__(self, link: Link, calls: Sequence[bytes]) -> None:
        self.link = link
        self.calls = calls
        self.answers: list[Answer] = []
        self.numbers = numbers(len(calls) + 2)
        self.clock = link.clock
        self.late: Stop | None = None

    async def all(self, source: bytes) -> None:
        """Ask everything.

        Raises:
            Stop: before the end.
        """
        await self._load(source)
        for place in range(len(self.calls)):
            await self._answer(place)
        await self._end()

    async def _load(self, source: bytes) -> None:
        n = self.numbers[0]
        await self.link.send(b'["source",%d,%s]' % (n, source))
        await self._ask(0)
        error = await loaded(self.link, n)
        if error is not None:
            self.answers += [Answer("error", error=error)] * len(self.calls)
            raise Stop("error", error)

    async def _ask(self, place: int) -> None:
        """Send one call; the end goes right behind the last, since it is no input: one turn
        less.
        """
        if place < len(self.calls):
            await self.link.send(b'["call",%d,%s' % (self.numbers[place + 1], self.calls[place]))
        if place >= len(self.calls) - 1:
            with suppress(Stop):  # whether it is gone, the next answer tells
                await self.link.send(b'["end",%d]' % self.numbers[-1])

    async def _answer(self, place: int) -> None:
        """Take the answer to one call; the next goes out before this one is read."""
        start = self.clock.used()
        frame = await self.link.recv()
        wall = self.clock.used() - start
        if place + 1 < len(self.calls):
            try:
                await self._ask(place + 1)
            except Stop as stop:
                self.late = stop  # this answer was in time all the same
        self.answers.append(read_answer(frame, self.numbers[place + 1], wall))
        if self.late is not None:
            raise self.late

    async def _end(self) -> None:
        if not await ended_well(self.link, self.numbers[-1]):
            self.answers[-1:] = [Answer("protocol", error=UNASKED)]


async def loaded(link: Link, n: int) -> str | None:
    """Whether the source that request ``n`` sent has been loaded: None, or what it raised.

    Raises:
        Stop: no answer that can be read.
    """
    frame = await link.recv()
    if frame == b'["loaded",%d]' % n:
        return None
    answer = parsed(frame, n)
    good = answer[0] == "err" and len(answer) == 4 and type(answer[3]) is int
    if not good or not 0 <= answer[3] < LINES:
        raise Stop("protocol", "an answer of no known form")
    line = f" in line {answer[3]}" if answer[3] > 0 else ""
    return f"{raised(answer[2])}{line}, before any call"


async def ended_well(link: Link, n: int) -> bool:
    """Whether behind the last answer comes the end and nothing else.

    A program may be gone by then.
    """
    try:
        return await link.recv(END_SECONDS) == b'["end",%d]' % n
    except Stop:
        return True


def read_answer(frame: bytes, n: int, wall: float) -> Answer:
    """The answer to call ``n``.

    Raises:
        Stop: it is none.
    """
    head = b'["ok",%d,' % n
    if frame.startswith(head) and frame.endswith(b"]"):
        try:
            text = frame[len(head) : -1]
            return Answer("ok", sent(decode(text), text), wall=wall)
        except BadFrame as err:
            raise Stop("protocol", f"an answer that cannot be read: {err}") from None
    answer = parsed(frame, n)
    if answer[0] != "err" or len(answer) != 3:
        raise Stop("protocol", "an answer of no known form")
    error = raised(answer[2])
    return Answer("memory" if error == "MemoryError" else "error", error=error, wall=wall)
