"""The tools that environments name in ``[harness] tools``: ``CATALOG``, and ``find`` for one by its
name.
"""

from __future__ import annotations

from .table import ALIASES, CATALOG, NAMES, RESERVED, find

__all__ = ["ALIASES", "CATALOG", "NAMES", "RESERVED", "find"]
