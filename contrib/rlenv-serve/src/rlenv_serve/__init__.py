"""Environments of rlenv, served over HTTP to trainers and agents.

``rlenv serve env.toml`` starts a server; ``application(Server(...))`` is the ASGI application for
another one.
"""

from __future__ import annotations

from .app import application
from .catalog import Catalog, Served
from .http.keys import Keys, Tenant
from .http.limits import Limits
from .server import Server

__all__ = ["Catalog", "Keys", "Limits", "Served", "Server", "Tenant", "application"]
