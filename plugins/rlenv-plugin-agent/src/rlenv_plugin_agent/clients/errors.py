"""Errors with which a call of a server can fail."""

from __future__ import annotations

from rlenv import RlenvError


class EndpointError(RlenvError):
    """The server is broken or set up wrongly: no act of a policy, so no reward follows."""


class ContextExceeded(RlenvError):
    """The model's context cannot hold the conversation: the episode stops with ``context``."""


class TryAgain(Exception):
    """The same request may succeed in a moment.

    Args:
        message: for the operator.
        after: the seconds that ``Retry-After`` asks for, None where it does not.
    """

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after
