"""Sandboxes of another machine: the same port, over HTTP, to `python -m
rlenv_plugin_sandbox.remote` or `rlenv serve --sandboxes`.
"""

from __future__ import annotations

from .client import Remote

__all__ = ["Remote"]
