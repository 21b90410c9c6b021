"""Tasks that a persistent world makes impossible are skipped where they are drawn."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from rlenv import Environment
from rlenv_plugin_agent import Episode, call, rollout
from rlenv_plugin_agent.episodes.gym import DRAWS, make_env_class
from rlenv_plugin_agent.errors import EpisodeError, UnreachableTask

TASKS = "\n".join(
    f"""
[[task]]
id = "t{n}"
prompt = "Note {n} is done."
answer = {{ tables = {{ notes = {{ changed = [{{ id = {n}, text = "done" }}] }} }} }}
info = {{ gold = {{ calls = [{{ name = "sqlite", \
arguments = {{ statement = "UPDATE notes SET text = 'done' WHERE id = {n}" }} }}] }} }}
"""
    for n in (1, 2, 3)
)
ENV = f"""
name = "notes"
[harness]
kind = "stateful-tool-use"
tools = ["sqlite"]
[state]
kind = "persistent"
schema = "s.sql"
world = "w.sqlite"
[config.budgets]
seconds = 300
[[stage]]
use = "agent/state"
{TASKS}
"""


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    (tmp_path / "s.sql").write_text(
        "CREATE TABLE notes(id INTEGER PRIMARY KEY, text); INSERT INTO notes VALUES (1, 'a'), (2,"
        " 'a'), (3, 'a');"
    )
    (tmp_path / "env.toml").write_text(ENV)
    return Environment.from_file(tmp_path / "env.toml")


def remove(env: Environment, *notes: int) -> None:
    for n in notes:
        left = [call("sqlite", statement=f"DELETE FROM notes WHERE id = {n}"), "done"]
        rollout(env, env.tasks[0], lambda *_, left=left: left.pop(0))


def drawn_from(env: Environment) -> Any:
    """As ``gymnasium_env`` makes it, without Gymnasium."""

    class Rng:
        def integers(self, most: int) -> int:
            return chance.randrange(most)

    chance = Random(7)

    class Base:
        np_random = Rng()

        def reset(
            self, *, seed: int | None = None, options: dict[str, object] | None = None
        ) -> tuple[str, dict[str, object]]:
            drawn = chance.choice([*env.tasks])
            return drawn.prompt, {"id": (options or {}).get("id", drawn.id)}

        def close(self) -> None:
            env.close()

    return make_env_class(Base, env, lambda verdict: verdict.reward, lambda _: {})()


def test_a_reset_draws_until_a_task_can_be_solved(env: Environment) -> None:
    remove(env, 3, 1)
    made = drawn_from(env)

    assert {made.reset()[1]["id"] for _ in range(8)} == {"t2"}
    made.close()


def test_a_task_that_is_named_is_not_replaced(env: Environment) -> None:
    remove(env, 3)
    made = drawn_from(env)

    with pytest.raises(UnreachableTask, match="makes this task unreachable"):
        made.reset(options={"id": "t3"})
    assert made.reset(options={"id": "t2"})[1]["id"] == "t2"
    made.close()


def test_where_no_task_is_left_the_error_says_so(env: Environment) -> None:
    remove(env, 3, 2, 1)
    made = drawn_from(env)

    with pytest.raises(UnreachableTask, match=f"none of {DRAWS} tasks"):
        made.reset()
    made.close()


def test_an_episode_that_cannot_begin_for_another_reason_is_no_such_error(
    tmp_path: Path, env: Environment
) -> None:
    (tmp_path / "w.sqlite").write_text("no database")
    (tmp_path / "w.sqlite").chmod(0o600)
    with env, Episode(env) as episode, pytest.raises(EpisodeError) as raised:
        episode.reset(env.tasks[0])

    assert not isinstance(raised.value, UnreachableTask)
