"""``openenv_rubric`` in environments, containers and the server of OpenEnv."""

from __future__ import annotations

import asyncio

import pytest
from page import run_program, write_files
from rlenv import ConfigError, Environment, Task, UnknownTask, VerifierFault
from rlenv_train import openenv_rubric
from train_cases import GOLD, Longest, right

pytest.importorskip(
    "openenv", reason="OpenEnv is not installed here: `make test-trainers` runs this"
)

from openenv.core.env_server import Action, Observation
from openenv.core.env_server import Environment as OpenEnvironment
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.rubrics import Gate, Rubric, Sequential, WeightedSum
from starlette.testclient import TestClient


class Say(Action):  # type: ignore[misc] # OpenEnv has an environment of its own
    message: str


class Seen(Observation):  # type: ignore[misc] # as above
    text: str = ""


class One(Rubric):  # type: ignore[misc] # as above
    def forward(self, action, observation):
        return 1.0


TASKS = [Task("1+1=", answer="2", id="sum"), Task("?", answer=GOLD, id="gold")]


@pytest.fixture
def env():
    with Environment("sums", [right], TASKS) as made:
        yield made


def score(rubric, text, name="sum"):
    return rubric(Say(message=text), Seen(metadata={"id": name} if name else {}))


def test_the_reward_is_that_of_the_verdict(env):
    rubric = openenv_rubric(env)

    assert (score(rubric, "2"), score(rubric, "3"), rubric.last_score) == (1.0, 0.0, 0.0)
    assert asyncio.run(score(openenv_rubric(env, is_async=True), "2")) == 1.0


@pytest.mark.parametrize("is_async", [False, True])
def test_an_unscored_response_raises_and_leaves_no_score(env, is_async, caplog):
    rubric = openenv_rubric(env, is_async=is_async)

    def call(text, name="gold"):
        found = score(rubric, text, name)
        return asyncio.run(_awaited(found)) if is_async else found

    call("x")
    with pytest.raises(VerifierFault, match="unscored: error at right") as raised:
        call("break")
    assert rubric.last_score is None
    assert GOLD not in str(raised.value) + caplog.text


async def _awaited(found):
    return await found


@pytest.mark.parametrize(
    "around",
    [
        lambda r: Gate(r, 0.5),
        lambda r: Sequential(One(), r),
        lambda r: Sequential(r, One()),
        lambda r: WeightedSum([r, One()], [0.5, 0.5]),
    ],
)
def test_no_container_of_openenv_makes_a_number_of_it(env, around):
    rubric = around(openenv_rubric(env))
    score(rubric, "2")
    with pytest.raises(VerifierFault):
        score(rubric, "break")


def test_nan_would_pass_a_gate_of_openenv():
    """Why an unscored response is an exception."""

    class Odd(Rubric):
        def forward(self, action, observation):
            return float("nan")

    found = Gate(Odd(), 1.0)(None, None)
    assert found != found


class World(OpenEnvironment):  # type: ignore[misc] # as above
    """One step, judged by the rubric."""

    rubric_of: Rubric

    def __init__(self):
        super().__init__(rubric=self.rubric_of)

    @property
    def state(self):
        return None

    def reset(self, **_):
        return Seen(text="1+1=")

    def step(self, action, **_):
        seen = Seen(done=True, metadata={"id": "sum"})
        seen.reward = self._apply_rubric(action, seen)
        return seen


def test_a_client_of_the_server_gets_an_error_and_not_a_reward(env):
    World.rubric_of = openenv_rubric(env)
    app = create_fastapi_app(World, Say, Seen)
    client = TestClient(app, raise_server_exceptions=False)

    def step(text):
        return client.post("/step", json={"action": {"message": text}})

    assert (step("2").json()["reward"], step("3").json()["reward"]) == (1.0, 0.0)
    assert step("break").status_code == 500
    assert "reward" not in step("break").text


def test_what_makes_no_sense_is_an_error(env):
    rubric = openenv_rubric(env)
    with pytest.raises(ConfigError, match="has no 'id', the id of its task"):
        score(rubric, "2", None)
    with pytest.raises(UnknownTask, match="'other'"):
        score(rubric, "2", "other")
    with pytest.raises(ConfigError, match="no text in 'answer'; name its field with response="):
        score(openenv_rubric(env, response="answer"), "2")
    with Environment("x", [right]) as x, pytest.raises(ConfigError, match="x has no tasks"):
        openenv_rubric(x)
    with (
        Environment("x", [Longest()], TASKS) as x,
        pytest.raises(ConfigError, match="OpenEnv gives one at a time"),
    ):
        openenv_rubric(x)


def test_the_program_of_the_page_runs(tmp_path):
    write_files("train-elsewhere.md", tmp_path)

    assert run_program("world.py", tmp_path).splitlines() == ["1.0"]
