"""Keeps which verifiers were served and what models reach on tasks, in the database of the
trajectories, so that SQL can join all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import sqlalchemy as sa
from rlenv import ConfigError

from rlenv_serve.catalog import Served, stages
from rlenv_serve.state.database import Database, storable

from .migrations.versions import r1, r2

METADATA = sa.MetaData()
VERIFIERS, TASKS, BASELINES = (
    table
    for each in (r1, r2)
    for table in each.tables(lambda name, *columns: sa.Table(name, METADATA, *columns))
)
HEAD = r2.revision
SCRIPTS = "rlenv_serve:configuration/migrations"
MADE = sa.table("rlenv_revision", sa.column("version_num"))


def record_start(database: Database, catalog: Iterable[Served], connection: sa.Connection) -> None:
    """Make the tables where there are none, and keep that these environments are served from now
    on.

    Args:
        database: of the connection.
        catalog: the environments.
        connection: in a transaction.
    """
    migrate(connection)
    now = time.time()
    for each in catalog:
        _keep(
            database,
            VERIFIERS,
            [
                {
                    "environment": each.name,
                    "fingerprint": each.env.fingerprint,
                    "stages": "\n".join(stages(each.env.slots)),
                    "pass_mark": each.env.pass_mark,
                    "first_started": now,
                    "last_started": now,
                }
            ],
            connection,
        )


def measure(
    database: Database,
    served: Served,
    model: str,
    results: Mapping[str, Sequence[float | None]],
    connection: sa.Connection,
) -> None:
    """Keep the rewards of a model's attempts at tasks, in place of those that it had with the
    verifier that is served.

    Args:
        database: of the connection.
        served: the environment.
        model: a name that the client gives it.
        results: rewards of attempts, by the id of the task; None where one is unscored.
        connection: in a transaction.

    Raises:
        Problem: 404 for a task that there is not.
    """
    tasks = list[dict[str, object]]()
    baselines = list[dict[str, object]]()
    for id_, rewards in results.items():
        task = served.task(id_)
        scored = [each for each in rewards if each is not None]
        key = {"environment": served.name, "digest": served.digest(task)}
        tasks.append({**key, "id": storable(id_), "split": storable(task.split)})
        baselines.append(
            {
                **key,
                "fingerprint": served.env.fingerprint,
                "model": model,
                "attempts": len(rewards),
                "passed": sum(each >= served.env.pass_mark for each in scored),
                "unscored": len(rewards) - len(scored),
                "reward": fmean(scored) if scored else None,
                "measured": time.time(),
            }
        )
    _keep(database, TASKS, tasks, connection)
    _keep(database, BASELINES, baselines, connection)


def _keep(
    database: Database,
    table: sa.Table,
    rows: Iterable[Mapping[str, object]],
    connection: sa.Connection,
) -> None:
    """Insert rows or change them, in the order of their keys: else two processes could wait for
    each other.
    """
    keys = table.primary_key.columns.keys()
    insert = database.insert(table)
    changed = {
        each.name: insert.excluded[each.name]
        for each in table.c
        if each.name not in (*keys, "first_started")
    }
    connection.execute(
        insert.on_conflict_do_update(index_elements=keys, set_=changed),
        sorted(rows, key=lambda row: [row[key] for key in keys]),
    )


def migrate(connection: sa.Connection) -> None:
    """Bring the tables to the newest revision.  Alembic, which is slow to import, is asked only
    where they are older.

    Raises:
        ConfigError: where a newer rlenv has made them.
    """
    if connection.engine.url.database is None:  # in memory, and so as of this process
        METADATA.create_all(connection)
        return
    known = sa.inspect(connection).has_table(MADE.name)
    found = connection.execute(sa.select(MADE.c.version_num)).scalar() if known else None
    if found is not None and found > HEAD:
        raise ConfigError(
            f"--trajectories: the tables are of revision {found!r:.40}, and this rlenv knows those"
            f" up to {HEAD}: update rlenv, or name another database"
        )
    if found != HEAD:
        from alembic import command, config

        settings = config.Config(attributes={"connection": connection})
        settings.set_main_option("script_location", SCRIPTS)
        command.upgrade(settings, "head")
