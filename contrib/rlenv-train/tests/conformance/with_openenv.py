"""OpenEnv: what a client of its server gets for the odd response, alone and behind a gate, and a
sum of two rubrics.
"""

from __future__ import annotations

import logging

from conformance_cases import CASES, LIMIT, native, show, verifier, versions
from openenv.core.env_server import Action, Environment, Observation
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.rubrics import Gate, Rubric, WeightedSum
from rlenv import Environment as RlenvEnvironment
from rlenv import Slot, Task
from rlenv_train import openenv_rubric
from starlette.testclient import TestClient

logging.disable()


class Say(Action):  # type: ignore[misc] # OpenEnv has an environment of its own
    message: str


class Plain(Rubric):  # type: ignore[misc] # as above
    def __init__(self, case):
        super().__init__()
        self.case = case

    def forward(self, action, observation):
        return native(action.message, self.case)


class Ones(Rubric):  # type: ignore[misc] # as above
    def forward(self, action, observation):
        return 1.0


class World(Environment):  # type: ignore[misc] # as above
    used: Rubric

    def __init__(self):
        super().__init__(rubric=self.used)

    @property
    def state(self):
        return None

    def reset(self, **_):
        return Observation()

    def step(self, action, **_):
        seen = Observation(done=True, metadata={"id": "one"})
        seen.reward = self._apply_rubric(action, seen)
        return seen


def stepped(rubric):
    """What a client gets for the odd response."""
    World.used = rubric
    client = TestClient(create_fastapi_app(World, Say, Observation), raise_server_exceptions=False)
    answer = client.post("/step", json={"action": {"message": "odd"}})
    if answer.status_code != 200:
        return f"error {answer.status_code}, no reward"
    return f"reward {answer.json()['reward']}"


def beside(rubric):
    return WeightedSum([rubric, Ones()], [0.5, 0.5])


def ours(case, around):
    task = Task("1=", info={"case": case}, id="one")
    with RlenvEnvironment(
        "conformance", [Slot("verifier", verifier, timeout=LIMIT)], [task]
    ) as env:
        return stepped(around(openenv_rubric(env)))


versions("openenv")
for case in CASES:
    for made, around in (("alone", lambda r: r), ("in a gate", Gate), ("next to another", beside)):
        show(case, f"native, {made}", lambda case=case, around=around: stepped(around(Plain(case))))
    for made, around in (("alone", lambda r: r), ("next to another", beside)):
        show(case, f"rlenv, {made}", lambda case=case, around=around: ours(case, around))
