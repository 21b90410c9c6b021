"""The most memory that everything in a place held at one time: every process, and files in
memory.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Peaks"]

_MARGIN = 4 << 20  # the next child, forked meanwhile, and what the kernel counts ahead


class Peaks:
    """A place's peaks, run after run.

    The kernel tells of a process only what that one held at most, so memory in many children, or in
    files below /tmp, would cost nothing.  Nothing is told where the kernel cannot start a peak
    anew.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._peak = self._usage = -1
        self._floor = self._files = 0
        names = (
            ("memory.max_usage_in_bytes", "memory.usage_in_bytes"),
            ("memory.peak", "memory.current"),
        )
        for peak, usage in names if folder is not None else ():
            try:
                self._usage = os.open(f"{folder}/{usage}", os.O_RDONLY | os.O_CLOEXEC)
                self._peak = os.open(f"{folder}/{peak}", os.O_RDWR | os.O_CLOEXEC)
            except OSError:
                self.close()
                continue
            break

    def begin(self) -> None:
        """From here on a peak counts."""
        if self._peak < 0:
            return
        try:
            os.pwrite(self._peak, b"0", 0)
            self._floor = int(os.pread(self._usage, 32, 0))
        except OSError:
            self.close()

    def most(self) -> int:
        """Bytes above what was held at the beginning, without those of the system's files.

        0 for very little.
        """
        if self._peak < 0:
            return 0
        grown = int(os.pread(self._peak, 32, 0)) - self._floor
        if grown <= _MARGIN:
            return 0
        before = self._files
        self._files = self._read_files()
        grown -= max(0, self._files - before)
        return grown if grown > _MARGIN else 0

    def _read_files(self) -> int:
        """What the kernel keeps of files that were read here: whoever reads them first would pay
        for all.
        """
        try:
            text = Path(f"{self._folder}/memory.stat").read_text("ascii")
            said = dict(line.split() for line in text.splitlines())
        except (OSError, ValueError):
            return 0
        return int(said.get("cache", said.get("file", 0))) - int(said.get("shmem", 0))

    def close(self) -> None:
        for fd in (self._peak, self._usage):
            if fd >= 0:
                os.close(fd)
        self._peak = self._usage = -1
