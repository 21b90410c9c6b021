"""Inline, worker and caller stages; sync, async and batch: one algorithm, the same verdicts."""

import asyncio
import os
import threading

import pytest
from engine_stages import BadRank, Count, Obeys, Rank, Split, Tame, Waits, Words
from rlenv import (
    AnyOf,
    Attempt,
    ConfigError,
    Environment,
    First,
    Outcome,
    Slot,
    Task,
    TaskError,
    Trajectory,
    UnknownTask,
    VerifierFault,
)

TASK = Task("Say yes", answer="yes", id="t")
RESPONSES = ["yes", "yes no", "no", "", "yes yes yes no"]


def words(split: str = "worker", count: str = "worker", *more: Slot) -> Environment:
    slots = [Slot("split", Split(split), gate=1.0), *more, Slot("count", Count(count))]
    return Environment("words", slots, [TASK])


@pytest.fixture
def everywhere():
    """Every mix of places, a caller stage in the middle among them."""
    environments = [
        words("inline", "inline"),
        words("worker", "worker"),
        words("inline", "worker"),
        words("worker", "inline"),
        words("worker", "worker", Slot("waits", Waits("caller"), 0.0)),
        words("inline", "worker", Slot("waits", Waits("worker"), 0.0)),
    ]
    yield environments
    for env in environments:
        env.close()


def test_every_way_to_evaluate_gives_the_same_rewards(everywhere):
    wanted = [1.0, 0.5, 0.0, 0.0, 0.75]
    pairs = [(TASK, response) for response in RESPONSES]

    async def gathered(env):
        return await asyncio.gather(*[env.averify(TASK, response) for response in RESPONSES])

    for env in everywhere:
        assert [env.verify(TASK, response) for response in RESPONSES] == wanted
        assert [v.reward for v in env.evaluate_many(pairs)] == wanted
        assert [v.reward for _, v in sorted(env.evaluate_as_completed(pairs))] == wanted
        assert [v.reward for v in env.evaluate_group(TASK, RESPONSES)] == wanted
        assert asyncio.run(gathered(env)) == wanted


def test_verdicts_are_equal_from_threads_a_running_loop_and_batches():
    env = words("worker", "inline")
    expected = [env.evaluate(TASK, response) for response in RESPONSES]
    found: list[object] = []

    def work():
        found.extend(env.evaluate(TASK, response) for response in RESPONSES)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    async def inside():
        return [env.evaluate(TASK, response) for response in RESPONSES]

    with env:
        assert found == expected
        assert asyncio.run(inside()) == expected
        assert list(env.evaluate_many([(TASK, r) for r in RESPONSES], workers=1)) == expected


def test_a_worker_is_another_process_and_inline_is_not():
    here = Environment("here", [Slot("tame", Tame())])
    there = Environment("there", [Slot("obeys", Obeys())])
    moved = Environment("moved", [Slot("tame", Tame())], isolate=True)
    with here, there, moved:
        pids = [
            env.evaluate(TASK, "right").results[0].outcome.private["pid"]
            for env in (here, there, moved)
        ]
        batch = next(here.evaluate_many([(TASK, "right")], workers=1))

    assert pids[0] == os.getpid()
    assert os.getpid() not in pids[1:]
    assert batch.results[0].outcome.private["pid"] != os.getpid()


@pytest.mark.parametrize(
    ("order", "kind"),
    [
        ("raise", "error"),
        ("sysexit", "error"),
        ("task", "input"),
        ("nan", "contract"),
        ("true", "contract"),
        ("two", "contract"),
        ("none", "contract"),
        ("float", "contract"),
        ("forged", "contract"),
        ("network", "unavailable"),
    ],
)
def test_a_broken_stage_is_a_fault_and_never_a_reward(order, kind):
    for env in (
        Environment("inline", [Slot("s", Tame())]),
        Environment("worker", [Slot("s", Obeys())]),
        Environment("caller", [Slot("s", Waits())]),
    ):
        with env:
            verdict = env.evaluate(TASK, order)
            assert verdict.value is None, env.name
            assert verdict.fault.kind == kind, env.name
            assert verdict.stopped_at == "s"
            with pytest.raises(VerifierFault):
                env.verify(TASK, order)


