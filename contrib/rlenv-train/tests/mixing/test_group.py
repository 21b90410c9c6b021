"""`EnvironmentGroup`: routing, sampling, the scale of rewards, and the report of diversity."""

import asyncio
import math
from collections import Counter
from itertools import islice

import pytest
import rlenv
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Environment, Task, UnknownTask, VerifierFault
from rlenv_train import EnvironmentGroup, Scale, trl_reward


@rlenv.stage(where="inline")
def equal(response, answer):
    return response == answer


@rlenv.stage(where="inline")
def half(response, answer, info):
    if response == "break":
        raise RuntimeError("broken")
    assert info.get("environment") in (None, "its own")
    return 0.5 if response == answer else 0.0


@rlenv.stage(where="inline")
def longest(response):
    return min(len(response) / 10, 1.0)


def tasks(kind, count):
    return [Task(f"{kind} {n}?", answer=str(n), id=f"t{n}") for n in range(count)]


@pytest.fixture
def members():
    with Environment("a", equal, tasks("A", 6)) as a, Environment("b", half, tasks("B", 3)) as b:
        yield {"a": a, "b": b}


@pytest.fixture
def group(members):
    return EnvironmentGroup(members)


def test_each_task_says_which_environment_verifies_it(group):
    assert [(task.id, task.info["environment"]) for task in group.tasks[5:7]] == [
        ("a/t5", "a"),
        ("b/t0", "b"),
    ]
    assert [group.verify(task, "1") for task in group.tasks] == [0, 1, 0, 0, 0, 0, 0, 0.5, 0]


def test_a_verdict_is_that_of_the_member_alone(group, members):
    for task in group.tasks:
        name, _, own = task.id.partition("/")
        alone = members[name].evaluate(members[name].tasks.by_id(own), "2")
        assert group.evaluate(task, "2") == alone
        assert asyncio.run(group.aevaluate(task, "2")) == alone


def test_all_ways_of_asking_give_one_verdict(group):
    task = group.tasks[7]

    assert (
        group(task, "1")
        == group.verify(task.prompt, "1")
        == asyncio.run(group.averify(task, "1"))
        == 0.5
    )
    assert [v.value for v in group.evaluate_group(task, ["1", "2"])] == [0.5, 0.0]
    rows = [(task, "1"), ("b/t1", None, "1"), ("b/t1", "B 1?", "1"), ("B 1?", "1")]
    assert [v.value for v in group.evaluate_many(rows)] == [0.5] * 4


def test_verdicts_of_many_come_in_the_order_of_the_rows(group):
    wanted = list(islice(group.sample(), 10_000))
    verdicts = group.evaluate_many((task, task.answer) for task in wanted)

    assert [v.value for v in verdicts] == [
        1.0 if t.info["environment"] == "a" else 0.5 for t in wanted
    ]


def test_a_row_that_makes_no_sense_is_unscored_by_itself(group):
    rows = [
        ("A 1?", "1"),
        ("nothing", "1"),
        (Task("x"), "1"),
        ("a/t9", None, "1"),
        ("a/t1", "B 1?", "1"),
        7,
        ("B 1?", 5),
        (["a/t1"], None, "x"),
        ("B 1?", "break"),
    ]
    verdicts = list(group.evaluate_many(rows))

    assert [v.value for v in verdicts] == [1.0, *[None] * 8]
    assert [v.fault.kind for v in verdicts[1:]] == ["input"] * 7 + ["error"]


def test_many_rows_are_read_as_they_are_needed(group):
    read = []
    rows = ((read.append(n), (group.tasks[0], "0"))[1] for n in range(100_000))
    next(group.evaluate_many(rows))

    assert len(read) <= 4096


def test_an_unscored_response_is_not_a_zero(group):
    with pytest.raises(VerifierFault):
        group.verify(group.tasks[7], "break")


def test_a_task_that_a_trainer_built_is_routed_by_its_info(group):
    task = Task("B 1?", answer="1", info={"environment": "b"})
    assert group.verify(task, "1") == 0.5
    for info in ({}, {"environment": "c"}, {"environment": ["b"]}):
        with pytest.raises(UnknownTask, match="not one of a, b"):
            group.verify(Task("B 1?", answer="1", info=info), "1")


def test_an_id_does_not_bring_the_answer_of_another_prompt(group):
    assert group.verify(Task("B 1?", answer="5", id="b/t0", info={"environment": "b"}), "5") == 0.5
    assert group.verify(Task("A 1?", answer="1", id="b/t1", info={"environment": "a"}), "1") == 1.0


