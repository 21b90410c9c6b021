"""Functions as verifiers: what they are given, what they may return, and what construction
rejects.
"""

import functools
import threading
from collections.abc import Awaitable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import AnyOf, ConfigError, Environment, Outcome, Pipeline, Slot, Task, Trajectory, stage
from rlenv.compose.equal import Equal
from rlenv.compose.functions import READERS, FunctionStage

TASK = Task("What is 6 * 7?", answer="42", info={"level": 3}, id="t")


def is_right(response, answer):
    return response.strip() == answer


async def is_right_async(response, answer):
    return response.strip() == answer


class Length:
    """An object that is called."""

    where = "inline"

    def __call__(self, response):
        return len(response) < 5


def inline(function):
    return stage(where="inline")(function)


def outcome(function, response="42", task=TASK):
    """What an inline function's stage says of a response."""
    with Environment("e", inline(function)) as env:
        return env.evaluate(task, response).results[0]


@pytest.mark.parametrize(
    "verifier",
    [
        is_right,
        is_right_async,
        lambda response, answer: response == answer,
        functools.partial(lambda response, answer, scale: (response == answer) * scale, scale=1.0),
        [is_right, Equal()],
        AnyOf([lambda response: 0.0, is_right]),
        Pipeline([Slot("mine", is_right)]),
        Equal(),
    ],
    ids=["def", "async def", "lambda", "partial", "list", "composite", "slot", "stage"],
)
def test_anything_callable_verifies_and_so_do_stages_and_lists(verifier):
    with Environment("e", verifier) as env:
        assert env.verify(TASK, "42") == 1.0
        assert env.verify(TASK, "41") == 0.0


def test_a_function_receives_what_its_parameters_name():
    seen = {}

    @inline
    def everything(
        attempt, trajectory, task, info, answer, completion, visible, response, prompt, other=5
    ):
        seen.update(locals())
        return 1

    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "42"}]
    with Environment("e", everything) as env:
        assert env.verify(TASK, messages) == 1.0

    seen.pop("seen", None)
    attempt = seen.pop("attempt")
    assert seen == {
        "prompt": TASK.prompt,
        "response": "42",
        "completion": "42",
        "visible": "42",
        "answer": "42",
        "info": {"level": 3},
        "task": TASK,
        "trajectory": Trajectory(messages),
        "other": 5,
    }
    assert attempt.task is TASK
    assert set(seen) - {"other"} | {"attempt"} == set(READERS)


def test_what_a_partial_binds_is_not_supplied_again():
    bound = functools.partial(lambda response, answer: response == answer, answer="7")
    assert outcome(bound, "7").outcome.score == 1.0
    assert outcome(functools.partial(bound, response="8"), "7").outcome.score == 0.0


def test_position_means_nothing():
    assert (
        outcome(lambda answer, response: answer == "42" and response == "x", "x").outcome.score == 1
    )
    positional_only = eval("lambda answer, response, /: answer == '42' and response == 'x'")
    assert outcome(positional_only, "x").outcome.score == 1.0


def test_keyword_arguments_receive_the_info_only_where_that_is_declared():
    def takes(response, **kwargs):
        return {"score": 1.0, "got": kwargs}

    assert outcome(takes).outcome.private["got"] == {}
    stage(kwargs="info")(takes)
    task = Task("p", info={"level": 3, "response": "forged", "a b": 1})
    assert outcome(takes, task=task).outcome.private["got"] == {"level": 3, "a b": 1}


def test_an_answer_that_is_required_must_be_there():
    with pytest.raises(ConfigError, match=r"needs task\.answer"):
        Environment("e", is_right, [Task("p")])
    Environment("e", inline(lambda response, answer=None: answer is None), [Task("p")])


@pytest.mark.parametrize(
    ("returned", "score"),
    [
        (True, 1.0),
        (0, 0.0),
        (0.25, 0.25),
        (Outcome(0.5), 0.5),
        ({"score": 0.75}, 0.75),
        ({"score": True}, 1.0),
    ],
)
def test_what_a_function_may_return(returned, score):
    assert outcome(lambda response: returned).outcome.score == score


