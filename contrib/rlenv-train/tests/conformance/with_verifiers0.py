"""verifiers before 0.2: the rewards and advantages of a group whose third reward is odd."""

from __future__ import annotations

import asyncio
import logging

from conformance_cases import CASES, GROUP, environment, native, numbers, show, versions
from rlenv_train import verifiers_rubric
from verifiers import Rubric
from verifiers.types import State

logging.disable()


def plain(completion, info):
    return native(completion[-1]["content"], info["case"])


async def ones():
    return 1.0


def scored(rubric, case):
    states = []
    for text in GROUP:
        row = {
            "prompt": [{"role": "user", "content": "1="}],
            "answer": "",
            "example_id": 0,
            "info": {"case": case},
        }
        state = State(input=row)
        state.update(
            completion=[{"role": "assistant", "content": text}], task={}, timing={}, trajectory=[]
        )
        states.append(state)
    asyncio.run(rubric.score_group(states))
    marked = [state["metrics"].get("rlenv_unscored") for state in states]
    extras = f"; unscored {numbers(marked)}" if None not in marked else ""
    return f"advantages {numbers(state['advantage'] for state in states)}{extras}"


def ours(case):
    with environment() as env:
        return scored(verifiers_rubric(env), case)


versions("verifiers")
for case in CASES:
    show(case, "native, alone", lambda case=case: scored(Rubric(funcs=[plain]), case))
    show(
        case, "native, next to another", lambda case=case: scored(Rubric(funcs=[plain, ones]), case)
    )
    show(case, "rlenv, alone", lambda case=case: ours(case))
