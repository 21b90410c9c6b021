"""A test suite against one program: two sandboxes, every call carried between them and checked.

The suite is the response and is not trusted; the program is the task's own, right or with a mistake
in it.  The suite learns what its calls return, and nothing else of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from attrs import frozen
from rlenv import VerifierFault
from rlenv.sandbox import Exit, Session

from rlenv_plugin_code.codec import BadFrame, Unencodable, decode, encode

from .asserts import Pair
from .clock import Clock
from .function import call_text, loaded
from .link import FUNCTION_BOOT, Link, numbers, parsed, raised
from .ran import TOO_BUSY, Stop

__all__ = ["Said", "Suite", "Trial"]

SUITE_BOOT = "import rlenv_suite; rlenv_suite.serve()"
CALLS = 100_000  # of one suite on one program
_TRIAL = 5.0  # times the timeout: how long a trial may take
# the same once a trial did not end; or so many times the longest that ended
_LATER = 1.0
_TIMES = 8.0
Said: TypeAlias = Literal["pass", "fail", "hang", "broken", "unloadable"]


@frozen
class Trial:
    """What one suite made of one program.

    Args:
        said: "pass", "fail" (a complaint), "hang" (the program gave no answer), "broken" (the suite
            itself did not come to an end) or "unloadable" (the program is none).
        calls: how often the suite called the program.
        why: a few words for a reader.
    """

    said: Said
    calls: int = 0
    why: str = ""


class Suite:
    """Plays one suite against programs, each trial in places that nothing was run in since they
    were leased.

    Nothing that a trial can see or bring about depends on which program is the right one: neither
    how often it is shown, nor what comes after it, nor when the trials end.  So a suite that
    remembers gains nothing.

    Args:
        text: the suite.
        entry_point: the function under test.
        clock: the budget of the response.
        timeout: seconds for one answer of the program; and, five times over, for one trial, until
            one has not ended.
    """

    def __init__(self, text: str, entry_point: str, clock: Clock, timeout: float) -> None:
        self.entry_point = entry_point
        self.clock = clock
        self.timeout = timeout
        self._request = encode(["suite", text, entry_point])
        self._most = _TRIAL * timeout  # seconds of the next trial
        self._longest = 0.0  # of those that ended

    async def trials(
        self, order: Sequence[int], sources: Sequence[str], pair: Pair
    ) -> list[tuple[int, Trial]]:
        """One trial for each program in ``order``, by its number.

        The budget's end makes the rest "broken".

        A program that the suite did not come to an end with is not tried again.  A suite that
        complains, or breaks, before it has called anything does so whatever the program is: that
        ends the trials.

        Raises:
            VerifierFault: a sandbox broke.
        """
        made: list[tuple[int, Trial]] = []
        broken: set[int] = set()
        for number in order:
            if number in broken:
                continue
            trial = await self._next(sources[number], pair)
            made.append((number, trial))
            if trial.said == "broken":
                broken.add(number)
            if trial.said in ("broken", "fail") and not trial.calls:
                break
        return made

    async def _next(self, source: str, pair: Pair) -> Trial:
        before = self.clock.used()
        if self.clock.left() <= 0:
            return Trial("broken", calls=1, why="the budget is used up")
        async with pair.opened() as (program, suite):
            trial = await self._trial(source, program, suite)
        if trial.said in ("pass", "fail"):
            self._longest = max(self._longest, self.clock.used() - before)
        elif trial.said == "broken":
            self._most = max(_LATER * self.timeout, _TIMES * self._longest)
        return trial

    async def _trial(self, source: str, program: Session, suite: Session) -> Trial:
        left = max(self.clock.left(), 0.001)
        await program.start(FUNCTION_BOOT, wall_s=left)
        try:
            link = Link(program, self.clock, self.timeout)
            found = await self._load(link, source)
            if found is None:
                await suite.start(SUITE_BOOT, wall_s=max(self.clock.left(), 0.001))
                try:
                    found = await self._play(Link(suite, self.clock, self.timeout), link)
                finally:
                    ending = await suite.finish(0)
                _check(ending)
        finally:
            ended = await program.finish(0)
        _check(ended)
        return found

    async def _load(self, program: Link, source: str) -> Trial | None:
        n = numbers(1)[0]
        try:
            await program.send(b'["source",%d,%s]' % (n, encode(source)))
            error = await loaded(program, n)
        except Stop as stop:
            return _stopped("unloadable", stop)
        return None if error is None else Trial("unloadable", why=error)

    async def _play(self, suite: Link, program: Link) -> Trial:
        """Carry calls until the suite has ended."""
        calls = 0
        try:
            await suite.send(self._request)
            clock = self.clock.part(self._most)
            while calls <= CALLS:
                said = _said(await suite.recv(clock.left()))
                if said[0] == "end":
                    return Trial("pass" if said[1] else "fail", calls)
                calls += 1
                answer = await self._answer(program, said)
                if isinstance(answer, Trial):
                    return Trial(answer.said, calls, answer.why)
                await suite.send(answer)
        except Stop as stop:
            return _stopped("broken", stop, calls)
        return Trial("broken", calls, f"more than {CALLS} calls")

    async def _answer(self, program: Link, said: list[Any]) -> bytes | Trial:
        """The program's answer to a call, as the suite gets it; a trial when there is none.

        Raises:
            Stop: the suite asked for what nobody can be asked for.
        """
        try:
            call = call_text(self.entry_point, said[1], said[2])
        except Unencodable as err:
            raise Stop("protocol", f"a call that cannot be sent: {err}") from None
        n = numbers(1)[0]
        try:
            await program.send(b'["call",%d,%s' % (n, call))
            frame = await program.recv()
            answer = parsed(frame, n)
        except Stop as stop:
            return _stopped("hang", stop)
        if answer[0] == "ok" and len(answer) == 3:
            return encode(["ok", answer[2]])
        return encode(["err", raised(answer[2]) if len(answer) == 3 else "Exception"])


def _check(ended: Exit) -> None:
    """Raises VerifierFault where the sandbox broke before a program began, or was too busy to
    tell.
    """
    if ended.fault is not None and (not ended.started or ended.reason == "wall"):
        raise VerifierFault(ended.fault)


def _stopped(said: Said, stop: Stop, calls: int = 0) -> Trial:
    """The trial that ended so.

    Raises:
        VerifierFault: the machine was too busy to tell.
    """
    if stop.starved:
        raise VerifierFault(TOO_BUSY) from None
    return Trial(said, calls, stop.error)


def _said(frame: bytes) -> list[Any]:
    """A frame of the suite: ["call", args, kwargs] or ["end", passed].

    Raises:
        Stop: it is neither.
    """
    try:
        said = decode(frame)
    except BadFrame as err:
        raise Stop("protocol", f"a frame that cannot be read: {err}") from None
    if type(said) is list and len(said) == 2 and said[0] == "end" and type(said[1]) is bool:
        return said
    good = (
        type(said) is list
        and len(said) == 3
        and said[0] == "call"
        and type(said[1]) is list
        and type(said[2]) is dict
        and all(type(key) is str for key in said[2])
    )
    if not good:
        raise Stop("protocol", "a frame that is neither a call nor the end")
    return list(said)
