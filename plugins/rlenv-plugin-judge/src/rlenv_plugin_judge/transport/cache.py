"""Replies on disk: SQLite, shared by processes.

An entry is the reply that was asked for, or it is none.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from errno import EACCES, EISDIR
from pathlib import Path
from typing import Any
from weakref import finalize

from attrs import evolve
from rlenv import ConfigError

from .endpoint import Endpoint
from .errors import unavailable
from .request import CHAT, IN_ORDER, Reply, Request, Token, Usage

PROTOCOL = "rlenv-judge/1"  # grows with any change of what is asked or of how an answer is read
_APPLICATION = 0x726C6A31  # "rlj1": no other program's file is written to
_GATHER = 0.1  # seconds of replies that are written at once
_READER_WAITS = 2.0  # seconds for a lock; an event loop stands still meanwhile
_WRITER_WAITS = 30.0
_making = threading.Lock()
os.register_at_fork(after_in_child=_making._at_fork_reinit)  # type: ignore[attr-defined]
_log = logging.getLogger("rlenv.judge")
_FIND = "SELECT value FROM replies WHERE key = ?"


def key_of(endpoint: Endpoint, request: Request) -> str:
    """sha256 over all that an answer depends on: model and revision, messages, parameters,
    protocol.
    """
    what = {
        "model": request.model or endpoint.model,
        "params": {**endpoint.params, **request.params},
        "protocol": PROTOCOL,
        "revision": endpoint.revision,
        **({} if request.route == CHAT else {"route": request.route}),
    }
    rest = IN_ORDER(what)  # "messages" comes first in this order
    whole = f'{{"messages": {request.written()}, {rest[1:]}'
    return hashlib.sha256(whole.encode()).hexdigest()


class Cache:
    """One file.  Reads are short.

    Writes gather and are made by a thread, so that no event loop waits for a lock.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._of_parents: list[sqlite3.Connection | None] = []
        self._waiting: dict[str, Reply | None] = {}
        self._writing: dict[str, Reply | None] = {}
        self._hurry = threading.Event()
        self._writer: threading.Thread | None = None
        self._writes = False  # and will look at what waits once more
        self._broken: sqlite3.Error | None = None

    def get(self, key: str) -> Reply | None:
        """The reply under ``key``; None where there is none or it was damaged."""
        self._after_fork()
        with self._lock:
            self._check()
            for pending in (self._waiting, self._writing):
                if key in pending:
                    reply = pending[key]
                    return None if reply is None else evolve(reply, cached=True)
            row = self._row(key)
        return unpack(key, row[0]) if row else None

    def put(self, key: str, reply: Reply) -> None:
        self._later(key, reply)

    def forget(self, key: str) -> None:
        self._later(key, None)

    def _later(self, key: str, reply: Reply | None) -> None:
        self._after_fork()
        with self._lock:
            self._check()
            self._waiting[key] = reply
            if not self._writes:
                self._writer = threading.Thread(target=self._write, name="rlenv-judge-cache")
                self._writer.start()
                self._writes = True

    def _write(self) -> None:
        try:
            db = self._connect(_WRITER_WAITS)
        except (sqlite3.Error, ConfigError) as err:
            self._fail(err)
            return
        try:
            while self._next():
                gone = [(key,) for key, reply in self._writing.items() if reply is None]
                kept = [(key, pack(key, reply)) for key, reply in self._writing.items() if reply]
                db.execute("BEGIN IMMEDIATE")
                db.executemany("DELETE FROM replies WHERE key = ?", gone)
                db.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?)", kept)
                db.execute("COMMIT")
        except sqlite3.Error as err:
            self._fail(err)
        finally:
            db.close()

    def _next(self) -> bool:
        self._hurry.wait(_GATHER)
        with self._lock:
            self._writing = self._waiting
            self._waiting = {}
            self._writes = bool(self._writing)
            return self._writes

    def _fail(self, err: Exception) -> None:
        with self._lock:
            self._broken = err if isinstance(err, sqlite3.Error) else sqlite3.Error(str(err))
            self._writes = False

    def close(self) -> None:
        """Wait until all is written, and let go of the file.

        What could not be written is logged.
        """
        self._after_fork()
        with self._lock:
            writer = self._writer
        if writer is not None:
            self._hurry.set()
            writer.join()
            self._hurry.clear()
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None
        if self._broken is not None:
            _log.warning("%s; its last replies were not kept", self._damaged(self._broken))

    def _check(self) -> None:
        if self._broken is not None:
            raise self._damaged(self._broken)

    def _row(self, key: str) -> tuple[Any] | None:
        try:
            if self._db is None:
                self._db = self._connect(_READER_WAITS)
                finalize(self, self._db.close)  # also at exit, for those who never close
            found: tuple[Any] | None = self._db.execute(_FIND, (key,)).fetchone()
            return found
        except sqlite3.Error as err:
            raise self._damaged(err) from None

    def _after_fork(self) -> None:
        """What a child took along is its parent's: locks that nobody would open, what waits, and
        the connection.
        """
        if self._pid == os.getpid():
            return
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._writer = None
        self._writes = False
        self._waiting = {}
        self._writing = {}
        self._of_parents.append(self._db)  # to close it here would take the parent's file apart
        self._db = None

    def _damaged(self, err: sqlite3.Error) -> Exception:
        if "locked" in str(err):
            return unavailable(f"the judge's cache {self.path} is locked", transient=True)
        return unavailable(
            f"the judge's cache {self.path} cannot be used ({type(err).__name__}: {err}): "
            "remove the file to begin a new one",
            transient=False,
        )

    def _connect(self, patience: float) -> sqlite3.Connection:
        """Raises ConfigError where the file is not a cache of ours, sqlite3.Error where it is
        damaged.
        """
        _make_private(self.path)
        db = sqlite3.connect(
            self.path, timeout=patience, isolation_level=None, check_same_thread=False
        )
        try:
            if not self._is_ours(db):
                self._begin(db, patience)
            db.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            db.close()
            raise
        return db

    def _is_ours(self, db: sqlite3.Connection) -> bool:
        # in this order: another process may begin the file between the two reads
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        ours = db.execute("PRAGMA application_id").fetchone()[0]
        if ours != _APPLICATION and (ours or tables):
            raise ConfigError(f"cache: {self.path} is a database of something else")
        return bool(tables)

    def _begin(self, db: sqlite3.Connection, patience: float) -> None:
        """Several processes may begin one file: whoever comes second finds it whole."""
        _to_wal(db, patience)
        db.execute("BEGIN IMMEDIATE")
        db.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value BLOB)")
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
        db.execute("COMMIT")