def test_a_member_s_own_info_is_not_lost():
    own = Task("Q?", answer="1", id="t", info={"environment": "its own"})
    with Environment("x", half, [own]) as env:
        group = EnvironmentGroup({"x": env})
        assert group.tasks[0].info["environment"] == "x"
        assert group.verify(group.tasks[0], "1") == 0.5


def test_one_prompt_of_two_members_needs_a_task(members):
    with Environment("c", equal, tasks("A", 1)) as c:
        group = EnvironmentGroup({**members, "c": c})
        with pytest.raises(UnknownTask, match="2 tasks share the prompt"):
            group.verify("A 0?", "0")
        assert group.verify(group.tasks[-1], "0") == 1.0


def test_the_fingerprint_names_members_and_not_ratios(members, group):
    assert EnvironmentGroup(members, {"a": 9, "b": 1}).fingerprint == group.fingerprint
    assert EnvironmentGroup({"a": members["b"], "b": members["a"]}).fingerprint != group.fingerprint
    assert EnvironmentGroup(dict(reversed(members.items()))).fingerprint == group.fingerprint


@pytest.mark.parametrize(
    "ratios",
    [
        {"a": 1},
        {"a": 1, "b": -1},
        {"a": 1, "b": math.nan},
        {"a": math.inf, "b": 1},
        {"a": 1, "b": 1, "c": 1},
    ],
)
def test_ratios_that_make_no_sense_are_errors(members, ratios):
    with pytest.raises(ConfigError, match="ratios"):
        EnvironmentGroup(members, ratios)


def test_names_that_make_no_sense_are_errors(members):
    with pytest.raises(ConfigError, match="without '/'"):
        EnvironmentGroup({"a/b": members["a"]})
    with pytest.raises(ConfigError):
        EnvironmentGroup({})


def test_a_seed_decides_the_order_of_samples(group):
    def drawn(seed):
        return [task.id for task in islice(group.sample(seed), 40)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_each_task_comes_once_before_any_comes_again(group):
    ids = [task.id for task in islice(group.sample(3), 600) if task.info["environment"] == "a"]

    assert all(len(set(ids[n : n + 6])) == 6 for n in range(0, len(ids) - 6, 6))


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=6), st.integers(1, 500))
def test_counts_follow_the_ratios_at_every_length(ratios, length):
    names = [f"e{n}" for n in range(len(ratios))]
    envs = {name: Environment(name, equal, tasks(name, 2)) for name in names}
    group = EnvironmentGroup(envs, dict(zip(names, ratios, strict=True)))
    counts = Counter(task.info["environment"] for task in islice(group.sample(), length))

    for name, ratio in zip(names, ratios, strict=True):
        assert abs(counts[name] - length * ratio / sum(ratios)) < len(names)


def test_an_environment_of_ratio_0_or_without_tasks_is_never_sampled(members):
    with Environment("c", equal) as c:
        group = EnvironmentGroup({**members, "c": c}, {"a": 1, "b": 0, "c": 5})

        assert {task.info["environment"] for task in islice(group.sample(), 50)} == {"a"}
        assert list(EnvironmentGroup({"c": c}).sample()) == []


@pytest.fixture
def split():
    own = [
        Task(f"{n}?", answer=str(n), id=f"t{n}", split="test" if n % 3 else "train")
        for n in range(9)
    ]
    with Environment("split", equal, own) as a, Environment("held-out", equal, own[1:3]) as b:
        yield EnvironmentGroup({"a": a, "b": b})


def test_samples_are_of_the_training_split_unless_another_is_named(split):
    def drawn(**options):
        return Counter(
            (t.split, t.info["environment"]) for t in islice(split.sample(**options), 90)
        )

    assert drawn() == {("train", "a"): 90}  # the other environment has only held-out tasks
    assert drawn(split="test").keys() == {("test", "a"), ("test", "b")}
    assert {name for name, _ in drawn(split=None)} == {"train", "test"}


def test_a_split_that_no_task_has_is_an_error_that_names_those_there_are(split):
    with pytest.raises(ConfigError, match="no task has the split 'tset'; did you mean \"test\""):
        split.sample(split="tset")
    with pytest.raises(ConfigError, match=r"no task has the split 'train'.*split=None"):
        EnvironmentGroup({"b": split.environments["b"]}).sample()


def test_rewards_are_normalized_by_environment(group):
    chosen = [*group.tasks[:2], *group.tasks[6:9]]
    found = group.normalize(chosen, [1.0, 0.0, 0.5, 0.0, None])

    assert found == [1.0, -1.0, 1.0, -1.0, None]