@pytest.mark.parametrize("returned", [True, 1.0, Outcome(1.0), {"score": 1.0}])
def test_what_was_hidden_from_a_function_is_in_its_data(returned):
    async def later(visible):
        return returned if visible == "42" else 0.0

    thought = "<think>hm</think>42"
    for function in (inline(lambda visible: returned if visible == "42" else 0.0), later):
        with Environment("e", function) as env:
            said = env.evaluate(TASK, thought).results[0].outcome
            assert (said.score, dict(said.data)) == (1.0, {"hidden": len(thought) - 2})
            assert dict(env.evaluate(TASK, "42").results[0].outcome.data) == {}
    assert outcome(lambda visible: None, thought).fault.kind == "contract"


def test_numbers_and_bools_of_numpy_are_scores():
    numpy = pytest.importorskip("numpy")
    assert outcome(lambda response: numpy.bool_(1)).outcome.score == 1.0
    assert outcome(lambda response: numpy.float32(0.5)).outcome.score == 0.5


def test_other_keys_of_a_mapping_are_private_since_they_may_hold_the_answer():
    said = outcome(
        lambda answer: {"score": 0.5, "detail": "half", "data": {"n": 1}, "gold": answer}
    ).outcome
    assert said == Outcome(0.5, "half", {"n": 1}, None, {"gold": "42"})


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (None, "return 0.0 for a response that you cannot read"),
        ([1.0], "not list"),
        ("1.0", "not str"),
        (1.5, "float in [0, 1], not 1.5"),
        (float("nan"), "not nan"),
        ({"reward": 1.0}, 'needs the key "score"'),
        ({"score": None}, "not NoneType"),
        ({"score": 1.0, "private": 3}, "no score"),
    ],
)
def test_what_is_no_score_is_a_fault_that_says_why(returned, says):
    fault = outcome(lambda response: returned).fault
    assert fault.kind == "contract"
    assert says in fault.message


def test_none_abstains_where_that_is_declared():
    fault = outcome(stage(may_abstain=True)(lambda response: None)).fault
    assert (fault.kind, fault.transient) == ("abstained", False)


@pytest.mark.parametrize("returned", [2.0, -1, 10])
def test_a_reward_of_another_range_is_a_fault_that_names_what_scales_it(returned):
    message = outcome(lambda response: returned).fault.message
    assert f"a score is a float in [0, 1], not {returned}" in message
    assert "(score - lowest) / (highest - lowest)" in message
    assert "options = { scale = [lowest, highest] }" in message


@pytest.mark.parametrize("returned", [float("inf"), float("nan"), "2.0", [2.0]])
def test_what_no_scale_helps_names_none(returned):
    assert "scale" not in outcome(lambda response: returned).fault.message


def test_a_coroutine_that_is_never_awaited_is_a_fault():
    fault = outcome(lambda response: is_right_async(response, "42")).fault
    assert fault.kind == "contract"
    assert "write async def" in fault.message


def unknown(response, tests): ...
def listed(response) -> list[float]:
    return [1.0]


def nothing(response) -> None: ...
def awaited(response) -> Awaitable[float]:
    return is_right_async(response, "")


def generated(response):
    yield 1.0


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (unknown, "cannot supply tests; a function may ask for prompt, response, completion"),
        (listed, "it returns list[float]; return one score for one response"),
        (nothing, "it returns None"),
        (awaited, "Awaitable[float]; return one score"),
        (generated, "it is a generator"),
        (len, "cannot supply obj"),
        (max, "tells no parameter names"),
        (Length, "build it, "),
        (Equal, "build it, "),
        (stage(kwargs="info")(lambda response: 1), "takes no **kwargs"),
    ],
)
def test_construction_rejects_what_cannot_be_called(function, says):
    with pytest.raises(ConfigError) as caught:
        Environment("e", function)
    assert says in str(caught.value)


@pytest.mark.parametrize("verifier", ["math/equal", b"x", 3, None, {"stage": []}])
def test_a_verifier_of_another_type_is_rejected(verifier):
    with pytest.raises(TypeError, match="a verifier is a function, a stage, a composite"):
        Environment("e", verifier)
    with pytest.raises(ConfigError, match="has no stages"):
        Environment("e", [])
    with pytest.raises(ConfigError, match="is not a stage: it is not callable"):
        Environment("e", [3])


def test_stages_without_a_name_get_one_and_names_given_twice_are_an_error():
    env = Environment(
        "e",
        [inline(is_right), lambda response: 1, lambda response: 0, Equal(), Slot("equal", Equal())],
    )
    assert [slot.name for slot in env.slots] == [
        "is_right",
        "lambda",
        "lambda-2",
        "equal-2",
        "equal",
    ]
    assert [slot.kind for slot in env.slots][:2] == [
        f"{__name__}:is_right",
        env.slots[1].stage.target,
    ]
    with pytest.raises(ConfigError, match="two stages are named 'a'"):
        Environment("e", [Slot("a", Equal()), Slot("a", is_right)])


