"""Calls of tools that are answered from a log, or written to one."""

from __future__ import annotations

from rlenv_plugin_agent.tools.keys import OWN, Named, canonical, tool_for

from .calls import MISSING, RecordedCalls, check_pinned
from .log import CallLog, shared_log

__all__ = [
    "MISSING",
    "OWN",
    "CallLog",
    "Named",
    "RecordedCalls",
    "canonical",
    "check_pinned",
    "shared_log",
    "tool_for",
]
