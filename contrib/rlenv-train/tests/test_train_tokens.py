"""Sequences to train on, and the rewards of their tokens: laws over calls of any policy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Fault, Outcome, StageResult, Tokens, Trajectory, Verdict
from rlenv_train.tokens import step_scores, token_rewards, token_sequences, with_steps

ids = st.lists(st.integers(0, 3), max_size=4)
calls = st.builds(
    lambda prompt, sampled, told, exact: Tokens(
        prompt, sampled, [-1.0 * at for at in sampled] if told else None, exact
    ),
    ids,
    ids,
    st.booleans(),
    st.sampled_from([True, True, True, False]),
)


@st.composite
def conversations(draw):
    """Calls of which some were given what came before and some were not, as after a changed
    history.
    """
    made = []
    for call in draw(st.lists(calls, min_size=1, max_size=6)):
        before = [*made[-1].prompt_ids, *made[-1].ids] if made and draw(st.booleans()) else []
        made.append(Tokens([*before, *call.prompt_ids], call.ids, call.logprobs, call.exact))
    return made


def talk(calls, extra=0):
    """A trajectory of these calls, behind so many examples of the assistant in its prompt."""
    shots = [{"role": "assistant", "content": "shot"}] * extra
    turns = [
        [{"role": "user", "content": "go"}, {"role": "assistant", "content": "x"}] for _ in calls
    ]
    return Trajectory([*shots, *(message for turn in turns for message in turn)], calls)


def sampled(calls):
    return [at for call in calls if call.exact for at in call.ids]


@given(conversations())
def test_the_mask_is_1_on_exactly_the_sampled_ids_in_their_order(made):
    if not sampled(made):
        with pytest.raises(ConfigError, match="no sampled token ids to train on"):
            token_sequences(talk(made), inexact=True)
        return
    sequences = token_sequences(talk(made), inexact=True)
    credited = [
        at for each in sequences for at, one in zip(each.ids, each.mask, strict=True) if one
    ]

    assert credited == sampled(made)


@given(conversations())
def test_each_sampled_id_was_sampled_behind_what_stands_before_it(made):
    if not sampled(made):
        return
    seen = [(call.prompt_ids, call.ids) for call in made if call.ids and call.exact]
    found = []
    for each in token_sequences(talk(made), inexact=True):
        turns = sorted(each.ends.items())
        for turn, end in turns:
            start = end + 1 - len(made[turn].ids)
            found.append(((*each.prompt_ids, *each.ids[:start]), tuple(each.ids[start : end + 1])))

    assert found == seen


@given(conversations())
def test_the_logprobs_are_those_of_the_sampled_ids(made):
    if not sampled(made):
        return
    for each in token_sequences(talk(made), inexact=True):
        told = all(made[turn].logprobs is not None for turn in each.ends)
        assert (each.logprobs is not None) == told
        if each.logprobs is not None:
            wanted = [-1.0 * at * one for at, one in zip(each.ids, each.mask, strict=True)]
            assert each.logprobs == wanted


def test_calls_join_where_the_next_prompt_begins_with_what_came_before():
    first = Tokens([1, 2], [3], [-0.5])
    second = Tokens([1, 2, 3, 4, 5], [6, 7], [-1, -2])
    (found,) = token_sequences(talk([first, second]))

    assert (found.prompt_ids, found.ids, found.mask) == ([1, 2], [3, 4, 5, 6, 7], [1, 0, 0, 1, 1])
    assert (found.logprobs, found.ends) == ([-0.5, 0.0, 0.0, -1.0, -2.0], {0: 0, 1: 4})


@pytest.mark.parametrize("prompt", [[1, 2, 9, 4], [1, 2], [9], []])
def test_a_prompt_that_was_tokenized_again_begins_a_sequence(prompt):
    found = token_sequences(talk([Tokens([1, 2], [3]), Tokens(prompt, [6])], extra=2))

    assert [(each.prompt_ids, each.ids, each.ends) for each in found] == [
        ([1, 2], [3], {2: 0}),
        (prompt, [6], {3: 0}),
    ]


@given(conversations())
def test_ids_that_the_server_did_not_tell_are_refused(made):
    if not all(call.exact for call in made):
        with pytest.raises(ConfigError, match=r"in call \d.*inexact=True"):
            token_sequences(talk(made))


def test_a_long_episode_that_keeps_its_history_is_one_sequence():
    made = []
    held = [0]
    for turn in range(300):
        made.append(Tokens(held, [turn]))
        held = [*held, turn, 7]

    (found,) = token_sequences(talk(made), inexact=True)
    assert sum(found.mask) == 300


# -- rewards ---------------------------------------------------------------------------------------


def verdict(value, *steps, more=()):
    stages = [StageResult("first", Outcome(1.0)), StageResult("judge", Outcome(0.5, steps=steps))]
    return Verdict(value, (*stages, *more), fault=None if value is not None else Fault("error", ""))


TALK = talk([Tokens([1], [2, 3]), Tokens([1, 2, 3, 4], [5])], extra=1)


def test_steps_are_rewarded_at_the_last_token_of_their_turn():
    (sequence,) = token_sequences(TALK)

    assert token_rewards(sequence, TALK, verdict(1.0, (1, 0.5), (2, 1.0)), 0.4) == pytest.approx(
        [0, 0.1, 0, 1.2]
    )
    assert token_rewards(sequence, TALK, verdict(1.0), 0.4) == [0, 0, 0, 1.0]


@pytest.mark.parametrize("turn", [-1, 3, 1000])
def test_steps_that_are_not_turns_are_rewarded_at_the_end(turn):
    (sequence,) = token_sequences(TALK)

    assert token_rewards(sequence, TALK, verdict(0.0, (1, 1.0), (turn, 0.0)), 1.0) == [0, 0, 0, 0.5]


def test_a_turn_of_the_prompt_earns_nothing():
    (sequence,) = token_sequences(TALK)

    assert token_rewards(sequence, TALK, verdict(0.0, (0, 1.0)), 1.0) == [0, 0, 0, 0]


def test_the_reward_is_at_the_last_token_that_was_sampled():
    trajectory = talk([Tokens([1], [2, 3]), Tokens([1, 2, 3], [4, 5], exact=False)])
    (sequence,) = token_sequences(trajectory, inexact=True)

    assert sequence.mask == [1, 1, 0, 0]
    assert token_rewards(sequence, trajectory, verdict(1.0, (1, 1.0)), 0.5) == [0, 1.0, 0, 0]


def test_an_unscored_response_has_no_reward_for_steps():
    broken = verdict(None, (1, 1.0), (2, 1.0))
    (sequence,) = token_sequences(TALK)

    assert (step_scores(broken), with_steps(broken, 1.0)) == ((), None)
    assert token_rewards(sequence, TALK, broken, 1.0) == [0.0] * 4


@given(
    st.floats(0, 1),
    st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1)), max_size=9),
    st.floats(0, 4),
)
def test_the_tokens_share_the_reward_and_more_steps_earn_no_more(value, steps, weight):
    given_ = verdict(value, *steps)
    (sequence,) = token_sequences(TALK)
    total = math.fsum(token_rewards(sequence, TALK, given_, weight))

    assert total == pytest.approx(with_steps(given_, weight))
    assert 0 <= total <= value + weight + 1e-9


def test_the_first_stage_that_scores_steps_counts():
    other = StageResult("other", Outcome(0.0, steps=[(1, 0.0)]))
    inner = StageResult("all", Outcome(0.0), children=(other,))

    assert step_scores(verdict(1.0, (1, 1.0), more=[inner])) == ((1, 1.0),)
    assert step_scores(verdict(1.0, more=[inner])) == ((1, 0.0),)
