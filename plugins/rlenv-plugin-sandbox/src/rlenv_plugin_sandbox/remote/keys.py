"""Keys of clients: what a server keeps of each, and whose it is.

A file of keys is TOML, and has no key in it::

    [[key]]
    tenant = "alice"
    stored = "9f86d0…"  # both are 64 hex digits
    server = "60303a…"

``rlenv sandbox --new-key alice --keys keys.toml`` makes a key and adds it.

As in SCRAM (RFC 5802), who reads the file can play the server to its clients, and cannot be one of
them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tomllib
from pathlib import Path

from attrs import field, frozen
from attrs.validators import matches_re
from rlenv import ConfigError

__all__ = ["Key", "add_key", "client_key", "read_keys", "sign"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEX = re.compile("[0-9a-f]{64}")


def sign(secret: bytes, text: str) -> bytes:
    """The HMAC of a text."""
    return hmac.new(secret, text.encode(errors="replace"), "sha256").digest()


def client_key(token: str) -> bytes:
    """What a client proves that it knows."""
    return sign(token.encode(), "rlenv sandbox client")


@frozen
class Key:
    """What a server keeps of a key.

    Args:
        tenant: whose it is; "" for everyone with the token of a server without a file.
        stored: the SHA-256 of its client key, as hex digits.
        server: what the server proves that it knows, as hex digits.
    """

    tenant: str = field(validator=matches_re(_NAME))
    stored: str = field(validator=matches_re(_HEX))
    server: str = field(validator=matches_re(_HEX))

    @classmethod
    def of(cls, token: str, tenant: str = "token") -> Key:
        stored = hashlib.sha256(client_key(token)).hexdigest()
        return cls(tenant, stored, sign(token.encode(), "rlenv sandbox server").hex())


def read_keys(path: str) -> tuple[Key, ...]:
    """The keys of a file.

    Raises:
        ConfigError: it cannot be read, has mistakes or no key, or may be written by others.
    """
    try:
        found = tuple(Key(**row) for row in tomllib.loads(Path(path).read_text("utf-8"))["key"])
        if os.stat(path).st_mode & 0o022:
            raise ConfigError(
                f"{path}: others may write this file of keys; run `chmod go-w {path}`"
            )
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path}: not a file of keys, which has a [[key]] with tenant, stored and server for"
            f" each ({str(error)[:200]}); add one with `rlenv sandbox --new-key NAME --keys {path}`"
        ) from None
    return found


def add_key(path: str, tenant: str) -> str:
    """Make a key, add what a server keeps of it to a file, and return it; it is kept nowhere.

    Raises:
        ConfigError: for a name that is none, or a file that cannot be written.
    """
    token = secrets.token_urlsafe(32)
    try:
        made = Key.of(token, tenant)
        with open(
            os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8"
        ) as file:
            file.write(
                f'\n[[key]]\ntenant = "{tenant}"\nstored = "{made.stored}"\nserver ='
                f' "{made.server}"\n'
            )
    except ValueError:
        raise ConfigError(
            f"a tenant is named with letters, digits, '.', '_' and '-', not {tenant!r:.80}"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name another file") from None
    return token
