"""Which verifiers were served: one contract over SQLite and PostgreSQL, and its migrations."""

from __future__ import annotations

import asyncio
import logging
import shutil
import subprocess
import sys
import time
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from commands import together
from database import engine_of, postgres
from rlenv import ConfigError, Environment
from rlenv_serve import Served, Server
from rlenv_serve.configuration import store
from rlenv_serve.configuration.store import HEAD, MADE, SCRIPTS, VERIFIERS, migrate, record_start
from rlenv_serve.http.problems import Problem
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import SECRET, TASKS, broken, episode, fails, running, served, sums


@pytest.fixture
def url(database_url: str) -> str:
    return database_url


def serve(url: str, *given: Served) -> list[dict[str, object]]:
    """What the store has when a server of these has started on it."""

    async def whole() -> list[dict[str, object]]:
        kept = TrajectoryStore(url)
        kept.opened.append(partial(record_start, kept, given))
        try:
            await kept.open()
            return await kept.rows(sa.select(VERIFIERS).order_by(VERIFIERS.c.environment))
        finally:
            await kept.close()

    return asyncio.run(whole())


def test_a_verifier_is_kept_with_what_it_is_and_when_it_was_served(url: str) -> None:
    given = Served("sums", sums())
    (first,) = serve(url, given)
    (second,) = serve(url, given)

    assert (first["environment"], first["fingerprint"]) == ("sums", given.env.fingerprint)
    assert (first["stages"], first["pass_mark"]) == ("same: serving:same, weight 1", 1.0)
    assert first["first_started"] == first["last_started"] == second["first_started"]
    assert float(str(second["last_started"])) > float(str(first["last_started"]))
    assert [row["environment"] for row in serve(url, Served("other", sums()))] == ["other", "sums"]
    assert len(serve(url, Served("sums", Environment("sums", fails, TASKS)))) == 3


def test_a_trajectory_is_joined_with_its_verifier(url: str) -> None:
    with running(Server(served(sums()), trajectories=TrajectoryStore(url))) as ask:
        begun = episode(ask)
        ask("POST", f"/episodes/{begun}/steps", {"action": "submit", "answer": "6"})
    with engine_of(url).connect() as connection:
        query = (
            "SELECT v.stages, t.reward FROM trajectories t JOIN verifiers v ON v.environment ="
            " t.environment AND v.fingerprint = t.fingerprint"
        )
        assert connection.exec_driver_sql(query).all() == [("same: serving:same, weight 1", 1.0)]


def test_nothing_of_tasks_is_in_the_table(url: str) -> None:
    rows = serve(url, Served("sums", sums()), Served("broken", broken()))

    assert len(rows) == 2
    assert not {SECRET, *(str(task.answer) for task in TASKS)} & {
        value for row in rows for value in row.values()
    }
    assert SECRET not in str(rows)


@pytest.mark.parametrize(
    "missing", ["environment", "fingerprint", "stages", "pass_mark", "first_started"]
)
def test_the_database_itself_rejects_what_is_not_whole_or_there_twice(
    url: str, missing: str
) -> None:
    (row,) = serve(url, Served("sums", sums()))
    with engine_of(url).connect() as connection:
        for wrong in (row, {**row, "environment": "new", missing: None}):
            with pytest.raises(sa.exc.IntegrityError):
                connection.execute(sa.insert(VERIFIERS).values(wrong))
            connection.rollback()


# -- migrations --------------------------------------------------------------------------------


def differences(connection: sa.Connection) -> list[object]:
    options = {
        "version_table": MADE.name,
        "compare_type": True,
        "include_name": lambda name, kind, _: name != "trajectories",
    }
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, VERIFIERS.metadata))


def test_each_revision_goes_up_and_down_and_the_newest_is_what_the_code_says(url: str) -> None:
    with engine_of(url).connect() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", SCRIPTS)
        found = [each.revision for each in ScriptDirectory.from_config(config).walk_revisions()]
        assert (found[0], found) == (HEAD, sorted(found, reverse=True))
        for revision in found[::-1]:
            command.upgrade(config, revision)
            command.downgrade(config, "-1")
            command.upgrade(config, revision)
        assert differences(connection) == []
        command.downgrade(config, "base")
        assert sa.inspect(connection).get_table_names() == [MADE.name]
        assert differences(connection) != []


LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "9999", {last!r}

