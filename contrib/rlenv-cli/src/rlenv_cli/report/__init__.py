"""The report of one or two runs: a single HTML file that needs no network and no server.

``gather`` reads a file of scores, ``write`` makes the page; ``rlenv report`` and ``rlenv score
--report`` are the commands around them.
"""

from __future__ import annotations

from .gather import Gathered, Known, gather, known_from
from .page import check_free, write

__all__ = ["Gathered", "Known", "check_free", "gather", "known_from", "write"]
