"""Keys: read from the environment when a call is made, kept nowhere, and struck out of what comes
back.
"""

from __future__ import annotations

import os

from rlenv import ConfigError

from .endpoint import Endpoint

HIDDEN = b"[key]"


def read_key(endpoint: Endpoint) -> str | None:
    """The endpoint's key, None where it wants none.

    Raises:
        ConfigError: names the variable to set; never shows its value.
    """
    if endpoint.key_env is None:
        return None
    value = os.environ.get(endpoint.key_env, "").strip()
    if not value:
        raise ConfigError(
            f"the judge at {endpoint.base_url} needs a key: set the environment variable "
            f'{endpoint.key_env} to it, or say key_env = "" for a server that wants none'
        )
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(
            f"the environment variable {endpoint.key_env} holds no key: "
            "a key is printable ASCII without blanks (a quote or a line break may have crept in)"
        )
    return value


def headers(endpoint: Endpoint) -> dict[str, str]:
    """What every request to ``endpoint`` carries."""
    key = read_key(endpoint)
    plain = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    return plain if key is None else {**plain, "Authorization": f"Bearer {key}"}


def strike_out(body: bytes, endpoint: Endpoint) -> bytes:
    """``body`` without the endpoint's key, should a server or a router echo it."""
    key = os.environ.get(endpoint.key_env, "").strip() if endpoint.key_env else ""
    return body.replace(key.encode(), HIDDEN) if len(key) >= 4 else body
