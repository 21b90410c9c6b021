"""Equality of answers: ``decide(gold, given, key=..., options=...) -> Decision``."""

from __future__ import annotations

from rlenv_plugin_math.compare.decide import decide
from rlenv_plugin_math.compare.options import Decision, Options

__all__ = ["Decision", "Options", "decide"]
