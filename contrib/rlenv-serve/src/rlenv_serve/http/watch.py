"""Ends what a request waits for when its client is gone, or its time is up."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable

from starlette.requests import ClientDisconnect
from starlette.types import Receive

# Seconds before anyone looks whether the client is there: most requests are answered by then.
FIRST = 0.05


class Watch:
    """``with Watch(receive, seconds)``: the block is cancelled when the client is gone, and at its
    deadline.

    It costs a quarter of ``asyncio.timeout``, which has a timer of the event loop made and removed
    for each block.

    Args:
        receive: of a request whose body has been read; None: whoever asked may go away.
        seconds: wall seconds for the block.

    Raises:
        ClientDisconnect: from the block, when the client is gone.
        TimeoutError: from the block, at its deadline.
    """

    def __init__(self, receive: Receive | None, seconds: float = math.inf) -> None:
        self._receive = receive
        self._seconds = seconds
        self._looks: asyncio.Task[None] | None = None
        self._why: type[Exception] | None = None

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._alarm = _alarm()
        if self._receive is None:
            self._alarm.set(self, self._seconds, self._end)
        else:
            self._alarm.set(self, min(FIRST, self._seconds), self._begin)

    def __exit__(self, kind: object, *_: object) -> None:
        self._alarm.calls.pop(self, None)
        if self._looks is not None:
            self._looks.cancel()
        assert self._task is not None
        if self._why and not self._task.uncancel() and kind is asyncio.CancelledError:
            raise self._why from None  # only this cancelled it

    def _begin(self) -> None:
        self._alarm.set(self, max(0.0, self._seconds - FIRST), self._end)
        assert self._receive is not None
        self._looks = asyncio.create_task(self._look(self._receive))

    async def _look(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._end(ClientDisconnect)

    def _end(self, why: type[Exception] = TimeoutError) -> None:
        if self._why is None:
            self._why = why
            assert self._task is not None
            self._task.cancel()


class _Alarm:
    """Calls that are due later, most of which are taken back before: one timer of the event loop,
    for the first of them.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.calls: dict[object, tuple[float, Callable[[], None]]] = {}
        self._next = math.inf
        self._timer = loop.call_later(0, self._ring)

    def set(self, key: object, seconds: float, call: Callable[[], None]) -> None:
        due = self.loop.time() + seconds
        self.calls[key] = due, call
        self._wake(due)

    def _wake(self, due: float) -> None:
        if due < self._next:
            self._timer.cancel()
            self._next = due
            self._timer = self.loop.call_at(due, self._ring)

    def _ring(self) -> None:
        now = self.loop.time()
        self._next = math.inf
        for key in [key for key, (due, _) in self.calls.items() if due <= now]:
            self.calls.pop(key)[1]()
        self._wake(min((due for due, _ in self.calls.values()), default=math.inf))


_HERE = threading.local()  # an event loop has a thread of its own


def _alarm() -> _Alarm:
    loop = asyncio.get_running_loop()
    found = getattr(_HERE, "alarm", None)
    if found is None or found.loop is not loop:
        found = _HERE.alarm = _Alarm(loop)
    return found
