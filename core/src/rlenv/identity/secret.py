"""The secret that random test inputs are drawn from: no policy can predict them, every process
agrees.

It is ``RLENV_SECRET``, or 32 random bytes made once in the user's state folder with mode 0600.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache

from rlenv.model.errors import ConfigError
from rlenv.model.values import Task

WITHHELD = b""  # what a worker of functions inherits instead of the secret


def secret() -> bytes:
    """The secret of this machine and user.

    Raises:
        ConfigError: when the state folder cannot be read or written; ``RLENV_SECRET`` is the
            remedy.
    """
    if (inherited := _inherited()) == WITHHELD:
        remedy = 'declare env = ("RLENV_SECRET",) on the function to have it'
        raise ConfigError(f"a function's worker has no secret: {remedy}")
    if inherited is not None:
        return inherited
    named = os.environ.get("RLENV_SECRET")
    return os.fsencode(named) if named else _from_file()


def handed_on() -> bytes:
    """What this process's own workers get: the secret, or what stands for it in a worker of
    functions.
    """
    return WITHHELD if _inherited() == WITHHELD else secret()


def key_id() -> str:
    """Eight hex digits that name the secret without telling it."""
    from hmac import new  # few workers draw

    return new(handed_on(), b"rlenv key id", "sha256").hexdigest()[:8]


def _inherited() -> bytes | None:
    """In a worker: what its parent handed over."""
    return getattr(sys.modules.get("rlenv.workers.inherit"), "SECRET", None)


def attempt_key(task: Task, response: str) -> bytes:
    """HMAC-SHA256(secret, task id, response): 32 bytes."""
    from hmac import new

    name = task.id if task.id is not None else task.prompt
    parts = (name.encode("utf-8", "surrogatepass"), response.encode("utf-8", "surrogatepass"))
    message = b"".join(len(p).to_bytes(8, "big") + p for p in parts)
    return new(secret(), message, "sha256").digest()


def state_folder() -> str:
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "rlenv")


@cache
def _from_file() -> bytes:
    path = os.path.join(state_folder(), "secret")
    try:
        if not os.path.exists(path):
            _create(path)
        with open(path, "rb") as file:
            value = file.read()
    except OSError as err:
        remedy = "make its folder writable or set RLENV_SECRET to a long random text"
        what = f"the secret {path} cannot be used ({err.strerror})"
        raise ConfigError(f"{what}: {remedy}") from None
    if len(value) < 32:
        raise ConfigError(f"the secret {path} is shorter than 32 bytes: remove it for a new one")
    return value


def _create(path: str) -> None:
    from tempfile import NamedTemporaryFile

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with NamedTemporaryFile(dir=os.path.dirname(path)) as file:  # of mode 0600
        file.write(os.urandom(32))
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: then theirs is the secret
            os.link(file.name, path)
