"""An output file that keeps what was written: locked, appended, and on the disk within a second."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

from rlenv.model.errors import InputError

from rlenv_cli.console import reason, visible

SYNC_SECONDS = 0.5
MAX_PENDING_BYTES = 4 << 20


class DurableFile:
    """Appends whole lines to ``path``; no other run may write it at the same time.

    A thread writes and syncs what is pending every half second, so lines are safe even while the
    next response takes minutes, and a slow disk does not hold up the scoring.  After a failed write
    the file is cut back to its last whole line.

    Args:
        path: made when absent; its directory must exist.

    Raises:
        InputError: when it cannot be opened, or another run holds its lock; the message names the
            file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0  # written and synced by this object
        self._shown = visible(str(path))
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.error: OSError | None = None  # the write that failed
        self._wake = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self.fd = self._open()
        self.regular = stat.S_ISREG(os.fstat(self.fd).st_mode)

    def _open(self) -> int:
        try:
            fresh = not self.path.exists()
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOCTTY, 0o666)
        except OSError as error:
            raise InputError(f"{self._shown}: cannot be written: {reason(error)}") from None
        try:
            self._lock(fd)
            if fresh:
                _sync_directory(self.path)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _lock(self, fd: int) -> None:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EAGAIN, errno.EACCES}:
                raise InputError(
                    f"{self._shown}: another run is writing this file; "
                    "wait until it ends, or give this run another name with -o"
                ) from None
            # a file system without locks (some NFS): two runs cannot be distinguished there

    def start_at(self, size: int) -> None:
        """Cut the file to ``size`` bytes and append from there.

        Raises:
            InputError: when the file cannot be cut.
        """
        try:
            if self.regular:
                os.ftruncate(self.fd, size)
                os.lseek(self.fd, size, os.SEEK_SET)
        except OSError as error:
            raise InputError(
                f"{self._shown}: cannot be cut to {size} bytes: {reason(error)}"
            ) from None
        self._thread = threading.Thread(target=self._sync_forever, name="rlenv-out", daemon=True)
        self._thread.start()

    def replace(self, fresh: Path) -> None:
        """Put another file, whole and synced, in the place of this one, which never stands
        unlocked.

        Raises:
            OSError: when it cannot; this file is as it was then.
        """
        fd = os.open(fresh, os.O_RDWR)
        try:
            self._lock(fd)
            os.replace(fresh, os.path.realpath(self.path))
        except BaseException:
            os.close(fd)
            raise
        self.fd, old = fd, self.fd
        os.close(old)
        _sync_directory(Path(os.path.realpath(self.path)))

    def append(self, line: bytes) -> None:
        """Add one line, its newline included; it is on the disk within a second.

        Only the thread writes, so an exception that a signal raises here can tear no line.

        Raises:
            OSError: the write that failed, in this or an earlier call.
        """
        with self._wake:
            self._pending.append(line)
            self._pending_bytes += len(line)
            if self._full():
                self._wake.notify_all()
                self._wake.wait_for(lambda: not self._full() or self.error is not None)
        if self.error is not None:
            raise self.error

    def _full(self) -> bool:
        return self._pending_bytes > MAX_PENDING_BYTES

    def close(self) -> None:
        """Write and sync what is pending, then give up the lock.

        Raises:
            OSError: the write that failed, in this or an earlier call.
        """
        if self.fd < 0:
            return
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()
        os.close(self.fd)
        self.fd = -1
        if self.error is not None:
            raise self.error

    def _sync_forever(self) -> None:
        closing = False
        while not closing:
            with self._wake:
                self._wake.wait_for(lambda: self._closing or self._full(), SYNC_SECONDS)
                closing = self._closing
                lines = self._pending
                self._pending = []
                self._pending_bytes = 0
            self._sync(lines)
            with self._wake:
                self._wake.notify_all()

    def _sync(self, lines: list[bytes]) -> None:
        if not lines or self.error is not None:
            return
        try:
            self._write(b"".join(lines))
            self.lines += len(lines)
        except OSError as error:
            self.error = error
        except MemoryError:
            self.error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        done = 0
        try:
            while done < len(data):
                done += os.write(self.fd, view[done:])
            if self.regular:
                os.fsync(self.fd)
                self._still_there()
        except OSError:
            if done < len(data):
                self._keep_whole_lines(data[:done])
            raise

    def _keep_whole_lines(self, written: bytes) -> None:
        if not self.regular:
            return
        torn = len(written) - (written.rfind(b"\n") + 1)
        with suppress(OSError):  # the first error is the one to report
            os.ftruncate(self.fd, os.lseek(self.fd, 0, os.SEEK_CUR) - torn)
            os.fsync(self.fd)
            self.lines += written.count(b"\n")

    def _still_there(self) -> None:
        mine = os.fstat(self.fd)
        try:
            now = os.stat(self.path)
        except OSError:
            now = None
        if now is None or (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino):
            raise FileNotFoundError(errno.ENOENT, "it was removed or replaced during the run")


def _sync_directory(path: Path) -> None:
    try:
        fd = os.open(path.parent, os.O_RDONLY)
    except OSError:
        return
    with suppress(OSError):  # some file systems cannot sync a directory
        os.fsync(fd)
    os.close(fd)
