"""Which base URLs can be used."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from socket import gethostname, inet_aton, inet_ntoa
from urllib.parse import SplitResult, urlsplit

from rlenv import ConfigError

from .endpoint import Endpoint

_NEAR = (".local", ".lan", ".internal", ".home.arpa", ".localhost")


def base_of(endpoint: Endpoint) -> str:
    """The base URL, which a route such as ``/chat/completions`` is appended to.

    Raises:
        ConfigError: not http(s), a name and password or a query inside, no host, the whole path
            given, or a key that would travel in the clear beyond the local network.
    """
    base = endpoint.base_url
    try:
        parts = urlsplit(base)
        port = parts.port
    except ValueError:
        raise _bad("a URL that cannot be read", "https://api.example.org/v1") from None
    if parts.username is not None or parts.password is not None:
        raise _bad("a URL with a name or password inside", "a key in the variable of key_env")
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise _bad(repr(base), "an http:// or https:// address as https://api.example.org/v1")
    if parts.query or parts.fragment:
        raise _bad("a URL with a query or fragment", "the bare address as in .../v1")
    if not base.isascii() or not base.isprintable() or " " in base or "\\" in base:
        raise _bad("a URL with blanks or odd characters", "https://api.example.org/v1")
    if parts.path.rstrip("/").endswith("/completions"):
        raise _bad(repr(base), "the address up to /chat/completions, which is appended")
    _check_reach(endpoint, parts)
    return base.rstrip("/")


def server_of(url: str) -> tuple[str, int | None, str]:
    """What is equal of two addresses that lead to one server: names of this machine, ports and a
    last ``/v1`` aside.

    Raises:
        ConfigError: it is no address.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError as err:
        raise ConfigError(f"policy_url or base_url: {url!r} cannot be read ({err})") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"policy_url or base_url: {url!r} is no http:// or https:// address")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return _host(parts.hostname.rstrip(".")), port, path.removesuffix("/v1").rstrip("/")


def _host(name: str) -> str:
    """A host's usual name: 127.1, 0x7f000001, ::ffff:127.0.0.1 and this machine's own name are
    localhost.
    """
    with suppress(OSError):
        name = inet_ntoa(inet_aton(name))
    try:
        address = ip_address(name)
    except ValueError:
        near = name in {gethostname().casefold(), "localhost.localdomain", "ip6-localhost"}
        return "localhost" if near or name.endswith(".localhost") else name
    address = getattr(address, "ipv4_mapped", None) or address
    here = address.is_loopback or address.is_unspecified
    return "localhost" if here else address.compressed


def _bad(got: str, wanted: str) -> ConfigError:
    return ConfigError(f"base_url: got {got}; expected {wanted}")


def _check_reach(endpoint: Endpoint, parts: SplitResult) -> None:
    host = parts.hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        near = "." not in host or host.endswith(_NEAR)
    else:
        near = address.is_private or address.is_loopback
        if address.is_link_local or address.is_multicast or address.is_unspecified:
            raise _bad(repr(host), "the address of a server (this one is link-local or none)")
    if parts.scheme == "http" and endpoint.key_env is not None and not near:
        raise _bad(
            f"http:// to {host} with a key, which would travel in the clear",
            'https://, or key_env = "" where no key is wanted',
        )
