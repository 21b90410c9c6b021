"""Calls of tools that are answered from a log, or written to one."""

from __future__ import annotations

from .calls import MISSING, Recorded, check_pinned
from .keys import OWN, Named, canonical, tool_for
from .log import CallLog, shared_log

__all__ = [
    "MISSING",
    "OWN",
    "CallLog",
    "Named",
    "Recorded",
    "canonical",
    "check_pinned",
    "shared_log",
    "tool_for",
]
