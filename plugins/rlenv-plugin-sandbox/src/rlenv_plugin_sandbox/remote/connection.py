"""A connection to a server: HTTP/1.1 of the standard library, one request at a time.

``http.client`` waits, so each connection has a thread.  The event loop keeps the deadline: at its
end, or when the caller is canceled, it shuts the socket down, which ends the thread's wait
(shutdown(2)).  So a connection may be used by one event loop after another.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import select
import socket
import ssl
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, TypeVar, cast

from attrs import frozen
from rlenv import ConfigError

from rlenv_plugin_sandbox.keepalive import stay_aware

from .address import Address

__all__ = ["CONNECT_S", "SMALL", "Answer", "Connection", "LostConnectionError"]

T = TypeVar("T")
CONNECT_S = 10.0
SMALL = 1 << 16  # bytes of an answer that is not a result
_HEAD_MOST = 1 << 18  # bytes of the head of an answer, with all that comes before it
_LINE_S = 30.0  # for more of an answer that has begun, where there is no deadline


class LostConnectionError(ConnectionError):
    """The server is gone, is late, or does not speak HTTP; the connection is of no more use."""


@frozen
class Answer:
    """What a server answered.

    Args:
        status: of HTTP.
        body: all of it.
    """

    status: int
    body: bytes


class _Worker:
    """A thread that does one thing after another; the interpreter does not wait for it at its end.

    The threads of ``concurrent.futures`` are joined there, before anything can close a connection.
    """

    def __init__(self) -> None:
        self._todo: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self.end = partial(self._todo.put, None)
        # The thread knows the queue alone, so that it ends with a connection that nobody closed.
        Thread(target=_work_off, args=(self._todo,), name="rlenv-remote", daemon=True).start()
        weakref.finalize(self, self.end).atexit = False

    def run(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Do this in the thread."""
        made: Future[T] = Future()
        self._todo.put((work, made))
        return asyncio.wrap_future(made)


def _work_off(todo: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]) -> None:
    while (item := todo.get()) is not None:
        work, made = item
        made.set_running_or_notify_cancel()  # from now on it cannot be canceled
        try:
            made.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is wanted
            made.set_exception(error)
        del item, work, made


class _BoundedFile(io.BufferedIOBase):
    """The stream that an answer is read from, which ends with an error after so many bytes.

    ``http.client`` bounds no body by itself: a chunk of length -1 has it read until the end of the
    connection, and informational answers (1xx) may come without end.
    """

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.left = _HEAD_MOST

    def _count(self, data: bytes) -> bytes:
        self.left -= len(data)
        return data

    def _check(self, size: int | None) -> int:
        if size is None or not 0 <= size <= self.left:
            raise LostConnectionError("the server's answer is longer than it may be")
        return size

    def read(self, size: int | None = -1, /) -> bytes:
        return self._count(self._file.read(self._check(size)))

    def readline(self, size: int | None = -1, /) -> bytes:
        most = self.left if size is None or size < 0 else min(size, self.left)
        if most == 0:
            self._check(1)
        return self._count(self._file.readline(most))

    def peek(self, size: int = 0, /) -> bytes:
        return self._file.peek(max(0, size))

    def readable(self) -> bool:
        return True

    def flush(self) -> None:
        """Do nothing: it is only read."""

    def close(self) -> None:
        self._file.close()
        super().close()


class _BoundedResponse(http.client.HTTPResponse):
    """An answer that is read from a bounded stream."""

    fp: Any

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.fp = _BoundedFile(self.fp)


