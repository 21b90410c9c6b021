"""Policies that ask the server of a model."""

from __future__ import annotations

from .chat import ChatPolicy, endpoint
from .errors import ContextExceeded, EndpointError
from .sampling import TokenPolicy, token_endpoint

__all__ = [
    "ChatPolicy",
    "ContextExceeded",
    "EndpointError",
    "TokenPolicy",
    "endpoint",
    "token_endpoint",
]