def test_what_kills_a_worker_costs_only_its_own_response():
    env = Environment("obeys", [Slot("s", Obeys(), timeout=2.0)], memory_mb=200)
    orders = [
        "right",
        "loop",
        "wrong",
        "sleep",
        "right",
        "exit",
        "regex",
        "right",
        "segv",
        "memory",
        "right",
    ]
    kinds = {
        "loop": {"timeout"},
        "sleep": {"timeout"},
        "regex": {"timeout"},
        "exit": {"crash"},
        "segv": {"crash"},
        "memory": {"memory", "timeout"},
    }
    with env:
        verdicts = list(env.evaluate_many([(TASK, order) for order in orders], workers=2))

    for order, verdict in zip(orders, verdicts, strict=True):
        if order in kinds:
            assert verdict.fault.kind in kinds[order], order
            assert verdict.results[0].seconds > 0 or verdict.fault.kind == "memory"
        else:
            assert verdict.value == float(order == "right")


def test_after_a_kill_the_earlier_stages_keep_their_results_and_a_fallback_still_decides():
    pipeline = Environment("p", [Slot("split", Split(), gate=1), Slot("s", Obeys(), timeout=0.3)])
    fallback = Environment(
        "f", [Slot("either", First([Slot("s", Obeys(), timeout=0.3), Slot("waits", Waits())]))]
    )
    decided = Environment(
        "d", [Slot("any", AnyOf([Slot("s", Obeys(), timeout=0.3), Slot("split", Split())]))]
    )
    with pipeline, fallback, decided:
        verdict = pipeline.evaluate(TASK, "sleep")
        assert [r.stage for r in verdict.results] == ["split", "s"]
        assert verdict.results[0].outcome.score == 1.0
        assert verdict.fault.kind == "timeout"
        assert fallback.verify(TASK, "sleep") == 0.0
        assert [v.value for v in fallback.evaluate_many([(TASK, "sleep")])] == [0.0]
        assert decided.verify(TASK, "sleep") == 1.0
        assert [v.value for v in decided.evaluate_many([(TASK, "sleep")], workers=1)] == [1.0]


def test_async_stages_are_cancelled_at_their_deadline_even_when_they_resist():
    for where in ("caller", "worker"):
        env = Environment("a", [Slot("waits", Waits(where), timeout=2.0)])
        with env:
            pairs = [(TASK, order) for order in ("right", "hang", "right", "stubborn", "wrong")]
            verdicts = list(env.evaluate_many(pairs))
        assert [v.value for v in verdicts] == [1.0, None, 1.0, None, 0.0], where
        assert {v.fault.kind for v in verdicts if v.fault} == {"timeout"}


def test_a_stage_that_blocks_the_shared_loop_is_the_only_one_at_fault():
    env = Environment("a", [Slot("waits", Waits("caller", 0.05), timeout=1.5)])
    with env:
        orders = ["right", "block", "wrong", "right"]
        verdicts = list(env.evaluate_many([(TASK, order) for order in orders]))

    assert [v.value for v in verdicts] == [1.0, None, 0.0, 1.0]
    assert verdicts[1].fault.kind == "blocked"


def test_the_callers_loop_turns_while_a_worker_is_busy():
    env = Environment("a", [Slot("s", Obeys(), timeout=2.0)])

    async def main():
        ticks = 0
        task = asyncio.ensure_future(env.aevaluate(TASK, "loop"))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, await task

    with env:
        ticks, verdict = asyncio.run(main())

    assert verdict.fault.kind == "timeout"
    assert ticks > 10


def test_group_stages_judge_side_by_side_and_permute_with_the_group():
    for where in ("inline", "worker"):
        env = Environment("g", [Slot("split", Split(), gate=1), Slot("rank", Rank(where))])
        with env:
            forward = [v.value for v in env.evaluate_group(TASK, ["a", "aaa", "aa"])]
            backward = [v.value for v in env.evaluate_group(TASK, ["aa", "aaa", "a"])]
        assert forward == [0.0, 1.0, 0.5]
        assert backward == forward[::-1]


def test_a_group_stage_sees_only_those_still_in_the_running():
    env = Environment("g", [Slot("tame", Tame(), gate=1), Slot("rank", Rank())])

    verdicts = env.evaluate_group(TASK, ["right", "wrong", "raise", 7])

    assert [v.value for v in verdicts] == [0.0, 0.0, None, None]
    assert verdicts[1].stopped_at == "tame"
    assert [v.fault.kind for v in verdicts[2:]] == ["error", "input"]


