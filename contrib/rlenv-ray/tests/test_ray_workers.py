"""``RayWorkers`` on a real cluster of two nodes on this machine."""

from __future__ import annotations

import logging
import os
import random
import sys
import time
from pathlib import Path

import pytest
import rlenv
from rlenv import ConfigError, Environment, Task, Trajectory
from rlenv_ray import RayWorkers

ray = pytest.importorskip("ray", reason="Ray is not installed here: `make test-trainers` runs this")
HERE = Path(__file__).parent / "helpers"
TASKS = [Task(f"{n}?", answer=str(n), id=str(n)) for n in range(50)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two nodes; the second may be lost and replaced."""
    from ray.cluster_utils import Cluster

    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(HERE)
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))  # where Ray writes a token
    node = {"num_cpus": 1, "object_store_memory": 80_000_000}
    made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    made.second = made.add_node(**node)
    made.more = lambda: made.add_node(**node)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    yield made
    ray.shutdown()
    made.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def shared(cluster):
    with RayWorkers(timeout=60) as workers:
        yield workers


@pytest.fixture
def on(shared):
    """Actors that the tests share."""
    return shared


@pytest.fixture
def alone(cluster, shared):
    """No shared actors, whose CPUs the test takes."""
    shared.close()


def stage(name):
    import ray_stages

    return getattr(ray_stages, name)


def rows(count, wrong=7):
    return [(TASKS[n % 50], "no" if n % wrong == 0 else str(n % 50)) for n in range(count)]


def test_verdicts_are_those_of_this_process_in_order(on):
    with Environment("sums", [stage("worker")], TASKS) as env:
        here = list(env.evaluate_many(rows(200)))
        there = list(env.evaluate_many(rows(200), on=on))

    assert [v.value for v in there] == [v.value for v in here]
    assert {v.fingerprint for v in there} == {env.fingerprint}
    assert there[1].results[0].outcome.private == {"gold": "1"}
    pids = {v.results[0].outcome.detail for v in there}
    assert f"pid {os.getpid()}" not in pids


def test_rows_that_make_no_sense_are_unscored_and_the_others_are_not(on):
    with Environment("sums", [stage("right")], TASKS) as env:
        found = list(
            env.evaluate_many(
                [("3?", "3"), ("what?", "3"), ("4", None, "4"), (TASKS[5], 5), 7], on=on
            )
        )

    assert [v.value for v in found] == [1.0, None, 1.0, None, None]
    assert {v.fault.kind for v in found if v.fault} == {"input"}


def test_a_trajectory_and_a_lone_surrogate_travel(on):
    with Environment("sums", [stage("right")], TASKS) as env:
        messages = Trajectory([{"role": "assistant", "content": "3"}])
        found = list(env.evaluate_many([("3?", messages), ("4?", "\ud800"), ("5?", "5\0")], on=on))

    assert [v.value for v in found] == [1.0, 0.0, 0.0]


def test_the_artifacts_of_a_trajectory_travel(on):
    from ray_stages import Final

    said = [{"role": "assistant", "content": "done"}]
    ends = [Trajectory(said, artifacts=(Final(status),)) for status in ("closed", "open")]
    with Environment("tickets", [stage("closed")], TASKS) as env:
        found = [v.value for v in env.evaluate_many([("3?", end) for end in (*ends, said)], on=on)]

    assert found == [1.0, 0.0, 0.0]


def test_what_main_or_a_function_defines_travels_by_value(on):
    wanted = "yes"
    with Environment("local", lambda response: response == wanted, [Task("a", id="a")]) as env:
        assert [v.value for v in env.evaluate_many([("a", "yes"), ("a", "no")], on=on)] == [1, 0]


def test_what_cannot_travel_is_named_before_anything_is_sent(on):
    lock = __import__("threading").Lock()

    @rlenv.stage(where="inline")
    def held(response):
        return bool(lock) and response == "a"

    env = Environment("held", held, [Task("a", id="a")])
    with env, pytest.raises(ConfigError, match=r"lock"):
        list(env.evaluate_many([("a", "a")], on=on))

    blob = bytes(11_000_000)

    @rlenv.stage(where="inline")
    def large(response):
        return blob[0] == 0 and response == "a"

    env = Environment("large", large, [Task("a", id="a")])
    with env, pytest.raises(ConfigError, match=r"blob \(11,000,0\d\d bytes\)"):
        list(env.evaluate_many([("a", "a")], on=on))


def test_actors_load_by_name_path_or_mapping(alone, tmp_path):
    table = {"name": "equal", "stage": [{"use": "core/equal"}]}
    path = tmp_path / "env.toml"
    path.write_text('name = "equal"\n[[stage]]\nuse = "core/equal"\n')
    for source in (table, path, str(path)):
        with Environment.from_file(path) as env, RayWorkers(environment=source, timeout=60) as own:
            assert [v.value for v in env.evaluate_many([(Task("a", "b"), "b")], on=own)] == [1.0]


def test_an_actor_with_another_environment_is_an_error_that_names_both(alone):
    mine = Environment.from_dict({"name": "equal", "stage": [{"use": "core/equal"}]})
    other = {"name": "equal", "pass_mark": 0.5, "stage": [{"use": "core/equal"}]}
    with mine, RayWorkers(environment=other, timeout=60) as own:
        with pytest.raises(ConfigError, match=r"the fingerprint is .* there, and .* here") as error:
            list(mine.evaluate_many([(Task("a", "b"), "b")], on=own))

        assert mine.fingerprint in str(error.value)


def test_rows_are_read_as_they_are_needed(on):
    read = []

    def endless():
        while True:
            read.append(1)
            yield TASKS[1], "1"

    with Environment("sums", [stage("right")], TASKS) as env:
        found = env.evaluate_many(endless(), on=on)
        assert [next(found).value for _ in range(100)] == [1.0] * 100
        found.close()

    # batches: beyond the oldest without a verdict, and of the 100
    ahead = 16 * 2 + 5
    taken = 4
    assert len(read) <= (ahead + taken) * 32


def test_rows_that_raise_do_not_cost_the_verdicts_on_those_before(on):
    def broken():
        yield from rows(300)
        raise RuntimeError("the file ends in the middle")

    with Environment("sums", [stage("right")], TASKS) as env:
        verdicts = env.evaluate_many(broken(), on=on)
        found = [next(verdicts).value for _ in range(300)]
        with pytest.raises(RuntimeError, match="in the middle"):
            next(verdicts)

    assert found == [float(n % 7 != 0) for n in range(300)]


def test_an_iterator_that_outlives_the_actors_is_an_error_and_starts_none(alone):
    with Environment("sums", [stage("slow")], TASKS) as env:
        with RayWorkers(timeout=60) as own:
            found = env.evaluate_many(rows(1000), on=own)
            next(found)
        with pytest.raises(rlenv.RlenvError, match="closed before the last verdict"):
            list(found)


def test_actors_keep_few_of_the_environments_that_nobody_uses(on):
    alive = {}
    for version in range(20):
        with Environment("evolving", [stage("Versioned")(version)], TASKS) as env:
            for verdict in env.evaluate_many(rows(128), on=on):
                found = verdict.results[0].outcome.data
                alive[found["pid"]] = found["alive"]

    assert os.getpid() not in alive
    assert max(alive.values()) <= 8


def test_what_is_left_early_is_cancelled_in_the_actors(on, tmp_path):
    notes = tmp_path / "notes"
    counts = []
    with Environment("noted", [stage("noted")]) as env:
        found = env.evaluate_as_completed([(Task("a", answer=str(notes)), "b")] * 500, on=on)
        next(found)
        found.close()
        while len(set(counts[-3:])) != 1 or len(counts) < 3:
            counts.append(len(notes.read_text()))
            time.sleep(1)

    # Ray asks a task that it has just sent only two seconds later; each actor had a batch and the
    # next.
    assert counts[-1] < 4 * 32 - 16


def test_a_response_that_kills_its_actor_is_unscored_and_the_others_are_not(on):
    given = [("die" if n == 21 else "fine") for n in range(64)]
    with Environment("deadly", [stage("deadly")], [Task("a", id="a")]) as env:
        found = list(env.evaluate_many([("a", text) for text in given], on=on))

    assert [n for n, v in enumerate(found) if v.value is None] == [21]
    assert (found[21].fault.kind, found[21].fault.transient) == ("crash", True)
    assert {v.value for n, v in enumerate(found) if n != 21} == {1.0}


class Unwilling:
    def __reduce__(self):
        raise RuntimeError("not to be pickled")


class Foreign:
    """Unpickling it fails: nobody has this module."""

    def __reduce__(self):
        return __import__, ("a_module_that_nobody_has",)


@pytest.mark.parametrize("answer", [Unwilling(), Foreign()])
def test_a_task_that_cannot_travel_is_unscored_and_the_others_are_not(on, answer):
    tasks = [Task("a", answer="a", id="a"), Task("b", answer=answer, id="b")]
    with Environment("sums", [stage("right")]) as env:
        found = list(env.evaluate_many([(tasks[n == 5], "a") for n in range(12)], on=on))

    assert [n for n, v in enumerate(found) if v.value is None] == [5]
    assert found[5].fault.kind == "contract"
    assert {v.value for n, v in enumerate(found) if n != 5} == {1.0}


@pytest.mark.parametrize("seed", [random.randrange(10_000) for _ in range(3)])
def test_a_node_killed_at_any_time_loses_no_verdict(cluster, alone, seed):
    print("seed", seed)
    chance = random.Random(seed)
    count = 1200
    kill = chance.randrange(1, 1100)
    with Environment("sums", [stage("slow")], TASKS) as env, RayWorkers(timeout=60) as own:
        found = []
        for verdict in env.evaluate_many(rows(count), on=own):
            found.append(verdict)
            if len(found) == kill:
                cluster.remove_node(cluster.second, allow_graceful=False)
                cluster.second = cluster.more()

    assert [v.value for v in found] == [float(n % 7 != 0) for n in range(count)]


def test_a_secret_that_differs_is_an_error_and_one_that_no_stage_uses_is_not(on, monkeypatch):
    with Environment("drawn", [stage("drawn")], TASKS) as env:
        here = [v.value for v in env.evaluate_many(rows(40))]
        assert [v.value for v in env.evaluate_many(rows(40), on=on)] == here
    monkeypatch.setenv("RLENV_SECRET", "another that the nodes do not have")
    with Environment("right", [stage("right")], TASKS) as env:
        assert [v.value for v in env.evaluate_many(rows(3), on=on)] == [0.0, 1.0, 1.0]
    env = Environment("drawn", [stage("drawn")], TASKS)
    with env, pytest.raises(ConfigError, match="RLENV_SECRET") as error:
        list(env.evaluate_many([(TASKS[1], "1")], on=on))
    assert "another that" not in str(error.value)


def test_more_actors_than_cpus_do_not_hold_up_the_others(alone):
    env = Environment("sums", [stage("right")], TASKS)
    with env, RayWorkers(actors=5, timeout=60) as own:
        assert len(list(env.evaluate_many(rows(100), on=own))) == 100


def test_actors_that_nobody_can_start_are_an_error_in_time(alone):
    with (
        Environment("sums", [stage("right")], TASKS) as env,
        RayWorkers(cpus=9, timeout=1) as own,
        pytest.raises(rlenv.RlenvError, match=r"ray status"),
    ):
        list(env.evaluate_many(rows(3), on=own))


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"actors": 0}, "actors"),
        ({"batch": 1.5}, "batch"),
        ({"cpus": True}, "cpus"),
        ({"timeout": float("nan")}, "timeout"),
        ({"environment": 3}, "environment"),
    ],
)
def test_an_argument_that_makes_no_sense_is_an_error(given, what):
    with pytest.raises(ConfigError, match=what):
        RayWorkers(**given)
