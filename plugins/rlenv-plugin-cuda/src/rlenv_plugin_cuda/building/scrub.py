"""A compiler's complaint, as a policy may read it: one line of words about its own program, and
nothing else.

A log quotes what it compiled, and once it quoted ``/etc/passwd``: lines of source, paths and the
names of files are left out, whatever they are; what remains is cut short.
"""

from __future__ import annotations

import re

from attrs import frozen

__all__ = ["Complaint", "complaint"]

CHARACTERS = 200
LINES = 2000
SEEN = 1000  # of a message; looking for paths takes time in proportion to its square
_ERROR = re.compile(
    r"kernel\.cu\(([0-9]{1,7})\): (?:catastrophic )?error(?: #[0-9]+(?:-D)?)?: (.*)"
)
_GCC = re.compile(
    r"(?:.*[/\\])?kernel\.cu:([0-9]{1,7}):(?:[0-9]+:)?"
    r" (?:(?:fatal )?error: |(?=undefined reference))(.*)"
)
_AT_END = re.compile(r"At end of source: error(?: #[0-9]+(?:-D)?)?: (.*)")
_ELSEWHERE = re.compile(r"[^()\n]*\([0-9]+\): (?:catastrophic )?error")
_ASSEMBLER = re.compile(r"ptxas (?:error|fatal) *: (.*)")
_PTXAS_PLACE = re.compile(r"ptxas [^,]{0,300}, line [0-9]+; (?:error|fatal) *: (.*)")
_PATH = re.compile(r"""[^\s"'()]*[/\\][^\s"'()]*""")
_MANGLED = re.compile(r"_ZN6cudapy\w+")


@frozen
class Complaint:
    """What is wrong, and in which line of the program (0: nowhere in particular)."""

    said: str
    line: int = 0


def complaint(log: str) -> Complaint:
    """The first error of a log."""
    for text in log.splitlines()[:LINES]:
        match = _ERROR.fullmatch(text) or _GCC.fullmatch(text)
        if match:
            return Complaint(_clean(match[2]), int(match[1]))
        at_end = _AT_END.fullmatch(text)
        if at_end:
            return Complaint(f"at its end: {_clean(at_end[1])}")
        if _ELSEWHERE.match(text):
            return Complaint("an error in what is not the program itself")
        assembler = _ASSEMBLER.fullmatch(text) or _PTXAS_PLACE.fullmatch(text)
        if assembler:
            return Complaint(_clean(assembler[1]))
    return Complaint("the compiler refused it")


def _clean(text: str) -> str:
    text = _MANGLED.sub("the kernel", _PATH.sub("…", text[:SEEN]))
    return "".join(c if c.isprintable() else "?" for c in text)[:CHARACTERS].strip()
