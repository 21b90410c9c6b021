"""Our own kinds of constraints."""

from __future__ import annotations

from rlenv_plugin_constraints.own_kinds import KINDS

__all__ = ["KINDS"]
