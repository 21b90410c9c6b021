"""How both sides prove that they know the token, without saying it: as in SCRAM, with a token of
high entropy.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Any

from rlenv_plugin_sandbox.stream import Link

from .keys import Key, client_key, sign
from .payload import BadPayload, unwrap, wrap

__all__ = ["ANSWER", "ASK", "Refused", "greet", "introduce"]

HELLO = 1
PROOF = 2
WELCOME = 3
ASK = 4
ANSWER = 5
VERSION = 2
SMALL = 4096  # bytes of a frame from somebody unknown


class Refused(Exception):
    """The other side is not who it should be, or will not have us."""


def _hide(key: Key, known: bytes, nonces: str) -> bytes:
    """A client key, hidden by what only those can compute who keep something of it; that, hidden
    again, is the key.
    """
    signature = sign(bytes.fromhex(key.stored), nonces)
    return bytes(a ^ b for a, b in zip(known, signature, strict=False))


def _owner(keys: Sequence[Key], given: object, nonces: str) -> Key | None:
    """The key that this proves; all are tried, so that time tells nothing."""
    try:
        proof = bytes.fromhex(str(given))
    except ValueError:
        return None
    found = None
    for key in keys:
        known = _hide(key, proof, nonces)
        if hmac.compare_digest(hashlib.sha256(known).hexdigest(), key.stored):
            found = key
    return found


async def _hear(link: Link, kind: int, until: float) -> dict[str, Any]:
    frame = await link.receive(until)
    if frame is None:
        raise Refused("no handshake in time")
    if frame[0] != kind:
        raise Refused("it does not speak the protocol of rlenv's sandboxes")
    try:
        return unwrap(frame[1])[0]
    except BadPayload as error:
        raise Refused("it does not speak the protocol of rlenv's sandboxes") from error


async def greet(link: Link, keys: Sequence[Key], about: dict[str, Any], until: float) -> str:
    """The server's side; the client's tenant.

    Raises:
        Refused: the client does not know the token; it was told so.
        LinkLost: the client is gone.
    """
    nonce = secrets.token_hex(16)
    await link.send(HELLO, wrap({"rlenv": VERSION, "nonce": nonce, "token": bool(keys)}))
    said = await _hear(link, PROOF, until)
    nonces = f"{nonce}:{said.get('nonce')}"
    key = _owner(keys or [Key.of("")], said.get("proof"), nonces)
    if key is None:
        await link.send(WELCOME, wrap({"refused": "a token is needed, and this is not it"}))
        raise Refused("a client with a wrong token")
    proof = sign(bytes.fromhex(key.server), nonces).hex()
    await link.send(WELCOME, wrap({**about, "proof": proof}))
    return key.tenant


async def introduce(link: Link, token: str, until: float) -> dict[str, Any]:
    """The client's side; what the server says of itself.

    Raises:
        Refused: the server does not know the token, or will not have us.
        LinkLost: the server is gone.
    """
    hello = await _hear(link, HELLO, until)
    if hello.get("rlenv") != VERSION:
        raise Refused(f"it speaks protocol version {hello.get('rlenv')!r}, and this is {VERSION}")
    if hello.get("token") is True and not token:
        raise Refused("it needs a token: give one, or set RLENV_SANDBOX_TOKEN")
    own = secrets.token_hex(16)
    nonces = f"{hello.get('nonce')}:{own}"
    key = Key.of(token)
    await link.send(
        PROOF, wrap({"nonce": own, "proof": _hide(key, client_key(token), nonces).hex()})
    )
    welcome = await _hear(link, WELCOME, until)
    if "refused" in welcome:
        raise Refused(str(welcome["refused"]))
    expected = sign(bytes.fromhex(key.server), nonces).hex()
    if not hmac.compare_digest(
        expected.encode(), str(welcome.get("proof")).encode(errors="replace")
    ):
        raise Refused("it has another token")
    return welcome
