"""Verifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

revision = "0001"
down_revision = None


def tables(make: Callable[..., Any]) -> list[Any]:
    """Return what ``make`` gives for the name and the columns of each table: the store makes
    objects of them, and ``upgrade`` tables.
    """
    keys = [sa.Column(name, sa.Text, primary_key=True) for name in ("environment", "fingerprint")]
    numbers = [
        sa.Column(name, sa.Float, nullable=False)
        for name in ("pass_mark", "first_started", "last_started")
    ]
    return [make("verifiers", *keys, sa.Column("stages", sa.Text, nullable=False), *numbers)]


def upgrade() -> None:
    """Make the table."""
    from alembic import op  # slow to import, and not needed for an object

    tables(op.create_table)


def downgrade() -> None:
    """Drop it."""
    from alembic import op

    op.drop_table("verifiers")
