"""``[state]``: what episodes change, and whether others see it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from hashlib import sha256
from typing import Literal

from attrs import define, field, frozen
from attrs.validators import ge, gt, le
from rlenv import ConfigError, Task, TaskError
from rlenv.authoring import File, Problems, Safe, build, dumps, suggest

from .access import Access, Table, tables_of
from .clock import NOW
from .database import WRITTEN_MB, WRITTEN_ROWS, Database, open_database
from .open_state import APART, OpenState
from .persistent import PRESENT, WorldFile
from .world import World

MOST = 64  # databases of tasks that are kept


@frozen
class TaskState:
    """``info.state`` of a task, which adds to the table.

    Args:
        values: by name, over those of ``[state]``.
        sql: what it adds to the schema.
    """

    values: Safe[Mapping[str, object]] = field(factory=dict)
    sql: Safe[str] = ""


def _authorizer(action: int, _: str | None, name: str | None, *__: object) -> int:
    refused = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
    return int(refused or str(name).lower() == "load_extension")  # 1 is SQLITE_DENY


@define(slots=False)
class State:
    """``[state]``: what episodes change.

    Args:
        kind: ``stateless``: nothing; ``per-episode``: each begins with what the schema and its task
            say; ``persistent``: each begins with what the last one left in ``world``, one after the
            other.
        schema: the tables to begin with, a file of SQL in the folder of the env.toml.
        values: named values to begin with; ``info.state.values`` of a task wins.
        access: by role, which tables and rows it may use; without it every role may use all tables.
        world: the file of a persistent world, with its log.
        wait: seconds that one episode may hold a persistent world, above ``seconds`` of
            ``[config.budgets]``.  An episode that holds it longer leaves nothing there; those that
            wait for it go on waiting.
        keep: how many states of a persistent world are kept, from which its rollouts can be
            replayed, 1 or more.
        written_rows: rows that the statements of one episode may insert, update and delete
            together, those of triggers included, 1 or more; a statement that would write more is
            answered with an error.
        written_mb: MiB by which they may let the tables grow, 1 or more.
        now: the time that functions of SQL take for the present, in UTC.
    """

    kind: Literal["stateless", "per-episode", "persistent"] = "per-episode"
    schema: File = field(factory=File, kw_only=True)
    values: Safe[Mapping[str, object]] = field(factory=dict, kw_only=True)
    access: Safe[Mapping[str, Access] | None] = field(default=None, kw_only=True)
    world: File = field(factory=File, kw_only=True)
    wait: float = field(default=600.0, validator=gt(0), kw_only=True)
    keep: int = field(default=100, validator=gt(0), kw_only=True)
    written_rows: int = field(default=WRITTEN_ROWS, validator=ge(1), kw_only=True)
    written_mb: int = field(default=WRITTEN_MB, validator=[ge(1), le(4_096)], kw_only=True)
    now: Safe[str] = field(default=NOW, kw_only=True)
    sha256: str = field(init=False, default="")

    def __attrs_post_init__(self) -> None:
        if self.kind == "stateless" and (self.schema or self.values):
            raise ConfigError(
                'a stateless environment has no schema and no values: kind = "per-episode"'
            )
        if (self.kind == "persistent") != bool(self.world):
            raise ConfigError(
                'world is the file of kind = "persistent", and of no other: world ='
                ' "worlds/NAME.sqlite"'
            )
        try:
            self._sql = File(self.schema).path.read_text("utf-8") if self.schema else ""
        except (OSError, ValueError) as error:
            raise ConfigError(f"schema {self.schema}: {error}") from None
        self.sha256 = sha256(self._sql.encode()).hexdigest()
        self._made = lru_cache(MOST)(self._make)

    def check_tables(self, tables: Mapping[str, object]) -> None:
        """Check that an episode in a persistent world ends before others have waited for it too
        long.

        Args:
            tables: of the environment, by name.

        Raises:
            ConfigError: it may take longer.
        """
        if self.kind != "persistent":
            return
        seconds: float | None = getattr(tables.get("config"), "longest_seconds", None)
        if seconds is None or seconds >= self.wait:
            told = "has no value" if seconds is None else f"is {seconds:g}"
            raise ConfigError(
                f"[config.budgets] seconds {told}, and wait of [state] is {self.wait:g}: an episode"
                " in a persistent world has to end before others have waited so long; set seconds"
                f" below wait, as seconds = {self.wait / 2:g}"
            )

    def show(self) -> str:
        """Describe the table for ``rlenv show``."""
        parts = ("schema", [self.schema]), ("values", self.values), ("access of", self.access or ())
        told = [f"{what} {', '.join(names)}" for what, names in parts if any(names)]
        return ", ".join([f"S  {self.kind}", *told])

    async def begin(self, task: Task, seed: int) -> OpenState:
        """Return the state that a task begins with.

        Args:
            task: its ``info["state"]`` may add values, rows and SQL.
            seed: of the episode.

        Raises:
            TaskError: what the task adds does not fit the schema, or is SQL for a persistent world.
            ConfigError: the schema is not SQL, ``access`` does not fit it, or as of ``WorldFile``.
        """
        problems = Problems()
        added = build(TaskState, task.info.get("state", {}), "info.state", problems)
        if problems.found:
            raise TaskError("; ".join(problems.lines()), task.id)
        if added.sql and self.kind == "persistent":
            raise TaskError(
                "info.state has sql, but a persistent world begins with what the last episode left",
                task.id,
            )
        content, tables, schema = await asyncio.to_thread(self._made, added.sql)
        values = {**self.values, **added.values}
        digest = sha256(dumps([self.sha256, self.now, values, added.sql]).encode()).hexdigest()
        database = Database(
            start=content,
            tables=tables,
            access=self.access,
            values=values,
            now=self.now,
            seed=seed,
            written_rows=self.written_rows,
            written_mb=self.written_mb,
        )
        first = World(values, database, start=digest)
        present = PRESENT.get()
        if present is not None:
            return await present.fork()
        if self.kind != "persistent" or (at := APART.get()) == "":
            return first
        file = WorldFile(str(File(self.world).path), schema, self.wait, self.keep)
        if at is not None:
            return await file.at(at, first, added.values)
        return await file.begin(first, added.values, {"task": task.id, "seed": seed})

    def _make(self, sql: str) -> tuple[bytes, Mapping[str, Table], str]:
        """Return the tables that an episode begins with, whose task adds this SQL, and a digest of
        the schema.
        """
        try:
            with closing(open_database(self._made("")[0] if sql else b"", self.now)) as link:
                link.set_authorizer(_authorizer)
                link.executescript(f"PRAGMA user_version = 1; BEGIN;\n{sql or self._sql}\n;COMMIT;")
                link.set_authorizer(None)
                made = link.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
                found = link.serialize(), tables_of(link), sha256(repr(made).encode()).hexdigest()
        except sqlite3.Error as error:
            raise TaskError(f"{'info.state.sql' if sql else 'the schema'}: {error}") from None
        for name in {name for access in (self.access or {}).values() for name in access.tables} - {
            *found[1]
        }:
            raise ConfigError(
                f'access: there is no table "{name}";'
                f" {suggest(name, found[1], what='the tables are')}"
            )
        return found
