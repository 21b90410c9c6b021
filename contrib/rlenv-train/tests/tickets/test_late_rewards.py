"""``LateRewards`` on real tickets."""

from __future__ import annotations

import time

import pytest
import rlenv
from rlenv import ConfigError, Environment, Task
from rlenv_train.tickets import LateRewards, Tickets


@rlenv.stage(where="inline")
def right(response, answer):
    return response == answer


@pytest.fixture
def env():
    with Environment("sums", right, [Task("3?", answer="3", id="3")]) as made:
        yield made


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tickets.sqlite"


def test_late_rewards_join_their_rollouts_and_the_old_are_dropped(env, path, caplog):
    late = LateRewards(max_age=2)
    with Tickets(env, path) as tickets:
        steps = [tickets.submit("3?", text, outside=True) for text in "abcd"]
        for step, ticket in enumerate(steps):
            late.add(ticket, f"rollout {step}", now=step)
        assert late.ready(now=2) == []
        tickets.resolve(steps[1].id, 0.5)
        tickets.resolve(steps[3].id, 1.0)
        steps[2].cancel()
        found = late.ready(now=3)

        assert [(rollout, verdict.value) for rollout, verdict in found] == [
            ("rollout 1", 0.5),
            ("rollout 3", 1.0),
        ]
        assert (late.dropped, late.lost, len(late)) == (1, 1, 0)
        assert steps[0].poll() == "cancelled"
        assert late.ready(now=3) == []
    assert "1 rollouts were too old" in caplog.text


def test_late_rewards_in_seconds(env, path):
    late = LateRewards(max_age=3600)
    with Tickets(env, path) as tickets:
        late.add(tickets.submit("3?", "a", outside=True), "old", now=time.time() - 4000)
        late.add(tickets.submit("3?", "b", outside=True), "new")
        assert (late.ready(), late.dropped, len(late)) == ([], 1, 1)


def test_an_outcome_of_days_joins_its_rollout_after_a_restart(env, path):
    # a simulated clock
    day = 86_400.0
    now = 1e9
    with Tickets(env, path) as tickets:
        checkpoint = {tickets.submit("3?", text, outside=True).id: text for text in "ab"}
    late = LateRewards(max_age=3 * day)
    with Tickets(env, path) as tickets:
        for name, rollout in checkpoint.items():
            late.add(tickets.get(name), rollout, now=now)
        assert late.ready(now=now + 2 * day) == []
        tickets.resolve(next(iter(checkpoint)), 0.25)
        [(rollout, verdict)] = late.ready(now=now + 3 * day)
        assert (rollout, verdict.value, late.dropped) == ("a", 0.25, 0)
        assert (late.ready(now=now + 4 * day), late.dropped) == ([], 1)


@pytest.mark.parametrize("age", [float("nan"), -1])
def test_an_age_that_makes_no_sense_is_an_error(age):
    with pytest.raises(ConfigError, match="max_age"):
        LateRewards(age)
