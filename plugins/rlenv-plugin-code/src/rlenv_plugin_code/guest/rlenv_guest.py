"""Serves calls of a solution's functions, inside the sandbox.

Requests and answers are lists, one per frame, in lockstep; ``n`` names the request that is
answered:

    ["source", n, text]                      -> ["loaded", n] | ["err", n, what, line]
    ["call", n, name, args, kwargs]          -> ["ok", n, value] | ["err", n, what]
    ["ask", n, ...]                          for tests that ask for objects: see ``rlenv_objects``
    ["end", n]                               -> ["end", n]

Nothing here guards anything: the solution may replace all of it, and gains a way to answer, no
more. What it keeps to itself it keeps for honest programs that patch a builtin by accident.
"""

from __future__ import annotations

import sys
from builtins import BaseException, Exception, isinstance, len, type  # private, see above
from posix import read as _read
from posix import write as _write
from struct import Struct

from rlenv_called import find, finished, what
from rlenv_codec import Unencodable, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "solution"  # no __main__: demonstrations under the usual guard are no part of a function
FILE = "solution.py"
RECURSION = 20_000
STACK = 96 << 20  # bytes; the main thread's stack grows to it when it is needed
_SIZE = Struct("<I")


_Module = type(sys)


class Link:
    """Frames on the channel."""

    def __init__(self, fd: Any = 3) -> None:
        self._fd = fd
        self._rest = b""
        self._out = b""

    def read(self) -> Any:
        """The next frame; None when the channel has ended."""
        data = self._rest
        while len(data) < 4 or len(data) < 4 + _SIZE.unpack_from(data)[0]:
            if self._out:
                self._flush()
            more = self._more(data)
            if more is None:
                return None
            data = more
        end = 4 + _SIZE.unpack_from(data)[0]
        self._rest = data[end:]
        return data[4:end]

    def _more(self, data: Any) -> Any:
        """``data`` and what comes next, a long frame as a whole."""
        wanted = 4 + _SIZE.unpack_from(data)[0] if len(data) >= 4 else 0
        parts = [data]
        size = len(data)
        while True:
            more = _read(self._fd, 65536 if size + 65536 >= wanted else 1 << 20)
            if not more:
                return None
            parts.append(more)
            size += len(more)
            if size >= wanted:
                return b"".join(parts)

    def write(self, frame: Any) -> None:
        """Send a frame now."""
        self.put(frame)
        self._flush()

    def put(self, frame: Any) -> None:
        """Send a frame when the next read would have to wait."""
        self._out += _SIZE.pack(len(frame)) + frame

    def _flush(self) -> None:
        data = self._out
        self._out = b""
        sent = _write(self._fd, data)
        while sent < len(data):
            data = data[sent:]
            sent = _write(self._fd, data)


class Source:
    """Lets ``inspect`` and tracebacks find the solution's text, which is not a file."""

    def __init__(self, text: Any) -> None:
        self._text = text

    def get_source(self, name: Any) -> Any:
        return self._text


def make_room() -> None:
    """Deep recursion, as far as the limits of the sandbox let it grow."""
    sys.setrecursionlimit(RECURSION)
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        room = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
        resource.setrlimit(resource.RLIMIT_STACK, (room, hard))
    except (ImportError, OSError, ValueError):
        pass  # less deep, then


def new_module(text: Any, name: Any = NAME, file: Any = FILE) -> Any:
    """An empty module that stands for this text."""
    module = _Module(name)
    module.__file__ = file
    module.__loader__ = Source(text)
    module.__builtins__ = __builtins__
    sys.modules[name] = module
    return module


def line_of(err: Any) -> Any:
    """The line of the solution that an exception came from; 0 when unknown."""
    if isinstance(err, SyntaxError) and err.filename == FILE:
        return err.lineno or 0
    line = 0
    trace = err.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class Server:
    """One solution and the requests about it."""

    def __init__(self, link: Any) -> None:
        self.link = link
        self.module = None
        self._asked = None
        self._streams = sys.stdout, sys.stderr

    def run(self) -> None:
        while True:
            frame = self.link.read()
            if frame is None:
                return
            self.link.put(self.answer(decode(frame)))

    def answer(self, request: Any) -> Any:
        """The answer to one request, as a frame; what was printed is out before it."""
        kind = request[0]
        n = request[1]
        if kind == "call":
            frame = self._call(n, *request[2:])
        elif kind == "ask":
            frame = self._ask(request)
        elif kind == "source":
            frame = self._source(n, request[2])
        else:
            frame = b'["end",%d]' % n
        for stream in self._streams:
            try:
                stream.flush()
            except Exception:  # noqa: BLE001 - closed, or replaced by something odd
                continue
        return frame

    def _source(self, n: Any, text: Any) -> Any:
        self.module = module = new_module(text)
        try:
            exec(compile(text, FILE, "exec", 0, True), module.__dict__)  # noqa: S102
        except BaseException as err:  # noqa: BLE001 - whatever it raises is its answer
            return b'["err",%d,%s,%d]' % (n, encode(what(err)), line_of(err))
        return b'["loaded",%d]' % n

    def _call(self, n: Any, name: Any, args: Any, kwargs: Any) -> Any:
        try:
            value = finished(find(self.module, name)(*args, **kwargs))
            return b'["ok",%d,%s]' % (n, encode(value))
        except Unencodable as err:
            said = "TypeError: the result is no plain value: %s" % err
        except BaseException as err:  # noqa: BLE001 - as above
            said = what(err)
        return b'["err",%d,%s]' % (n, encode(said[:200]))

    def _ask(self, request: Any) -> Any:
        if self._asked is None:
            from rlenv_objects import World

            self._asked = World(self)
        return self._asked.answer(request)


def rehearse() -> None:
    """Do once what every run does, where it costs no run anything.

    Sandboxes with warm processes ask for it.
    """
    make_room()
    server = Server(None)
    for request in (b'["source",0,"def f(x):\\n    return [x]"]', b'["call",0,"f",[1],{"d":[]}]'):
        server.answer(decode(request))
    sys.modules.pop(NAME, None)


def serve(fd: Any = 3) -> None:
    """Answer until the channel ends."""
    make_room()
    Server(Link(fd)).run()
