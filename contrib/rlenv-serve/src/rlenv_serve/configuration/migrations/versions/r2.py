"""Tasks that were measured, and what models reach on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

revision = "0002"
down_revision = "0001"


def tables(make: Callable[..., Any]) -> list[Any]:
    """As of the revision before.  A baseline is of exactly one task as it was, and of one verifier
    that was served.
    """
    tasks = [
        *_columns(sa.Text, "environment", "digest", key=True),
        *_columns(sa.Text, "id", "split"),
    ]
    baselines = [
        *_columns(sa.Text, "environment", "digest", "fingerprint", "model", key=True),
        *_columns(sa.Integer, "attempts", "passed", "unscored"),
        sa.Column("reward", sa.Float),
        *_columns(sa.Float, "measured"),
        sa.ForeignKeyConstraint(["environment", "digest"], ["tasks.environment", "tasks.digest"]),
        sa.ForeignKeyConstraint(
            ["environment", "fingerprint"], ["verifiers.environment", "verifiers.fingerprint"]
        ),
        sa.CheckConstraint(
            "attempts > 0 AND passed >= 0 AND unscored >= 0 AND passed + unscored <= attempts",
            "counts",
        ),
        sa.CheckConstraint(
            "(reward IS NULL) = (unscored = attempts) AND reward BETWEEN 0 AND 1", "mean"
        ),
    ]
    return [make("tasks", *tasks), make("baselines", *baselines)]


def _columns(
    kind: type[sa.types.TypeEngine[Any]], *names: str, key: bool = False
) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, primary_key=key, nullable=False) for name in names]


def upgrade() -> None:
    """Make the tables."""
    from alembic import op  # slow to import, and not needed for objects

    tables(op.create_table)


def downgrade() -> None:
    """Drop them."""
    from alembic import op

    for name in ("baselines", "tasks"):
        op.drop_table(name)
