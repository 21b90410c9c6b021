"""What an answer says that is none of the results: the error to raise for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from rlenv import ConfigError, Fault, RlenvError, VerifierFault
from rlenv.sandbox import TIERS, ChannelEnded, ChannelError, Profile, Tier, rank

from .connection import Answer
from .payload import BadPayload, error_of, json_object

__all__ = ["error_in", "expected", "gone", "isolation_in"]

# What the errors of an answer may be, but for faults.
_OWN: Mapping[str, type[RlenvError]] = {
    "open": ConfigError,
    "about": ConfigError,
    "start": ConfigError,
    "send": ChannelEnded,
    "recv": ChannelError,
}


def gone(what: str) -> Fault:
    """Make the fault of a server that is lost, or does not do what it should."""
    return Fault("unavailable", f"sandbox/remote: {what}", transient=True)


def error_in(answer: Answer, url: str) -> RlenvError:
    """The error that an answer tells, to be raised here."""
    try:
        said = json_object(answer.body)
    except BadPayload:
        said = {}
    if "error" in said:
        found = error_of(said)
        if isinstance(found, ConfigError) and answer.status in (401, 403, 404):
            problems = [f"the sandbox at {url} cannot be used: {p}" for p in found.problems]
            return ConfigError(*problems)
        return found
    told = f"{url} answers with status {answer.status}"
    if answer.status in (401, 403, 404, 405) or 300 <= answer.status < 400:
        return ConfigError(
            f"the sandbox at {url} cannot be used: {told}, as no server of sandboxes"
            " does; give the address of `rlenv sandbox`, or of `rlenv serve --sandboxes`, and"
            " its token"
        )
    return VerifierFault(gone(told))


def isolation_in(said: Mapping[str, Any], profile: Profile) -> Tier:
    """The tier that a session was given.

    Raises:
        VerifierFault: it is none, or less than was demanded.
    """
    tier = said.get("isolation")
    if tier not in TIERS or rank(cast("Tier", tier)) < rank(profile.min_isolation):
        raise VerifierFault(gone(f"the server gave isolation {str(tier)[:50]!r}"))
    return cast("Tier", tier)


def expected(error: RlenvError, asked: str) -> RlenvError:
    """The error of an answer, as one that this request can have."""
    if isinstance(error, _OWN.get(asked, VerifierFault)):
        return error
    if asked in ("send", "recv"):
        return ChannelEnded(str(error))
    return error if isinstance(error, VerifierFault) else VerifierFault(gone(str(error)))
