"""Verdicts on disk: SQLite, shared by processes; an entry is the verdict that was stored, or there
is none.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Lock

from rlenv import ConfigError, Verdict
from rlenv.authoring import secret
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict

from rlenv_train.private import open_private

from .reuse import Key, lasts

SCHEMA = "CREATE TABLE verdicts (key BLOB PRIMARY KEY, value BLOB)"
FIND = "SELECT value FROM verdicts WHERE key = ? AND length(value) <= ?"
KEEP = "INSERT OR REPLACE INTO verdicts VALUES (?, ?)"
EVICT = "DELETE FROM verdicts WHERE rowid <= (SELECT max(rowid) FROM verdicts) - ?"
WAIT = 2.0  # seconds for a lock, when the file is opened and in the thread that writes
ENTRIES = 1_000_000  # of a file; of more, the oldest are removed
PAGES = 1 << 19  # of a file: 2 GiB
GATHERED = 100_000  # verdicts that wait to be written; more are not stored
LARGEST = 1 << 16  # bytes of a verdict that is stored
BROKEN = (OSError, sqlite3.Error, UnicodeError)  # the text of an error may be damaged too
logger = logging.getLogger("rlenv_train")


class VerdictCache:
    """A file of verdicts.

    A lookup never waits for another process, and a thread writes. Where the file is locked, damaged
    or full, responses are verified as without a cache. An entry holds an HMAC with the secret
    (``RLENV_SECRET``), so only what was written with that secret is read. It holds the private part
    of a verdict too; the file is readable by its owner alone.

    Args:
        path: of the file, which is made where there is none.

    Raises:
        ConfigError: when the file belongs to another user or may be written by others, is a
            symbolic link, or is not a cache of verdicts.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(path)
        self.errors = 0
        self._lock = Lock()
        self._secret = secret()
        self._waiting: dict[bytes, bytes] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rlenv-cache")
        self._writing = self._thread.submit(self._write)
        self._reader: sqlite3.Connection | None = None
        try:
            self._reader = _open(self.path)
            self._reader.execute("PRAGMA busy_timeout = 0")
        except sqlite3.OperationalError as error:  # it is locked, or the disk is full
            self._fail(error)
        except BROKEN as error:
            raise ConfigError(
                f"cache: {self.path} cannot be read: {error}; name another file"
            ) from error

    def get(self, key: Key) -> Verdict | None:
        """The verdict under this key; None where there is none."""
        packed = self._waiting.get(key.digest)
        if packed is None and self._reader is not None:
            try:
                with self._lock:
                    row = self._reader.execute(FIND, (key.digest, LARGEST)).fetchone()
                packed = row and row[0]
            except BROKEN as error:
                self._fail(error)
        verdict = self._unpack(key.digest, packed) if packed else None
        return verdict if verdict and verdict.fingerprint == key.fingerprint else None

    def put(self, key: Key, verdict: Verdict) -> None:
        """Store a verdict as it is now, where a later run gives it too; does not wait for the
        file.
        """
        packed = self._pack(key.digest, verdict) if len(self._waiting) < GATHERED else None
        if packed:
            self._waiting[key.digest] = packed
            if self._writing.done():
                with suppress(RuntimeError):  # it was closed
                    self._writing = self._thread.submit(self._write)

    def close(self) -> None:
        """Write what waits, and let go of the file."""
        self._thread.shutdown()
        self._write()
        if self._reader is not None:
            self._reader.close()
        self._reader = None

    def _write(self) -> None:
        """Write all that waits; it is found there until it is in the file."""
        while items := self._waiting.copy():
            try:
                with closing(_open(self.path)) as db, db:
                    db.executemany(KEEP, items.items())
                    db.execute(EVICT, (ENTRIES,))
            except (ConfigError, *BROKEN) as error:
                self._fail(error)
            for digest in items:
                self._waiting.pop(digest, None)

    def _fail(self, error: Exception) -> None:
        """Count an error, and warn of the first."""
        if not self.errors:
            logger.warning("the cache %s cannot be used now: %s", self.path, error)
        self.errors += 1

    def _pack(self, digest: bytes, verdict: Verdict) -> bytes | None:
        """The verdict and what binds it to its key; None for one that JSON would change or a later
        run may not give.
        """
        try:
            text = json.dumps(verdict_to_dict(verdict), allow_nan=False).encode()
            same = lasts(verdict) and verdict_from_dict(json.loads(text)) == verdict
        except (TypeError, ValueError, RecursionError):
            return None
        return self._mac(digest, text) + text if same and len(text) < LARGEST - 32 else None

    def _unpack(self, digest: bytes, packed: object) -> Verdict | None:
        value = packed if isinstance(packed, bytes) else b""
        try:
            if hmac.compare_digest(value[:32], self._mac(digest, value[32:])):
                verdict = verdict_from_dict(json.loads(value[32:]))
                return verdict if lasts(verdict) else None
        except (ValueError, RecursionError):
            pass
        return None

    def _mac(self, digest: bytes, text: bytes) -> bytes:
        return hmac.new(self._secret, b"rlenv verdict" + digest + text, "sha256").digest()


def _open(path: str) -> sqlite3.Connection:
    db = open_private(path, [SCHEMA], "cache", "a cache of verdicts", WAIT)
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA max_page_count = {PAGES}")
    return db
