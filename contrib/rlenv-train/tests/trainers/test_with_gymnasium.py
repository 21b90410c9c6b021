"""``gymnasium_env`` and ``skyrl_env`` under the checker of Gymnasium and in the registry of
SkyRL-Gym.
"""

from __future__ import annotations

import json
import warnings

import pytest
import rlenv
from page import run_program, write_files
from rlenv import ConfigError, Environment, Outcome, Task, VerifierFault
from rlenv_train import gymnasium_env, skyrl_env
from train_cases import right

pytest.importorskip(
    "gymnasium", reason="Gymnasium is not installed here: `make test-trainers` runs this"
)

import skyrl_gym
from gymnasium.spaces import Discrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from rlenv_plugin_agent import End, Harness, call

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
    assert gym.step("break")[1:] == (
        -1.0,
        False,
        True,
        {"unscored": True, "stages": {}, "steps": [], "fault": "error at right"},
    )


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


def test_only_tasks_of_the_training_split_are_drawn_unless_another_is_named():
    held_out = [Task("9=", answer="9", id="h", split="test")]
    with Environment("sums", [right], [*TASKS, *held_out]) as made:
        gym = gymnasium_env(made)
        drawn = {gym.reset()[1]["id"] for _ in range(60)}
        assert drawn == {task.id for task in TASKS}
        assert gym.reset(options={"id": "h"})[1] == {"id": "h"}  # whoever names a task gets it
        assert gymnasium_env(made, split="test").reset()[1] == {"id": "h"}
        with pytest.raises(ConfigError, match="no task has the split 'validation'"):
            gymnasium_env(made, split="validation")


def test_a_step_after_the_end_is_an_error(env):
    gym = gymnasium_env(env)
    gym.reset()
    gym.step("x")
    with pytest.raises(RuntimeError, match="call reset"):
        gym.step("x")


def test_an_environment_without_tasks_is_an_error():
    with Environment("sums", [right]) as env, pytest.raises(ConfigError, match="has no tasks"):
        gymnasium_env(env)


# -- episodes ---------------------------------------------------------------------------------


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def corridor(action, context, seed):
    """Walk right from the place that the seed says to place 4."""
    if action is None:
        context.parts[dict] = {"place": seed % 3}
        return context.get(dict)["place"]
    state = context.get(dict)
    state["place"] = max(0, min(4, state["place"] + (1 if int(action) else -1)))
    return End(state["place"]) if state["place"] == 4 else state["place"]


@rlenv.stage(where="inline")
def arrived(trajectory):
    return trajectory.messages[-1]["content"] == "4"


def walk():
    harness = Harness("multi-turn", user=corridor, turn_limit=9)
    gym = gymnasium_env(Environment("walk", [arrived], TASKS, tables={"harness": harness}))
    gym.action_space = Discrete(2)
    gym.observation_space = Discrete(5)
    return gym


def test_a_game_passes_the_checker_of_gymnasium():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*render modes.*")
        check_env(walk())


def test_a_game_is_played_with_values():
    gym = walk()
    place, _ = gym.reset(seed=3)
    steps = [gym.step(1) for _ in range(4 - place)]

    assert [step[0] for step in steps] == [*range(place + 1, 5)]
    assert [step[1:4] for step in steps[:-1]] == [(0.0, False, False)] * (len(steps) - 1)
    assert steps[-1][1:4] == (1.0, True, False)
    assert steps[-1][4]["stop"] == "passed"
    assert steps[-1][4]["stages"] == {"arrived": 1.0}

    gym.reset(seed=3)
    ended = [gym.step(0) for _ in range(9)][-1]
    assert ended[1:4] == (0.0, False, True)
    assert ended[4]["stop"] == "turn_limit"


def test_a_seed_decides_how_a_game_begins():
    places = [walk().reset(seed=seed)[0] for seed in range(12)]

    assert places == [walk().reset(seed=seed)[0] for seed in range(12)]
    assert len({*places}) == 3


def test_games_run_in_a_vector_of_gymnasium():
    many = SyncVectorEnv([walk, walk])
    many.reset(seed=1)
    rewards = sum(many.step([1, 1])[1] for _ in range(6))

    assert [*rewards] == [1.0, 1.0]


def test_a_text_may_call_tools():
    harness = Harness("tool-use", tools=[add])
    gym = gymnasium_env(Environment("sums", [right], TASKS, tables={"harness": harness}))
    prompt, info = gym.reset(options={"id": "t3"})
    assert (prompt, info["tools"][0]["function"]["name"]) == (TASKS[3].prompt, "add")
    seen, reward, terminated, truncated, info = gym.step(json.dumps(call("add", a=1, b=2)))

    assert (seen, reward, terminated, truncated) == ("3", 0.0, False, False)
    assert len(info["messages"]) == 3
    assert gym.step("3")[1:4] == (1.0, True, False)


def test_an_episode_that_the_environment_fails_is_truncated():
    harness = Harness("tool-use", tools=[add])
    made = Environment("sums", [right], TASKS, tables={"harness": harness})
    gym = gymnasium_env(made, unscored=-1.0)
    gym.reset()
    step = gym.step("break")

    assert step[1:4] == (-1.0, False, True)
    assert (step[4]["unscored"], step[4]["stop"]) == (True, "error")
    with pytest.raises(RuntimeError, match="call reset"):
        gym.step("x")


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
