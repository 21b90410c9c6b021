"""Run the revisions of Alembic on the connection that it is given, in its transaction."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], version_table="rlenv_revision"
)
with context.begin_transaction():
    context.run_migrations()
