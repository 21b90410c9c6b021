"""A proxy that breaks the stream of the first call as soon as its client has the id of the run."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MARK = b"event: task_id"


class Cutting:
    """One proxy; ``cuts`` is how many streams it broke."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
                calls = threading.Event()
                threading.Thread(
                    target=self._forward, args=(client, server, calls), daemon=True
                ).start()
                threading.Thread(
                    target=self._back, args=(server, client, calls), daemon=True
                ).start()

    def _forward(
        self, client: socket.socket, server: socket.socket, calls: threading.Event
    ) -> None:
        with suppress(OSError):
            while sent := client.recv(65536):
                if b"/call HTTP" in sent:
                    calls.set()
                server.sendall(sent)
        server.close()

    def _back(self, server: socket.socket, client: socket.socket, calls: threading.Event) -> None:
        with suppress(OSError):
            while got := server.recv(65536):
                if calls.is_set() and not self.cuts and MARK in got:
                    self.cuts += 1
                    end = got.index(b"\r\n\r\n", got.index(MARK)) + 4
                    client.sendall(got[:end])
                    break
                client.sendall(got)
        for each in (client, server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def cutting(port: int) -> Iterator[Cutting]:
    """A proxy before the server at this port."""
    made = Cutting(port)
    try:
        yield made
    finally:
        made.close()
