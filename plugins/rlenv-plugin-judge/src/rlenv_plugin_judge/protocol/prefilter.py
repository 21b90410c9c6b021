"""Responses that need no judge."""

from __future__ import annotations


def contentless(text: str) -> bool:
    """Whether there is nothing to judge: blank, invisible, punctuation, ornaments."""
    raise NotImplementedError
