"""Sandboxes of another machine: the same port, over TCP, to `python -m
rlenv_plugin_sandbox.remote`.
"""

from __future__ import annotations

from .client import Remote

__all__ = ["Remote"]
