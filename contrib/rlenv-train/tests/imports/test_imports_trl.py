"""``train/trl``: what a reward function of TRL gets, and what its rewards become."""

from __future__ import annotations

import pytest
from rlenv import ConfigError, Environment, Task

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1="}]


def test_a_function_gets_one_row_with_the_columns_of_the_task(files):
    task = Task(
        "1+1=", answer="2", info={"level": 3, "messages": [{"role": "user", "content": "1+1="}]}
    )

    assert files.score("trl", "columns", "2", task) == 1.0


def test_the_answer_has_the_name_that_the_function_knows_and_an_async_one_is_awaited(files):
    options = {"answer": "solution", "scale": [-1, 2]}

    assert files.score("trl", "later", "2", **options) == 1.0
    assert files.score("trl", "later", "3", **options) == 0.0


def test_a_function_of_chats_gets_messages(files):
    task = Task("1+1=", answer="2", info={"messages": CHAT})

    assert files.score("trl", "chat", "2", task, form="chat") == 1.0
    assert (
        files.score("trl", "chat", [{"role": "assistant", "content": "2"}], task, form="chat")
        == 1.0
    )
    assert (
        files.score(
            "trl", "chat", [*CHAT, {"role": "assistant", "content": "3"}], task, form="chat"
        )
        == 0.0
    )


def test_what_it_logs_is_private(files):
    outcome = files.result("trl", "logs").outcome

    assert (outcome.data, outcome.private) == ({}, {"length": 1.0, "gold": ["2"]})


def test_any_list_of_one_number_is_a_reward(files):
    scores = {
        "[True]": 1.0, "(0.5,)": 0.5, "[Fraction(1, 4)]": 0.25, "[Odd(0.5)]": 0.5,
        "Tensor([0.5])": 0.5, "[Tensor([0.5])]": 0.5, "[Scalar()]": 1.0, "(x for x in [0.5])": 0.5,
    }  # fmt: skip
    results = files.returned(*scores)

    assert [result.outcome.score for result in results] == list(scores.values())


def test_a_sum_of_weights_may_be_outside_of_the_scale_by_rounding(files):
    # the next number of float32
    whole = "0.33 + 0.56 + 0.11"
    single = "1 + 2.0**-23"
    assert eval(whole) > 1.0
    results = files.returned(f"[{whole}]", f"[{single}]", "[-1e-17]", "[1.00001]")

    assert [result.outcome and result.outcome.score for result in results] == [1.0, 1.0, 0.0, None]


def test_a_coroutine_of_a_plain_function_is_awaited(files):
    (result,) = files.returned("later(['p'], ['2'], [None])", scale=[-1, 2])

    assert result.outcome.score == 0.0


FAULTS = {
    "[None]": "return 0.0 for a response that you cannot read",
    "[math.nan]": "the reward is nan, not in [0, 1]",
    "[math.inf]": "the reward is inf",
    "[2.0]": "set scale = [lowest, highest]",
    "[-0.1]": "the reward is -0.1",
    "[10 ** 400]": "OverflowError",
    "['1']": "a reward is a number, not '1'",
    "[1j]": "a reward is a number",
    "[[1.0]]": "a reward is a number, not [1.0]",
    "[Tensor([1.0, 1.0])]": "only one element",
    "[Hostile()]": "SystemExit",
    "Hostile()": "KeyboardInterrupt",
    "[]": "one reward is expected for one completion",
    "[1.0, 1.0]": "one reward is expected",
    "endless()": "one reward is expected",
    "Scalar()": "one reward is expected",
    "1.0": "a list of one reward is expected",
    "'1'": "a list of one reward is expected",
    "{0: 1.0}": "a list of one reward is expected",
    "{1.0}": "a list of one reward is expected",
    "None": "a list of one reward is expected",
}


def test_what_is_no_reward_is_a_fault_and_no_zero(files):
    results = files.returned(*FAULTS)

    assert [
        (result.fault.kind in ("contract", "error"), says in result.fault.message)
        for result, says in zip(results, FAULTS.values(), strict=True)
    ] == [(True, True)] * len(FAULTS)


