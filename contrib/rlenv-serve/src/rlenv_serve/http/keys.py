"""Keys of clients, and the tenants that they belong to.

A file of keys is TOML, and has no key in it, only hashes::

    [[key]]
    tenant = "alice"
    sha256 = "9f86d0…"  # of the key
    answers = true      # requests may bring tasks with answers
    operator = true     # may read every tenant's trajectories, and what verifiers say in private
    programs = true     # may run programs, where --sandboxes is given

``rlenv serve --new-key alice --keys keys.toml`` makes a key and adds it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import tomli
from attrs import field, frozen
from attrs.validators import instance_of, matches_re
from rlenv import ConfigError
from rlenv.authoring import Problems, build

from .problems import Problem

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
HEX = re.compile(r"[0-9a-f]{64}")


@frozen
class Tenant:
    """The client that a request is from.

    Args:
        name: of the tenant, "" for everyone on a server without keys.
        answers: its requests may bring tasks with answers.
        operator: it may read what belongs to the operator; ``sees_private`` says what that is.
        programs: it may run programs in the sandboxes of the server.
    """

    name: str = ""
    answers: bool = False
    operator: bool = False
    programs: bool = False


# Whoever reaches the loopback interface of a server without keys.  An agent with a shell on this
# machine, and every other user of it, can do that, so it is not an operator unless the server was
# started with ``--operator``.
LOCAL = Tenant("", answers=True, programs=True)
LOCAL_OPERATOR = Tenant("", answers=True, operator=True, programs=True)


def sees_private(tenant: Tenant) -> bool:
    """Return whether a tenant may see the answers of tasks, what stages and faults say in private,
    and how environments are made.  Every route that shows one of these asks this function.
    """
    return tenant.operator


@frozen
class _Key:
    tenant: str = field(validator=[instance_of(str), matches_re(NAME)])
    sha256: str = field(validator=[instance_of(str), matches_re(HEX)])
    answers: bool = False
    operator: bool = False
    programs: bool = False


@frozen
class _File:
    key: tuple[_Key, ...]


class Keys:
    """The keys of a server.

    Args:
        tenants: by SHA-256 of a key, as hex digits; None: there are no keys, and everyone is the
            same tenant.
        operator: without keys, everyone is the operator.
    """

    def __init__(
        self, tenants: Mapping[str, Tenant] | None = None, *, operator: bool = False
    ) -> None:
        self.tenants = tenants
        self._local = LOCAL_OPERATOR if operator else LOCAL

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Keys:
        """The keys of a file.

        Raises:
            ConfigError: for a file that cannot be read, has mistakes, or may be written by others.
        """
        try:
            text = Path(path).read_text("utf-8")
            if os.name == "posix" and os.stat(path).st_mode & 0o022:
                raise ConfigError(
                    f"{path}: others may write this file of keys; run `chmod go-w {path}`"
                )
            table = tomli.loads(text)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path}: not a file of keys: {error}") from None
        problems = Problems()
        made = build(_File, table, str(path), problems)
        problems.check()
        found: dict[str, Tenant] = {}
        for key in made.key:
            tenant = Tenant(key.tenant, key.answers, key.operator, key.programs)
            if found.setdefault(key.sha256, tenant) is not tenant:
                raise ConfigError(f"{path}: the key {key.sha256[:8]}… is there twice")
        if not found:
            raise ConfigError(
                f"{path}: has no [[key]]; add one with `rlenv serve --new-key NAME --keys {path}`"
            )
        return cls(found)

    def tenant(self, headers: Mapping[str, str]) -> Tenant:
        """Return the tenant whose request has these headers.

        Args:
            headers: ``X-API-Key``, or ``Authorization`` with Bearer, or with Basic and the key as
                its password.

        Raises:
            Problem: 401 where a key is needed, and there is none or it is not known.
        """
        if self.tenants is None:
            return self._local
        digest = hashlib.sha256(_key_in(headers).encode("utf-8", "surrogateescape")).hexdigest()
        # All are compared, so that time tells nothing.
        found = [
            tenant for known, tenant in self.tenants.items() if hmac.compare_digest(known, digest)
        ]
        if not found:
            needs = "send a key of this server as X-API-Key, or as `Authorization: Bearer KEY`"
            raise Problem(401, "unauthorized", needs, WWW_Authenticate="Bearer")
        return found[0]


def _key_in(headers: Mapping[str, str]) -> str:
    if key := headers.get("x-api-key"):
        return key
    kind, _, rest = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return rest.strip()
    if kind.lower() == "basic":
        with suppress(ValueError):
            return b64decode(rest, validate=True).decode("utf-8").partition(":")[2]
    return ""


def add_key(
    path: str | os.PathLike[str],
    tenant: str,
    *,
    answers: bool,
    operator: bool,
    programs: bool = False,
) -> str:
    """Make a key, add its hash to a file, and return the key, which is kept nowhere.

    Args:
        path: of the file, which is made where there is none.
        tenant: whose key it is.
        answers: requests with it may bring tasks with answers.
        operator: it is the key of an operator.
        programs: it may run programs in the sandboxes of the server.

    Raises:
        ConfigError: for an invalid name, or a file that cannot be written.
    """
    if not NAME.fullmatch(tenant):
        raise ConfigError(
            f"a tenant is named with letters, digits, '.', '_' and '-', not {tenant!r:.80}"
        )
    key = f"rlenv_{secrets.token_urlsafe(32)}"
    digest = hashlib.sha256(key.encode()).hexdigest()
    given = (("answers", answers), ("operator", operator), ("programs", programs))
    rights = "".join(f"{name} = true\n" for name, said in given if said)
    try:
        with open(
            os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8"
        ) as file:
            file.write(f'\n[[key]]\ntenant = "{tenant}"\nsha256 = "{digest}"\n{rights}')
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name another file") from None
    return key
