"""``Server``, which the routes of all protocols share, and the form of one operation over HTTP."""

from __future__ import annotations

from .server import Server

__all__ = ["Server"]
