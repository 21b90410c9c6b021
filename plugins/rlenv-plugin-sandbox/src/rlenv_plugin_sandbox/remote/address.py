"""The address of a server, as a user writes it."""

from __future__ import annotations

import http.client
import ipaddress
import ssl
from urllib.parse import SplitResult, urlsplit

from attrs import frozen
from rlenv import ConfigError

__all__ = ["Address", "is_loopback"]

# What a url of an earlier version is called now.
_OLD_SCHEMES = {"tls": "https", "tcp": "http"}
_PORTS = {"https": 443, "http": 80}


def is_loopback(host: str) -> bool:
    """Return True where this name or address reaches its own machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@frozen
class Address:
    """A server of sandboxes.

    Args:
        host: a name or an address, without brackets.
        port: of TCP.
        base: what comes before the paths of the protocol, without a slash at its end.
        context: what TLS trusts; None: the connection is not encrypted.
    """

    host: str
    port: int
    base: str = ""
    context: ssl.SSLContext | None = None

    @classmethod
    def parse(cls, url: str, *, ca: str | None = None, plain_http: bool = False) -> Address:
        """Read ``https://host:port`` or ``http://host:port``.

        Args:
            url: as above; a path before those of the protocol may follow.
            ca: a file of certificates that are trusted, besides the machine's own.
            plain_http: whether ``http`` may reach other machines.

        Raises:
            ConfigError: it is not such a url, or would send a key and programs unencrypted.
        """
        parts = _split(url)
        host = parts.hostname or ""
        port = parts.port or _PORTS[parts.scheme]
        base = parts.path.rstrip("/")
        if parts.scheme == "https":
            return cls(host, port, base, _context(ca))
        if not plain_http and not is_loopback(host):
            raise ConfigError(
                f"sandbox/remote: {url!r} would send the key, programs and their results"
                " unencrypted to another machine: write https://, or allow it with the option"
                " plain_http = true (RLENV_SANDBOX_PLAIN_HTTP=1) where the network itself is"
                " encrypted"
            )
        return cls(host, port, base)

    def connect(self, seconds: float) -> http.client.HTTPConnection:
        """Make a connection that is not open yet.

        Args:
            seconds: for each step of opening it.
        """
        if self.context is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        return http.client.HTTPSConnection(
            self.host, self.port, timeout=seconds, context=self.context
        )


def _split(url: str) -> SplitResult:
    """
    Raises:
        ConfigError: it is not a url of a server.
    """
    scheme, colon, rest = url.partition("://")
    if colon and scheme.lower() in _OLD_SCHEMES:
        now = f"{_OLD_SCHEMES[scheme.lower()]}://{rest}"
        raise ConfigError(
            f"sandbox/remote: {url!r} is a url of an earlier version; servers speak HTTP now:"
            f" write {now!r}, and start the server with this version of rlenv"
        )
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0 and url.isascii() and url.isprintable()
        extra = parts.query or parts.fragment or "@" in parts.netloc or " " in url
    except ValueError:
        usable = False
        extra = ""
    if not usable or extra or parts.scheme not in _PORTS:
        raise ConfigError(
            "sandbox/remote needs the url of a server, as https://host:port, or"
            f" http://127.0.0.1:port on this machine, not {url!r}: give it as the option url or in"
            " RLENV_SANDBOX_URL"
        )
    return parts


def _context(ca: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca is not None:
        try:
            context.load_verify_locations(ca)
        except OSError as error:
            raise ConfigError(
                f"sandbox/remote: ca = {ca!r} is not a file of certificates: {error}"
            ) from error
    return context