def test_a_single_reward_and_rewards_without_variance_become_0(group):
    assert group.normalize([group.tasks[0], group.tasks[6], group.tasks[7]], [0.3, 0.2, 0.2]) == [
        0.0,
        0.0,
        0.0,
    ]
    assert group.normalize([group.tasks[0]], [None]) == [None]
    assert Scale.of([0.1] * 3 + [0.1 + 1e-17]).deviation == 1.0


def test_scales_that_were_measured_once_do_not_depend_on_the_batch(group):
    scales = group.scales(group.tasks[:4], [1.0, 0.0, 1.0, None])
    one = group.normalize([group.tasks[5]], [1.0], scales)

    assert one == group.normalize([group.tasks[0], group.tasks[5]], [0.0, 1.0], scales)[1:]
    assert scales["a"].count == 3
    with pytest.raises(ConfigError, match="nothing was measured for \\['b'\\]"):
        group.normalize([group.tasks[7]], [1.0], scales)


@pytest.mark.parametrize("reward", [math.nan, math.inf, -0.1, 1.5])
def test_a_reward_out_of_range_has_no_scale(group, reward):
    with pytest.raises(ValueError, match="in \\[0, 1\\]"):
        group.normalize([group.tasks[0]], [reward])


def test_the_report_counts_archetypes_families_and_duplicates():
    first = [
        Task("What is 1 + 2?", answer="3"),
        Task("What is 30 + 4.5?", answer="34.5"),
        Task("what  is 1 + 2?", answer="3 "),
    ]
    second = [
        Task("What is 1 + 2?", answer="3"),
        Task("x", info={"family": "f"}),
        Task("y", info={"family": "f"}),
    ]
    config = {
        "name": "s",
        "stage": [{"use": "core/any", "stage": [{"use": "math/equal"}, {"use": "core/equal"}]}],
    }
    with Environment.from_dict(config) as verifier, Environment("f", longest, second) as f:
        m = Environment("m", verifier.root, first)
        report = EnvironmentGroup({"sums": m, "rest": f}, {"sums": 3, "rest": 1}).diversity()

    sums, rest = report.members
    assert (sums.archetypes, rest.archetypes) == (("core", "math"), ("function",))
    assert (sums.tasks, sums.families, sums.duplicates, sums.shared, sums.share) == (
        3,
        1,
        1,
        2,
        0.75,
    )
    assert (rest.families, rest.duplicates, rest.shared) == (2, 0, 1)
    table = str(report).splitlines()
    assert table[0].split() == [
        "name",
        "archetypes",
        "share",
        "tasks",
        "families",
        "duplicates",
        "shared",
    ]
    assert table[1].split() == ["sums", "core,", "math", "0.75", "3", "1", "1", "2"]
    assert max(map(len, table)) <= 80


def test_a_group_is_an_environment_for_a_trainer(group):
    ids = ["a/t1", "b/t1", "b/t1"]
    reward = trl_reward(group)
    prompts = [group.tasks.by_id(name).prompt for name in ids]

    assert asyncio.run(reward(prompts=prompts, completions=["1", "1", "break"], id=ids)) == [
        1.0,
        0.5,
        None,
    ]


def test_stages_that_compare_are_named_with_their_environment(members):
    class Compare:
        where = "inline"

        def check_group(self, attempts):
            return [rlenv.Outcome(float(at == 0)) for at, _ in enumerate(attempts)]

    with Environment("c", Compare(), tasks("C", 1)) as c:
        group = EnvironmentGroup({**members, "c": c})

        assert group.group_only == ("c/compare",)
        assert [v.value for v in group.evaluate_group("C 0?", ["x", "y"])] == [1.0, 0.0]


def test_an_id_of_another_environment_does_not_bring_its_answer(group):
    task = Task("A 1?", answer="7", id="a/t1", info={"environment": "b"})

    assert group.verify(task, "7") == 0.5


def test_a_row_that_makes_no_sense_keeps_its_place_in_a_long_stream(group):
    rows = [("A 1?", "1")] * 9000
    rows[100] = rows[5000] = rows[8999] = ("nothing", "1")
    values = [verdict.value for verdict in group.evaluate_many(rows)]

    assert [at for at, value in enumerate(values) if value is None] == [100, 5000, 8999]


def test_each_round_has_an_order_of_its_own(members):
    ids = [task.id for task in islice(EnvironmentGroup({"a": members["a"]}).sample(), 60)]

    assert len({tuple(ids[n : n + 6]) for n in range(0, 60, 6)}) > 1