def _to_wal(db: sqlite3.Connection, patience: float) -> None:
    """SQLite waits for no lock here, whatever its timeout: so this asks again."""
    until = time.monotonic() + patience
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as err:
            if "locked" not in str(err) or time.monotonic() > until:
                raise
        time.sleep(0.005)


def _make_private(path: Path) -> None:
    """A new file is opened once and closed before SQLite sees it: whoever closes it later, anywhere
    in this process, drops all locks that SQLite has on it."""
    try:
        with _making:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        wrong = _obstacle(path)
    except OSError as err:
        wrong = err.errno or EACCES
    else:
        return
    if wrong:
        raise ConfigError(
            f"cache: {path} cannot be written ({os.strerror(wrong)}): name a file in a folder that"
            " exists"
        )


def _obstacle(path: Path) -> int:
    """The number of the error why a path that exists cannot be used; 0 where it can."""
    if path.is_dir():
        return EISDIR
    return 0 if os.access(path, os.R_OK | os.W_OK) else EACCES


def pack(key: str, reply: Reply) -> bytes:
    """The reply and a checksum that binds it to its key."""
    value = json.dumps(_plain(reply)).encode()
    return hashlib.sha256(key.encode() + value).digest() + value


def _plain(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "text": reply.text,
        "model": reply.model,
        "usage": [usage.prompt_tokens, usage.completion_tokens, usage.estimated],
        "finish": reply.finish,
        "logprobs": [[t.text, t.logprob, t.top] for t in reply.logprobs],
        "endpoint": reply.endpoint,
    }


def unpack(key: str, packed: Any) -> Reply | None:
    """None when the bytes are not what ``pack`` made for this key."""
    if not isinstance(packed, bytes):
        return None
    value = packed[32:]
    if hashlib.sha256(key.encode() + value).digest() != packed[:32]:
        return None
    try:  # whoever can write the file can make a checksum
        raw = json.loads(value)
        raw["logprobs"] = tuple(Token(text, log, _pairs(top)) for text, log, top in raw["logprobs"])
        raw["usage"] = Usage(*raw["usage"])
        return Reply(**raw, cached=True)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _pairs(rows: list[list[Any]]) -> tuple[tuple[str, float], ...]:
    return tuple((text, log) for text, log in rows)
