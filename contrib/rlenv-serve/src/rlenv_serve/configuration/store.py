"""Which verifiers were served, in the database of the trajectories, so that SQL can join both."""

from __future__ import annotations

import time
from collections.abc import Iterable

import sqlalchemy as sa
from rlenv import ConfigError

from rlenv_serve.catalog import Served, stages
from rlenv_serve.database import Database

from .migrations.versions import r1

VERIFIERS = r1.verifiers(lambda name, *columns: sa.Table(name, sa.MetaData(), *columns))
SCRIPTS = "rlenv_serve:configuration/migrations"
MADE = sa.table("rlenv_revision", sa.column("version_num"))


def started(database: Database, catalog: Iterable[Served], connection: sa.Connection) -> None:
    """Make the table where there is none, and keep that these environments are served from now on."""
    migrate(connection)
    now, insert = time.time(), database.insert(VERIFIERS)
    again = insert.on_conflict_do_update(index_elements=["environment", "fingerprint"], set_={"last_started": now})  # fmt: skip
    for each in catalog:
        connection.execute(again, {"environment": each.name, "fingerprint": each.env.fingerprint, "stages": "\n".join(stages(each.env.slots)), "pass_mark": each.env.pass_mark, "first_started": now, "last_started": now})  # fmt: skip


def migrate(connection: sa.Connection) -> None:
    """Bring the table to the newest revision.  Alembic, which is slow to import, is asked only where it is older.

    Raises:
        ConfigError: where a newer rlenv has made it.
    """
    if connection.engine.url.database is None:  # in memory, and so as of this process
        VERIFIERS.metadata.create_all(connection)
        return
    known = sa.inspect(connection).has_table(MADE.name)
    found = connection.execute(sa.select(MADE.c.version_num)).scalar() if known else None
    if found is not None and found > r1.revision:
        raise ConfigError(f"--trajectories: the tables are of revision {found!r:.40}, and this rlenv knows those up to {r1.revision}: update rlenv, or name another database")  # fmt: skip
    if found != r1.revision:
        from alembic import command
        from alembic.config import Config

        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", SCRIPTS)
        command.upgrade(config, "head")