def test_none_abstains_where_that_is_declared_and_nan_does_not(files):
    results = files.returned("[None]", "[math.nan]", may_abstain=True)

    assert [result.fault.kind for result in results] == ["abstained", "contract"]


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("raises", "error"),
        ("exits", "error"),
        ("leaves", "crash"),
        ("sleeps", "timeout"),
        ("spins", "timeout"),
        ("patches", "timeout"),
    ],
)
def test_a_function_that_breaks_or_hangs_leaves_the_response_unscored(files, function, kind):
    assert files.fault("trl", function, timeout=1)[0] == kind


@pytest.mark.parametrize("function", ["forks", "prints"])
def test_a_function_that_forks_or_prints_is_scored(files, function):
    assert files.score("trl", function) == 1.0


def test_a_response_that_makes_a_function_hang_gets_zero_within_a_budget(files):
    found = files.result("trl", "backtracks", "a" * 25, budget=0.1)

    assert (found.outcome.score, found.outcome.detail[:9]) == (0.0, "undecided")
    assert files.fault("trl", "backtracks", "a" * 60, timeout=1)[0] == "timeout"


def test_a_function_that_needs_what_only_a_trainer_has_is_rejected(files):
    with pytest.raises(ConfigError, match="completion_ids: only a trainer has it"):
        files.env("trl", "needs_ids")


def test_a_task_without_a_column_that_the_function_requires_is_rejected(files):
    table = {
        "name": "x",
        "stage": [files.stage("trl", "columns")],
        "task": [{"prompt": "p", "info": {"a": 1}}],
    }
    with pytest.raises(ConfigError, match=r"no column level; it has \['a'\]"):
        files.load(table)


@pytest.mark.parametrize("scale", [[1, 0], [0, 0], [0, 1, 2], ["a", 1], [-1e308, 1e308]])
def test_a_scale_is_two_ordered_numbers(files, scale):
    with pytest.raises(ConfigError, match="scale"):
        files.env("trl", "sound", scale=scale)


def test_a_file_that_changes_is_another_verifier(files):
    with files.env("trl", "sound") as env:
        before = env.fingerprint
    with files.env("trl", "sound") as env:
        assert env.fingerprint == before
    with (files.folder / "trl.py").open("a") as file:
        file.write("\n")
    with files.env("trl", "sound") as env:
        assert env.fingerprint != before


def test_an_env_toml_from_a_stranger_names_no_function(files):
    with pytest.raises(ConfigError, match="code=False"):
        files.env("trl", "sound", code=False)


def test_a_function_sees_no_secrets_unless_they_are_listed(files, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "value")
    sees = "[float('SOME_TOKEN' in os.environ)]"

    assert files.returned(sees)[0].outcome.score == 0.0
    assert files.returned(sees, env=["SOME_TOKEN"])[0].outcome.score == 1.0


def test_the_error_for_a_function_of_trl_names_a_stage_that_takes_it(files):
    for kind, function in {"trl": "sound", "verl": "sound"}.items():
        use = f"./{kind}.py:{function}"
        with pytest.raises(ConfigError) as caught:
            files.load({"name": "x", "stage": [{"use": use}]})
        typed = str(caught.value).partition("in an env.toml, ")[2].replace(" and ", "\n")
        with files.load({"name": "x", "stage": [files.toml(typed)]}) as env:
            assert env.verify(Task("1+1=", answer="2"), "2") == 1.0


async def beside(response):
    return 1.0


def test_an_async_function_works_next_to_an_async_stage_and_after_one_that_exits(files):
    with files.load({"name": "x", "stage": [files.stage("trl", "async_exits")]}) as alone:
        verifiers = [alone.slots[0].stage, [beside, alone.slots[0].stage]]
    for verifier in verifiers:
        with Environment("x", verifier) as env:
            rows = [(Task("1+1="), text) for text in ("2", "exit", "2", "interrupt", "2")]
            values = [verdict.value for verdict in env.evaluate_many(rows)]

        assert values == [1.0, None, 1.0, None, 1.0]