def upgrade():
    op.add_column("verifiers", sa.Column("note", sa.Text, nullable=False, server_default="none"))
    {then}
"""


@pytest.mark.parametrize("then", ["pass", "raise RuntimeError('half way')"])
def test_data_stays_when_a_later_revision_changes_the_table(
    url: str, then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "migrations"
    serve(url, Served("sums", sums()))
    shutil.copytree(str(files("rlenv_serve") / "configuration" / "migrations"), folder)
    (folder / "versions" / "later.py").write_text(LATER.format(last=HEAD, then=then))
    monkeypatch.setattr(store, "SCRIPTS", str(folder))
    monkeypatch.setattr(store, "HEAD", "9999")
    if then == "pass":
        serve(url, Served("sums", sums()))
    else:
        with pytest.raises(RuntimeError, match="half way"):
            serve(url, Served("sums", sums()))
    with engine_of(url).connect() as connection:
        (row,) = connection.exec_driver_sql("SELECT * FROM verifiers").mappings().all()
        made = connection.execute(sa.select(MADE.c.version_num)).scalar()
        assert (made, row.get("note")) == (("9999", "none") if then == "pass" else (HEAD, None))


def test_tables_of_a_newer_revision_are_left_alone_and_the_log_says_so(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    serve(url, Served("sums", sums()))
    with engine_of(url).begin() as connection:
        connection.execute(sa.update(MADE).values(version_num="9999"))
    with pytest.raises(ConfigError, match=r"'9999'.*update rlenv"):
        serve(url, Served("other", sums()))
    caplog.set_level(logging.WARNING, "rlenv_serve")
    with running(Server(served(sums()), trajectories=TrajectoryStore(url))) as ask:
        assert ask("GET", "/readyz").status == 200
    assert "update rlenv" in caplog.text
    with engine_of(url).connect() as connection:
        assert connection.execute(sa.select(MADE.c.version_num)).scalar() == "9999"
        assert connection.execute(sa.select(VERIFIERS.c.environment)).scalars().all() == ["sums"]


def test_a_table_of_another_program_is_an_error_and_left_alone(url: str) -> None:
    serve(url)
    with engine_of(url).begin() as connection:
        for table in ("baselines", "tasks", "verifiers", MADE.name):
            connection.exec_driver_sql(f"DROP TABLE {table}")
        connection.exec_driver_sql("CREATE TABLE verifiers (mine TEXT)")
    with pytest.raises(Problem, match="verifiers"):
        serve(url, Served("sums", sums()))
    with engine_of(url).connect() as connection:
        assert sa.inspect(connection).get_columns("verifiers")[0]["name"] == "mine"


def test_processes_that_start_together_make_the_table_once(url: str) -> None:
    code = (
        "import asyncio; from functools import partial; from rlenv_serve.trajectories.store import"
        " TrajectoryStore as S; from rlenv_serve.configuration.store import migrate; s ="
        f" S({url!r}); s.opened.append(migrate); asyncio.run(s.open()); asyncio.run(s.close())"
    )

    assert together(code, 2) == [""] * 2
    with engine_of(url).begin() as connection:
        assert connection.execute(sa.select(MADE.c.version_num)).scalars().all() == [HEAD]
        migrate(connection)
        assert differences(connection) == []


def test_alembic_is_not_imported_where_the_table_is_of_this_revision(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/c.sqlite"
    serve(url, Served("sums", sums()))
    for given in (url, "memory:"):
        code = (
            "import asyncio, sys; from rlenv_serve.trajectories.store import TrajectoryStore as S;"
            f" from rlenv_serve.configuration.store import migrate; s = S({given!r});"
            " s.opened.append(migrate); asyncio.run(s.open()); assert 'alembic' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


def test_a_store_that_was_away_has_the_verifiers_when_it_is_back() -> None:
    with postgres() as database:
        database.stop()
        with running(Server(served(sums()), trajectories=TrajectoryStore(database.url))) as ask:
            assert ask("GET", "/readyz").status == 200
            assert ask("GET", "/trajectories").status == 503
            database.start()
            until = time.monotonic() + 60
            with engine_of(database.url).connect() as connection:
                while not sa.inspect(connection).has_table("verifiers"):
                    assert time.monotonic() < until
                    time.sleep(0.1)
                    connection.rollback()
                while not connection.execute(sa.select(VERIFIERS)).all():
                    assert time.monotonic() < until
                    time.sleep(0.1)
                    connection.rollback()
