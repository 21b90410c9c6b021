"""What functions hold, wrap and hand back: none of it is lost, and none of it breaks a sound
one.
"""

import functools
import threading

import pytest
from rlenv import ConfigError, Environment, Slot, Task, stage
from rlenv.compose.equal import Equal
from rlenv.compose.functions import FunctionStage

TASK = Task("What is 6 * 7?", answer="42", id="t")


async def is_right_async(response, answer):
    return response.strip() == answer


class Scorer:
    def __init__(self, most):
        self.most = most

    def score(self, response):
        return len(response) <= self.most


def calling(function):
    def calls(response):
        return function(response)

    return calls


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            lambda response, most=3: len(response) <= most,
            lambda response, most=4: len(response) <= most,
        ),
        (lambda response: True, lambda response: False),
        (Scorer(3).score, Scorer(4).score),
        (calling(Scorer(3).score), calling(Scorer(4).score)),
        (calling(calling(len)), calling(calling(max))),
        (calling(functools.partial(max, [3])), calling(functools.partial(max, [4]))),
    ],
    ids=["default", "one line", "method", "closed-over method", "nested", "closed-over partial"],
)
def test_the_fingerprint_knows_all_that_a_function_holds(one, other):
    def name(function):
        return Environment("e", FunctionStage(function)).fingerprint

    assert name(one) == name(one) != name(other)


def test_a_function_that_calls_itself_has_a_fingerprint():
    def digits(response, most=3):
        return 1.0 if most == 0 else digits(response, most - 1)

    with Environment("e", digits) as env:
        assert env.verify(TASK, "x") == 1.0


def test_what_is_declared_on_a_partial_or_a_wrapper_counts_for_it_alone():
    def plain(response, scale=1.0):
        return scale

    @functools.wraps(stage(where="inline")(plain))
    def wrapper(response):
        return 1.0

    partial = stage(may_abstain=True)(functools.partial(plain, scale=0.5))
    stage(where="caller")(wrapper)
    declared = [FunctionStage(function) for function in (plain, partial)]
    assert [found.where for found in declared] == ["inline", "inline"]
    assert [getattr(found, "may_abstain", False) for found in declared] == [False, True]


def test_a_wrapper_is_async_or_not_whatever_it_wraps():
    def plain(response):
        return 1.0

    @functools.wraps(is_right_async)
    def blocking(response, answer):
        import asyncio

        return asyncio.run(is_right_async(response, answer))

    @functools.wraps(plain)
    async def awaited(response):
        return plain(response)

    with Environment("e", [blocking, awaited]) as env:
        assert env.verify(TASK, "42") == 1.0


def test_a_function_may_use_an_environment_of_its_own(monkeypatch):
    monkeypatch.setenv("RLENV_SECRET", "s" * 40)

    def nested(response):
        import os

        with Environment(
            "inner", [Equal(), lambda response: "RLENV_SECRET" not in os.environ]
        ) as env:
            return env.verify(Task("p", answer="42"), response)

    with Environment("e", nested) as env:
        assert env.verify(TASK, "42") == 1.0


def test_a_function_that_prints_any_response_scores_it():
    def talks(response):
        print(response)
        return 1.0

    with Environment("e", talks) as env:
        assert env.verify(TASK, "\ud800") == 1.0


def test_an_integer_too_long_for_decimal_digits_can_be_written_down():
    import json

    from rlenv.model.record import dumps

    with Environment(
        "e", stage(where="inline")(lambda response: {"score": 1.0, "data": {"n": 10**5000}})
    ) as env:
        found = env.evaluate(TASK, "x").results[0].outcome
    assert json.loads(dumps(found.data)) == {"n": hex(10**5000)}


def test_a_variable_without_a_value_yet_is_no_obstacle_to_a_message():
    lock = threading.Lock()

    def early(response):
        return bool(lock) and bool(later)

    with pytest.raises(ConfigError, match=r"the variable lock \(_thread.lock\) cannot be sent"):
        Environment("e", early)
    later = 1


def test_an_async_function_that_blocks_its_worker_is_not_run_again(tmp_path):
    async def blocks(response):
        import time

        with (tmp_path / "runs").open("a") as file:
            file.write("x")
        time.sleep(60)

    # Workers of its own: one that wore out under another test's response is given the item a second
    # time.
    with Environment("e", [Slot("s", blocks, timeout=0.2)], memory_mb=997) as env:
        assert env.evaluate(TASK, "x").fault.kind == "timeout"
    assert (tmp_path / "runs").read_text() == "x"
