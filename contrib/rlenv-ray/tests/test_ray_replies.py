"""What an actor answers gives no reward unless it is a verdict, and one that differs from the
caller is named.
"""

from __future__ import annotations

import json
import pickle

import pytest
from attrs import evolve, frozen
from rlenv import Attempt, Environment, Task, Trajectory
from rlenv_cli.scores import verdict_to_dict
from rlenv_ray import RayWorkers, on, replies
from rlenv_ray.actor import EnvironmentActor
from rlenv_ray.rows import pickled_rows, rows_of
from rlenv_ray.shipment import Shipment, differences

EQUAL = {"name": "equal", "stage": [{"use": "core/equal"}]}
ROWS = [(Task("a", answer="b"), "b"), (Task("a", answer="b"), "c")]


@frozen
class Own(Task):
    pass


@pytest.fixture
def env():
    with Environment.from_dict(EQUAL) as made:
        yield made


@pytest.fixture
def actor():
    """One whose environments end with the test, so that no later one shares their workers."""
    made = EnvironmentActor(1)
    yield made
    for each in made._environments.values():
        each.close()


def verdict(env, **changes):
    return verdict_to_dict(env.evaluate(*ROWS[0])) | changes


def test_verdicts_come_back_with_the_fingerprint_of_the_caller(env):
    found = replies.verdicts(
        replies.dumps({"verdicts": [verdict(env, fingerprint="forged")]}), 1, env.fingerprint
    )

    assert found == [env.evaluate(*ROWS[0])]


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\x80\x05cos\nabort\n.",
        "{}",
        None,
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"verdicts": 1}',
        b'{"verdicts": []}',
        b'{"verdicts": [null]}',
        b'{"error": {"a": 1}}',
        b"\xff",
    ],
    ids=range(12),
)
def test_what_is_no_answer_is_an_error_and_nothing_else(reply):
    with pytest.raises(ValueError, match=r"."):
        replies.verdicts(reply, 1, "")
    with pytest.raises(ValueError, match=r"."):
        replies.problems(reply)


@pytest.mark.parametrize(
    "changes", [{"value": 1e9}, {"value": "1"}, {"value": True}, {"results": 3}, {"raw": "x"}]
)
def test_a_reward_out_of_range_is_an_error(env, changes):
    whole = json.dumps({"verdicts": [verdict(env, **changes)]}).encode()

    with pytest.raises(ValueError, match=r"record|score"):
        replies.verdicts(whole, 1, env.fingerprint)
    with pytest.raises(ValueError, match="2 verdicts"):
        replies.verdicts(replies.dumps({"verdicts": [verdict(env)]}), 2, env.fingerprint)


def test_an_actor_answers_with_verdicts_or_says_what_is_wrong(env, actor):
    sent = Shipment.of(env)
    assert replies.problems(actor.open(sent, "me")) == []
    rows = pickled_rows(Attempt(*row) for row in ROWS)
    found = replies.verdicts(actor.evaluate(sent.key, rows), 2, env.fingerprint)
    assert [each.value for each in found] == [1.0, 0.0]
    for key, blob in ((sent.key, b"nonsense"), ("unknown", rows)):
        with pytest.raises(ValueError, match="Error"):
            replies.verdicts(actor.evaluate(key, blob), 2, env.fingerprint)
    broken = evolve(sent, what=pickle.dumps("no-such-environment"), key="other")
    assert "no environment 'no-such-environment'" in replies.problems(actor.open(broken, "me"))[0]


def test_an_actor_closes_what_was_opened_longest_ago_and_nothing_that_is_used(actor, monkeypatch):
    closed = []
    sent = []
    close = Environment.close
    for at in range(12):
        with Environment.from_dict({**EQUAL, "pass_mark": (at + 1) / 12}) as env:
            sent.append(Shipment.of(env))

    def noting(env):
        closed.append(round(env.pass_mark * 12) - 1)
        close(env)

    monkeypatch.setattr(Environment, "close", noting)
    rows = pickled_rows(Attempt(*row) for row in ROWS)

    def scored(at):
        return b"error" not in actor.evaluate(sent[at].key, rows)

    for at, each in enumerate(sent):
        actor.open(each, "one")
        actor.open(each, "two")
        actor.leave(each.key, "two")
        if at != 1:
            actor.leave(each.key, "one")
            actor.leave(each.key, "one")  # as a call that was cancelled before it began

    assert closed == [0, 2, 3, 4]
    assert [at for at in range(12) if scored(at)] == [1, *range(5, 12)]
    actor.leave(sent[1].key, "one")
    actor.open(sent[0], "one")
    assert closed == [0, 2, 3, 4, 1]
    for each in sent[2:5]:  # all eight may be used, and more
        actor.open(each, "one")
    for each in sent:
        actor.open(each, "two")
    assert all(map(scored, range(12)))


def test_a_task_of_a_class_of_its_own_stays_one():
    (row,) = rows_of(pickled_rows([Attempt(Own("a", answer="b"), "c")]))

    assert row == (Own("a", answer="b"), "c")
    assert type(row[0]) is Own


def test_the_artifacts_of_a_trajectory_travel_with_it():
    said = Trajectory([{"role": "assistant", "content": "c"}])
    attempts = [Attempt(ROWS[0][0], "c", said, {str: "state"}), Attempt(ROWS[0][0], "c", said)]

    (_, with_state), (_, without) = rows_of(pickled_rows(attempts))
    assert with_state == evolve(said, artifacts=("state",))
    assert without == said


def test_another_version_and_other_content_are_named_on_both_sides(env):
    sent = Shipment.of(env)
    (version, content) = sent.code["rlenv"]
    assert differences(sent, env) == []

    for code, here in (((("9.9", content)), "9.9"), ((version, "0" * 64), "00000000")):
        (line,) = differences(evolve(sent, code={**sent.code, "rlenv": code}), env)
        assert line.startswith(f"rlenv is {version} ({content[:8]}) there, and ")
        assert here in line


def test_an_environment_that_actors_load_must_have_the_same_fingerprint(env):
    with Environment.from_dict({**EQUAL, "pass_mark": 0.5}) as other:
        (line,) = differences(Shipment.of(env, EQUAL), other)

    assert env.fingerprint in line
    assert other.fingerprint in line


def test_what_is_shipped_keeps_its_settings():
    from rlenv_ray.shipment import opened

    table = {**EQUAL, "pass_mark": 0.25, "response": {"thinking": "closed"}}
    with Environment.from_dict(table, memory_mb=512) as env, opened(Shipment.of(env).what) as there:
        assert (there.pass_mark, there.thinking, there.memory_mb, there.name) == (
            0.25,
            "closed",
            512,
            "equal",
        )
        assert there.fingerprint == env.fingerprint


@pytest.mark.parametrize(
    ("where", "address"),
    [
        ("ray", None),
        ("ray://head:10001", "ray://head:10001"),
        ("ray:10.0.0.1:6379", "10.0.0.1:6379"),
        ("ray:auto", "auto"),
    ],
)
def test_the_text_after_on_is_an_address(where, address):
    assert on(where)._asked[0] == address
    assert isinstance(on(where), RayWorkers)
