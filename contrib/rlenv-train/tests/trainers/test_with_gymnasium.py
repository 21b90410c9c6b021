"""``gymnasium_env`` and ``skyrl_env`` under the checker of Gymnasium and in the registry of SkyRL-Gym."""

from __future__ import annotations

import warnings

import pytest
import rlenv
from page import run_program, write_files
from rlenv import ConfigError, Environment, Outcome, Task, VerifierFault
from rlenv_train import gymnasium_env, skyrl_env
from train_cases import right

pytest.importorskip("gymnasium", reason="Gymnasium is not installed here: `make test-trainers` runs this")  # fmt: skip

import skyrl_gym
from gymnasium.utils.env_checker import check_env

TASKS = [Task(f"{n} + ½ é=", answer=str(n), id=f"t{n}") for n in range(4)]


@pytest.fixture
def env():
    with Environment("sums", [right], TASKS) as made:
        yield made


def test_it_passes_the_checker_of_gymnasium(env):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*render modes.*")  # there are none
        check_env(gymnasium_env(env))


def test_an_episode_is_a_prompt_and_a_response(env):
    gym = gymnasium_env(env, unscored=-1.0)
    assert gym.reset(options={"id": "t3"}) == (TASKS[3].prompt, {"id": "t3"})
    assert gym.step("3") == (
        "",
        1.0,
        True,
        False,
        {"unscored": False, "stages": {"right": 1.0}, "steps": []},
    )

    gym.reset(seed=1)
    assert gym.step("break")[1:] == (-1.0, False, True, {"unscored": True, "stages": {}, "steps": [], "fault": "error at right"})  # fmt: skip


def test_the_scores_of_steps_are_in_the_info():
    @rlenv.stage(where="inline")
    def lines(response):
        scores = [float("=" in line) for line in response.splitlines()]
        return Outcome(min(scores), steps=[*enumerate(scores)])

    with Environment("lines", [lines], TASKS) as made:
        gym = gymnasium_env(made)
        gym.reset()
        assert gym.step("1+1=2\nso 2")[-1]["steps"] == [(0, 1.0), (1, 0.0)]


def test_a_seed_decides_which_task_is_drawn(env):
    gym = gymnasium_env(env)
    first = [gym.reset(seed=7)[0], *(gym.reset()[0] for _ in range(20))]

    assert first == [gym.reset(seed=7)[0], *(gym.reset()[0] for _ in range(20))]
    assert set(first) == {task.prompt for task in TASKS}


def test_a_step_after_the_end_is_an_error(env):
    gym = gymnasium_env(env)
    gym.reset()
    gym.step("x")
    with pytest.raises(RuntimeError, match="call reset"):
        gym.step("x")


def test_an_environment_without_tasks_is_an_error():
    with Environment("sums", [right]) as env, pytest.raises(ConfigError, match="has no tasks"):
        gymnasium_env(env)


def test_skyrl_makes_it_from_its_registry():
    with Environment("sums", [right]) as env:
        skyrl_gym.register(id="rlenv-sums", entry_point=skyrl_env(env, unscored=-1.0, patience=2))
        row = {"reward_spec": {"ground_truth": "2"}, "level": 3}

        def played(text):
            made = skyrl_gym.make("rlenv-sums", env_config={}, extras=row)
            made.init([{"role": "user", "content": "1+1="}])
            step = made.step(text)
            return step["reward"], step["done"], made.get_metrics()

        assert played("2") == (1.0, True, {"unscored": 0.0, "stage/right": 1.0})
        assert played("break") == (-1.0, True, {"unscored": 1.0})
        with pytest.raises(VerifierFault):
            played("break")


def test_the_program_of_the_page_runs(tmp_path):
    write_files("train-with-gymnasium.md", tmp_path)

    assert run_program("episode.py", tmp_path).splitlines() == ["1.0 False"]
