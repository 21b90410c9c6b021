"""Errors that tools raise, and the texts in which a policy sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rlenv import Fault, VerifierFault


class ToolError(Exception):
    """Tells the policy why a call of a tool failed; of other exceptions the policy sees the class
    alone.
    """


class EpisodeError(VerifierFault):
    """The environment failed, by no act of the policy: the episode is unscored.

    It ends with ``error``.

    A tool, a user or a state raises it, as when a server of the operator is down.

    Args:
        message: for the operator.
        kind: of the fault.
        transient: a retry may help.
    """

    def __init__(self, message: str, *, kind: str = "error", transient: bool = False) -> None:
        super().__init__(Fault(kind, message, transient))


class UnreachableTask(EpisodeError):
    """A task cannot be solved in the persistent world that earlier episodes left.

    Another task may be.
    """


def error_text(kind: str, tool: str, message: str, seconds: float = 0.0) -> str:
    """Return an error as the observation of a policy.

    Args:
        kind: as ``arguments``, ``timeout`` or ``error``.
        tool: its name as the policy wrote it; the first 64 characters are kept.
        message: what the policy may know.
        seconds: wall time of the call.
    """
    told = {"type": kind, "tool": tool[:64], "message": message, "seconds": round(seconds, 3)}
    return json.dumps({"error": told})


ERROR = '{"error": {"type": "'  # what such an observation begins with


KEYS = {"type", "tool", "message", "seconds"}  # of such an error


def error_in(text: str) -> Mapping[str, object] | None:
    """Return the error that an observation is, with KEYS; None for a result, which may begin as an
    error does.

    Args:
        text: of an observation.
    """
    if not text.startswith(ERROR):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):  # a tool may print anything
        return None
    told = found.pop("error")
    return None if found or not isinstance(told, dict) or told.keys() != KEYS else told


def fault_of(error: Exception) -> Fault:
    """Return the fault of a verdict for an exception of the environment."""
    if isinstance(error, VerifierFault):
        return error.fault
    return Fault("error", f"{type(error).__name__}: {error}")