class Connection:
    """One connection, which is opened by its first request.

    Attributes:
        is_lost: it is of no more use.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._worker: _Worker | None = None
        self._http = address.connect(CONNECT_S)
        self._http.auto_open = 0  # what is sent twice is for the caller to decide
        self._http.response_class = _BoundedResponse
        self._sock: socket.socket | None = None
        self._response: http.client.HTTPResponse | None = None  # the last one
        self._stream: http.client.HTTPResponse | None = None
        self._is_busy = False
        self.is_lost = False

    async def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        most: int,
        until: float | None,
    ) -> Answer:
        """Send a request, and wait for its answer.

        Args:
            method: of HTTP.
            path: below the base of the server.
            headers: besides those that HTTP needs.
            body: of the request.
            most: bytes of the answer's body.
            until: the moment (of ``time.monotonic``) to wait for; None waits as long as it takes.

        Raises:
            LostConnectionError: there is no answer of this size in time.
            ConfigError: TLS does not trust the server.
        """

        def exchange() -> Answer:
            response = self._exchange(method, path, headers, body)
            return self._read(response, most)

        return await self._in_thread(exchange, until)

    async def open_stream(
        self, path: str, headers: Mapping[str, str], body: bytes, *, until: float | None
    ) -> Answer:
        """Send a request whose good answer is one line now, and ends later.

        Args:
            path: below the base of the server.
            headers: besides those that HTTP needs.
            body: of the request.
            until: as of ``ask``.

        Raises:
            LostConnectionError, ConfigError: as ``ask`` does.
        """

        def exchange() -> Answer:
            response = self._exchange("POST", path, headers, body)
            self._set_timeout(_LINE_S)
            if response.status != 200:
                return self._read(response, SMALL)
            response.fp.left = 2 * SMALL  # type: ignore[attr-defined] # a _BoundedFile
            line = response.readline(SMALL)
            if not line.endswith(b"\n"):
                raise LostConnectionError("the server's answer has no first line")
            self._stream = response
            return Answer(response.status, line)

        return await self._in_thread(exchange, until)

    async def end_stream(self, until: float) -> None:
        """Read the end of the streamed answer, which then has nothing more in it.

        Raises:
            LostConnectionError: it does not end, or not in time.
        """
        stream = self._stream
        self._stream = None

        def finish() -> None:
            if stream is None or stream.read(1) or not stream.isclosed():
                raise LostConnectionError("the server does not end a session")

        await self._in_thread(finish, until)

    @property
    def is_streaming(self) -> bool:
        """Return True while a streamed answer has not ended."""
        return self._stream is not None

    def is_alive(self) -> bool:
        """Return False where the server has closed the connection, as far as is known without
        waiting.
        """
        if self.is_lost or self._sock is None:
            return not self.is_lost
        poll = select.poll()
        poll.register(self._sock.fileno(), select.POLLIN)
        return not poll.poll(0)  # an end, or bytes that nobody asked for

    def close(self) -> None:
        """Close it; whatever waits for it ends with an error."""
        self.is_lost = True
        if self._sock is not None:
            with suppress(OSError):
                # Not ``SSLSocket.shutdown``, which takes TLS away from the thread that reads.
                socket.socket.shutdown(self._sock, socket.SHUT_RDWR)
        if not self._is_busy:
            self._release()

    def _release(self) -> None:
        if self._response is not None:
            self._response.close()  # one that ends the connection is not closed with it
        self._http.close()
        if self._sock is not None:
            self._sock.close()
        if self._worker is not None:
            self._worker.end()

    async def _in_thread(self, work: Callable[[], T], until: float | None) -> T:
        if self.is_lost:
            raise LostConnectionError("the connection was lost earlier")
        self._is_busy = True
        if self._worker is None:
            self._worker = _Worker()
        made = self._worker.run(lambda: self._guarded(work))
        # Where nobody waits any longer, its exception is of no interest.
        made.add_done_callback(lambda done: done.cancelled() or done.exception())
        left = None if until is None else max(0.0, until - monotonic())
        try:
            done, _ = await asyncio.wait({made}, timeout=left)
        except BaseException:
            self.close()
            raise
        if not done:
            self.close()
            raise LostConnectionError("the server does not answer")
        return made.result()

    def _guarded(self, work: Callable[[], T]) -> T:
        """Do this in a thread; whatever goes wrong, the connection is lost."""
        try:
            if self._sock is None:
                self._open()
            return work()
        except BaseException as error:
            self.is_lost = True
            if isinstance(error, (LostConnectionError, ConfigError)):
                raise
            if isinstance(error, (OSError, http.client.HTTPException, ValueError)):
                said = str(error) or type(error).__name__
                raise LostConnectionError(f"no HTTP from the server: {said:.200}") from error
            raise
        finally:
            self._is_busy = False
            if self.is_lost:
                self._release()

    def _open(self) -> None:
        try:
            self._http.connect()
        except ssl.SSLError as error:
            raise ConfigError(f"TLS does not trust the server: {error}") from error
        except OSError as error:
            raise LostConnectionError(f"it cannot be reached: {error}") from error
        self._sock = cast("socket.socket", self._http.sock)
        stay_aware(self._sock)
        if self.is_lost:  # it was closed meanwhile
            raise LostConnectionError("the connection was closed")

    def _set_timeout(self, seconds: float | None) -> None:
        """Set how long one system call may wait; the event loop keeps the other deadlines."""
        assert self._sock is not None
        self._sock.settimeout(seconds)

    def _exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> http.client.HTTPResponse:
        self._set_timeout(None)
        self._http.request(method, self._address.base + path, body, dict(headers))
        self._response = self._http.getresponse()
        return self._response

    def _read(self, response: http.client.HTTPResponse, most: int) -> Answer:
        length = response.length
        if length is None and not response.chunked:
            raise LostConnectionError("the server's answer says no length")
        response.fp.left = most + SMALL  # type: ignore[attr-defined] # chunks have heads of theirs
        if length is not None and length > most:
            raise LostConnectionError(f"an answer of {length} bytes was announced")
        body = response.read(most + 1) if response.chunked else response.read(length or 0)
        if len(body) > most or (length is not None and len(body) != length):
            raise LostConnectionError("the server's answer is cut off, or too long")
        if response.chunked and not response.isclosed():
            raise LostConnectionError("the server's answer does not end")
        if response.will_close:
            self.is_lost = True
        return Answer(response.status, body)
