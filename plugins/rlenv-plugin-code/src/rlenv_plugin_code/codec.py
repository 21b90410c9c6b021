"""The judge's side of the values that cross the boundary: the same module that the guest runs."""

from __future__ import annotations

from .guest.rlenv_codec import DEPTH, MAX_BYTES, BadFrame, Unencodable, decode, encode

__all__ = ["DEPTH", "MAX_BYTES", "BadFrame", "Unencodable", "decode", "encode", "guest_file"]


def guest_file() -> tuple[str, bytes]:
    """Name and content of the module, for ``Profile.files``."""
    from pathlib import Path

    path = Path(__file__).with_name("guest") / "rlenv_codec.py"
    return path.name, path.read_bytes()
