"""Keys of clients: what a server keeps of each, and whose it is.

A file of keys is TOML, and has no key in it, only hashes::

    [[key]]
    tenant = "alice"
    sha256 = "9f86d0…"  # of the key, 64 hex digits

``rlenv sandbox --new-key alice --keys keys.toml`` makes a key and adds it.  A client sends its key
as ``Authorization: Bearer KEY`` (RFC 6750).  Keys have 256 bits, so a plain hash is enough.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tomllib
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen
from attrs.validators import matches_re
from rlenv import ConfigError

__all__ = ["Key", "add_key", "bearer", "check_token", "read_keys", "tenant_of"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEX = re.compile("[0-9a-f]{64}")


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


@frozen
class Key:
    """What a server keeps of a key.

    Args:
        tenant: whose it is; "token" for everyone with the token of a server without a file.
        sha256: of the key, as hex digits.
    """

    tenant: str = field(validator=matches_re(_NAME))
    sha256: str = field(validator=matches_re(_HEX))

    @classmethod
    def of(cls, key: str, tenant: str = "token") -> Key:
        """Hash a key."""
        return cls(tenant, _hash(key))


def check_token(token: str) -> None:
    """Check that a token can be sent in a header.

    Raises:
        ConfigError: it cannot.
    """
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            "sandbox/remote: a token has printable ASCII characters and no spaces: use the output"
            " of `openssl rand -hex 16` as the option token, or RLENV_SANDBOX_TOKEN"
        )


def bearer(authorization: str) -> str:
    """Return the key that a header ``Authorization`` has, "" where it has none."""
    kind, _, key = authorization.partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""


def tenant_of(keys: Sequence[Key], given: str) -> str | None:
    """Return the tenant of a key, None where it is not known; all are compared, so that time tells
    nothing.

    Args:
        keys: of the server.
        given: the key that a client sent.
    """
    found = None
    digest = _hash(given)
    for key in keys:
        if hmac.compare_digest(key.sha256, digest):
            found = key.tenant
    return found


def read_keys(path: str) -> tuple[Key, ...]:
    """Read a file of keys.

    Raises:
        ConfigError: it cannot be read, has mistakes or no key, or may be written by others.
    """
    try:
        rows = tomllib.loads(Path(path).read_text("utf-8"))["key"]
        if any("stored" in row for row in rows):
            raise ConfigError(
                f"{path}: its keys are of an earlier version, which kept 'stored' and 'server' of"
                " each; make new ones in a new file with `rlenv sandbox --new-key NAME --keys FILE`"
            )
        found = tuple(Key(**row) for row in rows)
        if os.stat(path).st_mode & 0o022:
            raise ConfigError(
                f"{path}: others may write this file of keys; run `chmod go-w {path}`"
            )
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path}: not a file of keys, which has a [[key]] with tenant and sha256 for each"
            f" ({str(error)[:200]}); add one with `rlenv sandbox --new-key NAME --keys {path}`"
        ) from None
    return found


def add_key(path: str, tenant: str) -> str:
    """Make a key, add its hash to a file, and return the key, which is kept nowhere.

    Args:
        path: of the file, which is made where there is none.
        tenant: whose key it is.

    Raises:
        ConfigError: for a name that is none, or a file that cannot be written.
    """
    key = f"rlenv_{secrets.token_urlsafe(32)}"
    try:
        made = Key.of(key, tenant)
        with open(
            os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8"
        ) as file:
            file.write(f'\n[[key]]\ntenant = "{tenant}"\nsha256 = "{made.sha256}"\n')
    except ValueError:
        raise ConfigError(
            f"a tenant is named with letters, digits, '.', '_' and '-', not {tenant!r:.80}"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name another file") from None
    return key
