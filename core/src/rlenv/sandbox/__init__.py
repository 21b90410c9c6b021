"""The sandbox port: what runs an untrusted program, and how the trusted side talks to it.

Types only.  Adapters live in plugins (part ``sandbox`` of `rlenv_parts`); all keep the same
contract:

- A *session* runs programs, one at a time, each in a fresh process that sees nothing of the one
  before.
- A program gets a *channel*: a stream of frames (a length as 4 bytes, little endian, then that many
  bytes) on descriptor 3, for reading and writing.  A frame is only bytes: whoever asked decides
  what they are worth.  Its standard output and error are kept apart from the channel.
- What a program does is data in `Exit` or a `ChannelError`; a sandbox that breaks says so in
  ``Exit.fault`` or raises VerifierFault from ``open`` and ``start``.
- A session may hold a `Workspace`, a directory that outlives its programs.  Its content is on the
  trusted side while no program runs: nothing can change it then, and no path leads out of it.
"""

from __future__ import annotations

from .isolation import Isolation
from .options import SandboxOptions
from .port import (
    CHANNEL,
    REASONS,
    ChannelEnded,
    ChannelError,
    ChannelTimeout,
    Diagnosis,
    Entry,
    Exit,
    FrameTooLong,
    Profile,
    Reason,
    Sandbox,
    Session,
    Workspace,
    WorkspaceError,
    close_all,
    get,
)
from .tiers import TIERS, Tier, rank

__all__ = [
    "CHANNEL", "REASONS", "TIERS", "ChannelEnded", "ChannelError", "ChannelTimeout", "Diagnosis",
    "Entry", "Exit", "FrameTooLong", "Isolation", "Profile", "Reason", "Sandbox", "SandboxOptions",
    "Session", "Tier", "Workspace", "WorkspaceError", "close_all", "get", "rank",
]  # fmt: skip
