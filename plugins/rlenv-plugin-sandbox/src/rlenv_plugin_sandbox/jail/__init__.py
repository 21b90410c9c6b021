"""The jail: namespaces, seccomp, Landlock and limits around a process forked from a warm zygote."""

from __future__ import annotations

from .adapter import Jail

__all__ = ["Jail"]