def test_a_group_stage_that_miscounts_is_at_fault():
    env = Environment("g", [Slot("rank", BadRank())])

    assert {v.fault.kind for v in env.evaluate_group(TASK, ["a", "b"])} == {"contract"}


def test_a_group_stage_elsewhere_is_a_config_error():
    env = Environment("g", [Slot("rank", Rank())])
    for wrong in (lambda: env.evaluate(TASK, "a"), lambda: env.evaluate_many([(TASK, "a")])):
        with pytest.raises(ConfigError, match="evaluate_group"):
            wrong()


def test_misuse_raises_alone_and_is_an_input_fault_in_a_batch():
    env = words("inline", "inline")

    with pytest.raises(UnknownTask):
        env.verify("Say no", "yes")
    with pytest.raises(TypeError, match="a response is a text"):
        env.verify(TASK, 42)
    with pytest.raises(TypeError, match="a prompt is a text or a Task"):
        env.verify(3, "yes")
    with pytest.raises(TaskError, match=r"task\.answer, which is missing"):
        env.verify(Task("Say yes"), "yes")
    rows = [
        ("Say yes", "yes"),
        ("Say no", "yes"),
        ("Say yes", None),
        ("Say yes",),
        (Task("x"), "y"),
    ]
    verdicts = list(env.evaluate_many(rows))
    assert [v.value for v in verdicts] == [1.0, None, None, None, None]
    assert {v.fault.kind for v in verdicts[1:]} == {"input"}


def test_text_stages_read_the_last_assistant_message():
    env = words("inline", "inline")
    messages = [
        {"role": "user", "content": "Say yes"},
        {"role": "assistant", "content": [{"type": "text", "text": "no"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
        {"role": "tool", "content": "no"},
    ]

    assert env.verify("Say yes", messages) == 1.0
    assert env.verify("Say yes", Trajectory(messages)) == 1.0
    assert env.verify("Say yes", []) == 0.0


def test_loading_names_the_stage_that_would_make_a_missing_artifact():
    with pytest.raises(ConfigError, match=r"count .* needs Words.*: move split .* before it"):
        Environment("e", [Slot("count", Count()), Slot("split", Split())])
    with pytest.raises(ConfigError, match="needs Words, which no earlier stage makes"):
        Environment("e", [Slot("count", Count())])


def test_loading_refuses_places_that_cannot_be():
    class Sync(Tame):
        where = "caller"

    class Async(Waits):
        where = "inline"

    class Nowhere(Tame):
        where = "moon"

    class Phaseless(Tame):
        phase = "guess"

    for stage, says in (
        (Sync(), "for async stages"),
        (Nowhere(), "where is one of worker, caller, inline, not 'moon'"),
        (Phaseless(), "phase is one of"),
        (object(), "is not a stage"),
        (Tame, "is a class"),
    ):
        with pytest.raises(ConfigError, match=says):
            Environment("e", [Slot("s", stage)])
    with pytest.raises(ConfigError, match="an inline stage has a plain check"):
        Environment("e", [Slot("s", Waits("inline"))])
    with pytest.raises(ConfigError, match="cannot be timed out"):
        Environment("e", [Slot("s", Tame(), timeout=1)])


def test_a_local_stage_goes_to_its_worker_by_value():
    class Local:
        phase = "diff"

        def check(self, attempt):
            return Outcome(float(attempt.response == "yes"))

    with Environment("e", [Slot("s", Local())]) as env:
        assert env.verify(TASK, "yes") == 1.0


def test_phases_out_of_order_are_a_warning():
    env = Environment("e", [Slot("a", Waits()), Slot("b", Split("inline"))])

    assert "b (parse) is listed after a (judge)" in env.warnings[0]


def test_artifacts_have_types():
    env = words("inline", "inline")
    assert env.evaluate(TASK, "yes").scored
    with pytest.raises(LookupError, match="no Words was made"):
        Attempt(TASK, "x").get(Words)


def test_a_composites_timeout_bounds_its_children_together():
    inner = First([Slot("a", Obeys(), timeout=30), Slot("b", Obeys(), timeout=30)])
    env = Environment("e", [Slot("both", inner, timeout=0.6)])
    with env:
        verdict = env.evaluate(TASK, "sleep")

    assert verdict.value is None
    assert [c.fault.kind for c in verdict.results[0].children] == ["timeout", "timeout"]
