"""Options of sockets that reach another machine."""

from __future__ import annotations

import socket

__all__ = ["stay_aware"]

_KEEPALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))  # seconds, seconds


def stay_aware(sock: socket.socket) -> None:
    """Send without delay, and learn within a minute that the other machine is gone, also while
    nothing is sent: see tcp(7).

    Sockets that a listening one accepts have the same options.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
