"""Errors with which a server may fail, and how much it may say."""

from __future__ import annotations

from rlenv_plugin_agent.errors import ToolError

MOST = 4 << 20  # bytes of one message of a server, or of one answer over HTTP


class ServerError(ToolError):
    """The server gave no result; the message is for the policy.

    Args:
        message: why, without what the server wrote.
        lost: whether the server is gone for good.
        unread: whether nothing of the message reached the server.
    """

    def __init__(self, message: str, *, lost: bool = False, unread: bool = False) -> None:
        self.lost = lost
        self.unread = unread
        super().__init__(message)
