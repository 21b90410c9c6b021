"""Law 3 at scale: hundreds of verifications of which one in twenty is a catastrophe."""

import random

import pytest
from engine_stages import Obeys
from rlenv import Environment, Slot, Task

TASK = Task("Say right", id="t")
BAD = {
    "loop": {"timeout"},
    "sleep": {"timeout"},
    "regex": {"timeout"},
    "memory": {"memory", "timeout"},
    "exit": {"crash"},
}


@pytest.mark.parametrize(
    "each",
    [1, pytest.param(10, marks=pytest.mark.slow)],  # kills a worker 50 times
)
def test_verdicts_survive_a_catastrophe_in_twenty(each):
    orders = [order for order in BAD for _ in range(each)]
    orders += (["right"] * 47 + ["wrong"] * 47) * each
    random.Random(7).shuffle(orders)
    with Environment("o", [Slot("s", Obeys(), timeout=1.5)], memory_mb=150) as env:
        verdicts = list(env.evaluate_many([(TASK, order) for order in orders], workers=2))
        after = env.verify(TASK, "right")

    assert len(verdicts) == len(orders)
    assert after == 1.0
    for order, verdict in zip(orders, verdicts, strict=True):
        if order in BAD:
            assert verdict.fault.kind in BAD[order], (order, verdict.fault)
        else:
            assert verdict.value == float(order == "right"), (order, verdict.fault)
