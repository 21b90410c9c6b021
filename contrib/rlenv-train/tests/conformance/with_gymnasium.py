"""Gymnasium and SkyRL-Gym: what a step with the odd response returns, with Gymnasium's passive
checker.
"""

from __future__ import annotations

import warnings

import gymnasium
import skyrl_gym
from conformance_cases import CASES, environment, native, show, verifier, versions
from gymnasium.wrappers import PassiveEnvChecker
from rlenv import Environment, Slot, Task
from rlenv_train import gymnasium_env, skyrl_env
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput


class Plain(gymnasium.Env):  # type: ignore[misc] # Gymnasium has an environment of its own
    observation_space = action_space = gymnasium.spaces.Text(9, min_length=0)

    def __init__(self, case):
        self.case = case

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return "", {}

    def step(self, action):
        return "", native(action, self.case), True, False, {}


class PlainText(BaseTextEnv):  # type: ignore[misc] # as above
    def __init__(self, env_config=None, extras=None):
        super().__init__()
        self.case = extras["case"]

    def step(self, action):
        return BaseTextEnvStepOutput(
            observations=[], reward=native(action, self.case), done=True, metadata={}
        )


def stepped(env):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checked = PassiveEnvChecker(env)
        checked.reset(seed=1)
        _, reward, terminated, truncated, info = checked.step("odd")
    extras = f", unscored {info['unscored']}" if "unscored" in info else ""
    warned = sum("reward" in str(one.message) for one in caught)
    return (
        f"reward {reward}, terminated {terminated}, truncated {truncated}{extras}; {warned}"
        " warnings about it"
    )


def ours(case):
    tasks = [Task("1=", info={"case": case}, id="one")]
    with Environment("conformance", [Slot("verifier", verifier, timeout=1.0)], tasks) as env:
        return stepped(gymnasium_env(env))


def sky(kind, case):
    name = f"{kind.__name__}-{case}"
    skyrl_gym.register(id=name, entry_point=kind)
    made = skyrl_gym.make(name, env_config={}, extras={"case": case})
    made.init([{"role": "user", "content": "1="}])
    step = made.step("odd")
    return f"reward {step['reward']}, metrics {made.get_metrics()}"


def our_sky(case):
    with environment() as env:
        return sky(skyrl_env(env), case)


versions("gymnasium", "skyrl-gym")
for case in CASES:
    show(case, "Gymnasium, native", lambda case=case: stepped(Plain(case)))
    show(case, "Gymnasium, rlenv", lambda case=case: ours(case))
    show(case, "SkyRL-Gym, native", lambda case=case: sky(PlainText, case))
    show(case, "SkyRL-Gym, rlenv", lambda case=case: our_sky(case))
