"""``Connections``: the connections of one process, by the address of their client.

Where there are too many, the one that has brought no whole request for longest is closed, so that
clients that open connections and send nothing cannot keep others out.
"""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeAlias

from attrs import define, field, frozen

logger = logging.getLogger("rlenv_serve")
HEAD = 20.0  # seconds for the head of a request
BODY = 30.0  # seconds for a body, besides those that its size allows
RATE = 1024  # bytes a second at which a body may take as long as it needs
STALLED = 300.0  # seconds in which a client must take something of an answer that waits for it
LARGEST_HEAD = 1 << 16  # bytes
SHARE = 0.75  # of all connections that one address may have: the rest is for others
LOG = 60.0  # seconds between lines of the log on this
IPV6_SITE = 64  # bits that the addresses of one site share

Close: TypeAlias = Callable[[], object]


@frozen
class Patience:
    """Times that a client may take.

    Args:
        head: seconds for the head of a request, from its first byte or from the start of the
            connection.
        body: seconds for its body, besides one for each ``rate`` bytes that came.
        rate: bytes a second.
        stalled: seconds in which a client must take something of an answer that waits for it.
    """

    head: float = HEAD
    body: float = BODY
    rate: float = RATE
    stalled: float = STALLED


@define(eq=False)
class _Peer:
    """The connections of one address.

    Args:
        open: how many there are.
        waiting: those that have brought no whole request, the oldest first, with what closes each.
    """

    open: int = 0
    waiting: dict[object, Close] = field(factory=dict)


class Connections:
    """The connections of one process.

    Args:
        most: how many may be open.
        of_peer: how many of one address; by default three quarters of all.
        patience: how long clients may take.
    """

    def __init__(
        self, most: int, of_peer: int | None = None, patience: Patience | None = None
    ) -> None:
        self.most = most
        self.of_peer = max(1, int(most * SHARE)) if of_peer is None else of_peer
        self.patience = patience or Patience()
        self.open = 0
        self._peers: dict[str, _Peer] = {}
        self._peer_of: dict[object, str] = {}
        self._closed = 0
        self._refused = 0
        self._logged = float("-inf")

    def add(self, connection: object, address: str, close: Close) -> bool:
        """A connection was made; False where there is no room for it, also when others were closed.

        Args:
            connection: names it; its transport, which stays the same when it becomes a WebSocket.
            address: of the client.
            close: ends the connection.
        """
        name = site_of(address)
        peer = self._peers.setdefault(name, _Peer())
        is_full = self.open >= self.most
        if is_full or peer.open >= self.of_peer:
            made_room = self._make_room(self._peers.values() if is_full else [peer])
            self._log(name, peer)
            if not made_room:
                self._refused += 1
                return False
        self.open += 1
        peer.open += 1
        peer.waiting[connection] = close
        self._peer_of[connection] = name
        return True

    def waits(self, connection: object, close: Close) -> None:
        """The server waits for a request of this connection: it may be closed for another one.

        Args:
            connection: that waits.
            close: closes it.
        """
        if name := self._peer_of.get(connection):
            self._peers[name].waiting[connection] = close

    def works(self, connection: object) -> None:
        """A whole request of this connection has come: it stays."""
        if name := self._peer_of.get(connection):
            self._peers[name].waiting.pop(connection, None)

    def remove(self, connection: object) -> None:
        """A connection has ended; one that was not added, or has ended before, is left alone."""
        name = self._peer_of.pop(connection, None)
        if name is None:
            return
        peer = self._peers[name]
        peer.waiting.pop(connection, None)
        peer.open -= 1
        self.open -= 1
        if not peer.open:
            del self._peers[name]

    def _make_room(self, peers: Iterable[_Peer]) -> bool:
        """Close the connection that has waited for longest, of the address that has most of
        these.
        """
        largest = max(peers, key=lambda peer: len(peer.waiting))
        if not largest.waiting:
            return False
        oldest = next(iter(largest.waiting))
        close = largest.waiting[oldest]
        self.remove(oldest)
        close()
        self._closed += 1
        return True

    def _log(self, name: str, peer: _Peer) -> None:
        if time.monotonic() < self._logged + LOG:
            return
        self._logged = time.monotonic()
        counts = [
            self.open,
            peer.open,
            name,
            self.most,
            self.of_peer,
            self._closed,
            self._refused,
        ]
        logger.warning(
            "%s connections are open, %s of them from %s; there may be %s, and %s of one address."
            " Since the start %s that had brought no whole request were closed for others, and %s"
            " were answered 503. Raise the limit of open files (`ulimit -n`) before the start, or"
            " put a proxy in front of the server",
            *counts,
        )


@lru_cache(4096)
def site_of(address: str) -> str:
    """An address, or the network of 64 bits of one of IPv6: a client has all of the addresses in
    it.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, IPV6_SITE), strict=False))
