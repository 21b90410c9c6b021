"""Where the compilers are; in a sandbox the judge puts another file of this name in its place."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["PATHS"]

PATHS: dict[str, Any] = {"nvrtc": "", "builtins": [], "nvvm": "", "libdevice": ""}
