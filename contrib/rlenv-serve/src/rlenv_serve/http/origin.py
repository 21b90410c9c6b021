"""Whom a browser asks for: web pages of others, and names that were pointed at this machine, are
rejected.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from .problems import Problem


def check_origin(headers: Mapping[str, str], *, keyless: bool) -> None:
    """Reject a request that the page of another site sends from the browser of somebody who may.

    Args:
        headers: of the request.
        keyless: the server has no keys, so that it is for this machine alone.

    Raises:
        Problem: 421 where a server without keys is asked for by a name other than that of loopback,
            which is how DNS rebinding reaches it; 403 for an ``Origin`` that is not this server.
    """
    host = headers.get("host", "")
    if keyless and not is_loopback(_name(host)):
        raise Problem(
            421,
            "misdirected",
            f"a server without keys answers as localhost or 127.0.0.1, not as {host!r:.80}; give it"
            " --keys",
        )
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        raise Problem(
            403,
            "foreign_origin",
            f"a page of {origin!r:.80} may not use this server from a browser",
        )


@lru_cache(256)
def is_loopback(host: str) -> bool:
    """Return whether this name or address reaches its own machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(256)
def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
