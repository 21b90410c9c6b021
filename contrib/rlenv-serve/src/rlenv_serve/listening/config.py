"""The configuration with which uvicorn runs a server."""

from __future__ import annotations

from typing import Any

import uvicorn
from starlette.types import ASGIApp

from .connections import Connections
from .protocols import LimitedHttp, LimitedWebSocket


def host_config(app: ASGIApp, limits: Connections, **more: Any) -> uvicorn.Config:
    """The configuration of uvicorn for a server whose connections have limits.

    Args:
        app: the application.
        limits: of connections; one for each process.
        **more: as ``uvicorn.Config`` takes it.
    """

    class Http(LimitedHttp):
        """With the limits of this server."""

    class WebSocket(LimitedWebSocket):
        """With the limits of this server."""

    Http.limits = WebSocket.limits = limits
    return uvicorn.Config(
        app,
        http=Http,
        ws=WebSocket,
        access_log=False,
        server_header=False,
        ws_per_message_deflate=False,
        **more,
    )
