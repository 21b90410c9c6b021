"""Assertions that the judge decides itself, see ``claims``: one process, no second sandbox."""

from __future__ import annotations

from collections.abc import Sequence

from rlenv_plugin_code.artifacts import Answer
from rlenv_plugin_code.codec import Unencodable, encode

from .claims import Check
from .clock import Clock
from .function import UNASKED, ended_well, loaded, read_answer
from .link import FUNCTION_BOOT, Link, numbers
from .ran import Ran, Stop, filled, judged, played, shared

__all__ = ["direct"]


async def direct(link: Link, source: str, texts: Sequence[Sequence[Check]]) -> Ran:
    """Load ``source`` and decide the texts, one after another.

    The time of the link is that of a text.

    Raises:
        VerifierFault: the sandbox could not start it.
    """
    try:
        text = encode(source)
    except Unencodable as err:
        return Ran(filled([], Stop("error", f"the source is {err}"), len(texts), 0.0))
    session = link.session
    await session.start(FUNCTION_BOOT, wall_s=max(link.clock.left(), 0.001))
    run = _Texts(link, texts)
    stop, exit_ = await played(session, run.all(text))
    answers = filled(run.answers, stop, len(texts), link.clock.used())
    return judged(shared(answers, exit_), stop, exit_)


class _Texts:
    """One loading and the assertions after it."""

    def __init__(self, link: Link, texts: Sequence[Sequence[Check]]) -> None:
        self.link = link
        self.texts = texts
        self.answers: list[Answer] = []
        self._numbers = iter(numbers(2 + sum(map(len, texts))))
        self._asked: list[int] = []  # sent and not yet answered

    async def all(self, source: bytes) -> None:
        n = next(self._numbers)
        await self.link.send(b'["source",%d,%s]' % (n, source))
        await self._ask(self.texts[0][0])
        error = await loaded(self.link, n)
        if error is not None:
            self.answers += [Answer("error", error=error)] * len(self.texts)
            return
        for place, checks in enumerate(self.texts, 1):
            last = place == len(self.texts)
            clock = self.link.clock.part(self.link.timeout)
            failed = await self._failed(checks, clock, last=last)
            self.answers.append(Answer("ok", failed is None, failed or "", wall=clock.used()))
        if not self._asked:
            await self._ask(None)
        if not await ended_well(self.link, self._asked.pop(0)):
            self.answers[-1:] = [Answer("protocol", error=UNASKED)]

    async def _ask(self, check: Check | None) -> None:
        n = next(self._numbers)
        self._asked.append(n)
        await self.link.send(
            b'["end",%d]' % n if check is None else b'["call",%d,%s' % (n, check.call)
        )

    async def _failed(self, checks: Sequence[Check], clock: Clock, *, last: bool) -> str | None:
        """Why a text fails, None when it passes; behind the last call of the last goes the end."""
        for place, check in enumerate(checks, 1):
            if not self._asked:
                await self._ask(check)
            if last and place == len(checks):
                await self._ask(None)
            n = self._asked.pop(0)
            frame = await self.link.recv(clock.left())
            answer = read_answer(frame, n, 0.0)
            if answer.status != "ok":
                return answer.error or answer.status
            if not _holds(check, answer.value):
                return "AssertionError"
        return None


def _holds(check: Check, value: object) -> bool:
    try:
        return bool(check.holds(value))
    except Exception:  # noqa: BLE001 - an assertion that cannot be decided fails, as in Python
        return False
