"""Containers of a docker daemon around the same warm guest: tier "container", with gVisor tier
"gvisor".
"""

from __future__ import annotations

from .adapter import Docker, DockerGvisor

__all__ = ["Docker", "DockerGvisor"]
