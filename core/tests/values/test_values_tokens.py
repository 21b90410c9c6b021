"""The tokens of a trajectory: what they may be, and that no verdict depends on them."""

import math
import pickle

import pytest
import rlenv
from rlenv import Environment, Outcome, Tokens, Trajectory

TALK = (
    {"role": "user", "content": "1+1="},
    {"role": "assistant", "content": "3"},
    {"role": "user", "content": "Sure?"},
    {"role": "assistant", "content": "2"},
)
FIRST = Tokens([5, 6], [7])
SECOND = Tokens([5, 6, 7, 8], [9, 1], [-0.5, 0], exact=False)


class Number:
    """An integer of another library, as numpy has them."""

    def __index__(self) -> int:
        return 3


def test_a_call_holds_what_was_given_and_what_was_sampled():
    call = Tokens([Number(), 0], iter([4]), [-1])

    assert (call.prompt_ids, call.ids, call.logprobs, call.exact) == ((3, 0), (4,), (-1.0,), True)
    assert [*map(type, (*call.prompt_ids, *(call.logprobs or ())))] == [int, int, float]
    assert Tokens([], []).ids == ()
    assert pickle.loads(pickle.dumps(SECOND)) == SECOND


@pytest.mark.parametrize("ids", [[-1], [True], [1, False], [1 << 63], [0, 1 << 200]])
def test_a_token_id_is_an_integer_from_0_to_63_bits(ids):
    for given in ((ids, []), ([], ids)):
        with pytest.raises(
            ValueError, match=r"token ids are integers, 0 or more and below 2\*\*63"
        ):
            Tokens(*given)
    assert Tokens([(1 << 63) - 1], []).prompt_ids == ((1 << 63) - 1,)


@pytest.mark.parametrize("ids", [["a"], [1.0], [None], 7])
def test_what_is_no_integer_is_no_token_id(ids):
    with pytest.raises(TypeError):
        Tokens([], ids)


@pytest.mark.parametrize(
    "logprobs",
    [[], [0.0, 0.0], [math.nan], [-math.inf], [math.inf], [1e-9], [2], [True], ["-1"], [None], "0"],
)
def test_there_is_one_finite_logprob_of_0_or_less_for_each_id(logprobs):
    with pytest.raises(ValueError, match="1 finite numbers <= 0, one for each id"):
        Tokens([], [4], logprobs)


@pytest.mark.parametrize("exact", ["no", None, 1])
def test_exact_is_a_bool(exact):
    with pytest.raises(TypeError, match="exact"):
        Tokens([], [], exact=exact)


def test_a_trajectory_holds_a_call_for_each_of_the_last_messages_of_the_assistant():
    assert Trajectory(TALK).tokens == ()
    assert Trajectory(TALK, [SECOND]).tokens == (SECOND,)
    assert Trajectory(TALK, iter([FIRST, SECOND])).tokens == (FIRST, SECOND)


def test_a_trajectory_takes_lists_that_have_a_type():
    messages: list[dict[str, str]] = [*TALK]
    tokens: list[Tokens] = [FIRST, SECOND]
    made = Trajectory(messages, tokens)  # mypy reads this too

    assert (made.messages, made.tokens) == (TALK, (FIRST, SECOND))


@pytest.mark.parametrize("tokens", [[FIRST] * 3, [FIRST, [7]], [None]])
def test_other_tokens_of_a_trajectory_are_an_error(tokens):
    with pytest.raises(ValueError, match="at most 2 Tokens, one for each assistant message"):
        Trajectory(TALK, tokens)


def seen(trajectory):
    return Outcome(float(trajectory.final == "2"), str(len(trajectory.tokens)))


@pytest.mark.parametrize("where", ["inline", "worker"])
def test_a_verdict_depends_on_what_was_said_and_not_on_how_it_was_tokenized(where):
    with Environment("sums", [rlenv.stage(where=where)(seen)]) as env:
        plain, told = (
            env.evaluate(rlenv.Task("1+1="), Trajectory(TALK, tokens))
            for tokens in ((), (FIRST, SECOND))
        )

    assert plain == told
    assert told.results[0].outcome == Outcome(1.0, "0")