def test_what_cannot_be_sent_to_a_worker_is_named_with_the_remedy():
    lock = threading.Lock()
    with open(__file__) as opened:
        big = b"x" * 20_000_000

        def holds_lock(response):
            with lock:
                return 1.0

        def holds_file(response):
            return bool(opened.read())

        def calls(response):
            return holds_lock(response)

        def is_large(response):
            return len(big)

        for function, says in (
            (holds_lock, r"the variable lock \(_thread.lock\) cannot be sent there"),
            (
                holds_file,
                r"the variable opened \(_io.TextIOWrapper\) cannot be sent there .*an open file",
            ),
            (calls, r"the variable lock .*create it inside the function, or .* where = \"caller\""),
            (is_large, r"more than 10,000,000; the largest part is the variable big"),
        ):
            with pytest.raises(ConfigError, match=says):
                Environment("e", function)
            if function is not holds_file:
                Environment("e", inline(function)).close()


def test_workers_of_functions_see_no_secrets_unless_they_are_listed(monkeypatch):
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "db_password", "RLENV_SECRET", "PLAIN"):
        monkeypatch.setenv(name, "value")

    def names(response):
        import os

        return {"score": 0.0, "env": sorted(os.environ)}

    def key(attempt):
        return {"score": 0.0, "key": attempt.key().hex()}

    def run(function):
        with Environment("e", function, memory_mb=999) as env:  # workers of its own
            return env.evaluate(TASK, "x").results[0]

    seen = set(run(names).outcome.private["env"])
    assert {"PATH", "HOME"} <= seen
    assert not seen & {"OPENAI_API_KEY", "HF_TOKEN", "db_password", "RLENV_SECRET", "PLAIN"}
    seen = set(run(stage(env=["HF_TOKEN"])(names)).outcome.private["env"])
    assert seen & {"OPENAI_API_KEY", "HF_TOKEN"} == {"HF_TOKEN"}

    assert "draws = True" in run(key).fault.message
    key = stage(draws=True)(key)
    assert 'env = ("RLENV_SECRET",)' in run(key).fault.message
    allowed = run(stage(env=("RLENV_SECRET",))(key)).outcome.private["key"]
    assert allowed == outcome(key, "x").outcome.private["key"]


def test_a_stage_of_a_plugin_beside_a_function_keeps_its_own_workers(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "value")

    class Sees:
        def check(self, attempt):
            import os

            return Outcome(float("SOME_TOKEN" in os.environ))

    def sees(response):
        import os

        return "SOME_TOKEN" not in os.environ

    with Environment("e", [Sees(), sees, Slot("again", Sees())], memory_mb=998) as env:
        verdict = env.evaluate(TASK, "x")
        assert [result.outcome.score for result in verdict.results] == [1.0, 1.0, 1.0]
        pairs = [(TASK, str(n)) for n in range(20)]
        assert [v.value for v in env.evaluate_many(pairs, workers=2)] == [1.0] * 20


def test_the_fingerprint_knows_the_code_the_closure_and_the_options_of_a_function():
    def limit(most):
        return lambda response: len(response) <= most

    def names(function):
        return Environment("e", inline(function)).fingerprint

    assert names(limit(3)) == names(limit(3)) != names(limit(4))
    scaled = functools.partial(limit(3), scale=1)
    assert names(functools.partial(is_right, answer="1")) != names(
        functools.partial(is_right, answer="2")
    )
    assert scaled.keywords == {"scale": 1}
    first, second = (eval(f"lambda response: {n}") for n in (0, 1))  # no file holds them
    assert names(first) != names(second)


@given(st.text(), st.sampled_from(["inline", "worker"]))
def test_every_text_gets_the_same_verdict_from_a_function_as_from_a_class(response, place):
    def same(response, answer):
        return response.strip() == answer

    with Environment("f", stage(where=place)(same)) as function, Environment("c", Equal()) as equal:
        assert function.verify(TASK, response) == float(response.strip() == "42")
        assert equal.evaluate(TASK, response).scored


def test_a_function_can_be_pickled_with_its_stage():
    import pickle

    again = pickle.loads(pickle.dumps(FunctionStage(is_right)))
    with Environment("e", again) as env:
        assert env.verify(TASK, "42") == 1.0
