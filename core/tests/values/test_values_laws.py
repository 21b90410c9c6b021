"""Laws 1, 2, 5, 10 and 12 for the values of core: range, records, keys, secrecy."""

import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st
from rlenv import Fault, Outcome, ScoreError, StageResult, Task, Trajectory, Verdict, VerifierFault
from rlenv.model.record import MOST, dumps, plain
from rlenv.runtime.serialization import decode_progress, encode_result
from rlenv.workers import wire
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict


def unpaired(text: str) -> bool:
    """JSON cannot tell two lone surrogates that meet from the character they would make."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") == text


lone = st.text(st.characters(categories=["Cs", "Cc", "Lu"]), max_size=10).filter(unpaired)
texts = st.text(max_size=20) | lone
scalars = st.none() | st.booleans() | st.integers(-9, 9) | texts
data = st.dictionaries(texts, scalars | st.lists(scalars, max_size=3), max_size=3)
faults = st.builds(Fault, st.sampled_from(["error", "timeout", "crash"]), texts, st.booleans())
steps = st.none() | st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=3).map(tuple)
outcomes = st.builds(Outcome, st.floats(0, 1), texts, data, steps, data)
names = st.text("abc/", min_size=1, max_size=5)


def results(children: st.SearchStrategy[StageResult]) -> st.SearchStrategy[StageResult]:
    inner = st.just(()) if children.is_empty else st.lists(children, max_size=2).map(tuple)
    seconds = st.floats(0, 10)
    good = st.builds(StageResult, names, outcomes, st.none(), seconds, inner)
    bad = st.builds(StageResult, names, st.none(), faults, seconds, inner)
    return good | bad


class Everywhere:
    """Every path."""

    def __contains__(self, path: object) -> bool:
        return True


leaves = results(st.nothing())
worth = st.tuples(st.floats(0, 1), st.none()) | st.tuples(st.none(), faults)
verdicts = st.builds(
    lambda worth, results, stopped, print_, raw: Verdict(
        worth[0], results, stopped, print_, raw, worth[1]
    ),
    worth,
    st.lists(st.recursive(leaves, results, max_leaves=4), max_size=3).map(tuple),
    st.none() | names,
    texts,
    st.none() | st.floats(-3, 3),
)


@given(
    st.floats()
    | st.integers()
    | st.booleans()
    | st.text(max_size=3)
    | st.none()
    | st.complex_numbers()
    | st.decimals()
    | st.fractions()
)
def test_a_score_is_a_finite_float_in_the_unit_interval_or_an_error(score):
    try:
        kept = Outcome(score).score
    except ScoreError:
        return

    assert type(kept) is float
    assert 0.0 <= kept <= 1.0
    assert not isinstance(score, bool)
    assert math.isclose(kept, float(score))


@pytest.mark.parametrize(
    "score",
    [math.nan, math.inf, -math.inf, 1.0000001, -1e-9, True, False, "1", None, 1j, [1.0], 10**400],
)
def test_what_is_no_score_is_refused(score):
    with pytest.raises(ScoreError, match=r"float in \[0, 1\]"):
        Outcome(score)


@pytest.mark.parametrize(
    ("score", "kept"),
    [(1, 1.0), (0, 0.0), (-0.0, 0.0), (Fraction(1, 2), 0.5), (Decimal("0.25"), 0.25)],
)
def test_other_real_numbers_become_floats(score, kept):
    outcome = Outcome(score)

    assert outcome.score == kept
    assert str(outcome.score) == str(kept)


@given(verdicts)
def test_verdicts_round_trip_through_json_the_wire_and_pickle(verdict):
    line = dumps(verdict_to_dict(verdict))

    assert line.isascii()
    assert "\n" not in line
    assert verdict_from_dict(json.loads(line)) == verdict
    results = [evolve(result, children=()) for result in verdict.results]
    body = wire.dump((0, *map(encode_result, results)))
    assert decode_progress(Everywhere(), (), wire.load(body))[0] == results
    assert pickle.loads(pickle.dumps(verdict)) == verdict


class Word(str):
    __slots__ = ()


awkward = scalars | st.floats() | st.integers() | st.just(2**14_100) | st.builds(Word, texts)
parts = st.recursive(
    awkward, lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(texts, inner)
)


@example({"a": math.nan, "b": [math.inf]})
@example({"a": 2**14_100})
@example({"a": [2**14_100]})
@example({"a": [[1], [], ()]})
@example({Word("a"): 1})
@example({2: [Word("b")]})
@example({"a": {"b": Fraction(1, 2)}})
@given(
    st.dictionaries(texts, awkward | st.lists(awkward, max_size=3), max_size=3)
    | st.dictionaries(texts | st.builds(Word, texts) | st.integers(), parts, max_size=40)
)
def test_data_becomes_the_same_alone_as_within_a_list(made):
    """Short data takes a way of its own."""
    alone = plain(made)
    (within,) = plain([made])

    assert repr(alone) == repr(within)
    assert {*map(type, alone)} <= {str}
    json.dumps(alone, allow_nan=False)


def test_plain_data_is_a_copy():
    made = {"a": [1, "b"], "c": [], "e": [[]]}
    copy = plain(made)
    made["a"].append(2)
    made["c"].append(made)
    made["d"] = 3
    made["e"][0].append(4)

    assert copy == {"a": [1, "b"], "c": [], "e": [[]]}


def test_of_many_values_the_rest_is_left_out():
    assert len(plain(dict.fromkeys(map(str, range(MOST + 1))))) == MOST


@given(verdicts)
def test_a_verdict_has_a_reward_exactly_when_it_is_scored(verdict):
    assert verdict.scored == (verdict.value is not None)
    if verdict.scored:
        assert verdict.reward == verdict.value
    else:
        with pytest.raises(VerifierFault):
            _ = verdict.reward


@given(verdicts)
def test_the_public_verdict_holds_nothing_private(verdict):
    public = verdict_to_dict(verdict.public())

    def check(result):
        assert result["outcome"] is None or result["outcome"]["private"] == {}
        assert result["fault"] is None or result["fault"]["message"] == ""
        for child in result["children"]:
            check(child)

    for result in public["results"]:
        check(result)
    assert public["value"] == verdict.value


def test_seconds_take_no_part_in_equality():
    assert StageResult("a", Outcome(1.0), None, 0.1) == StageResult("a", Outcome(1.0), None, 9.9)


def test_what_is_no_json_is_recorded_as_text():
    assert json.loads(dumps({"a": {1, 2}, "b": math.nan, "c": object, "d": (1,)})) == {
        "a": [1, 2],
        "b": "nan",
        "c": "builtins:object",
        "d": [1],
    }


USER = {"role": "user", "content": "p"}
SYSTEM = {"role": "system", "content": "s"}
SECRET = {"role": "assistant", "content": "secret"}


def test_a_policy_sees_of_a_task_only_messages_prompt_id_and_split():
    task = Task("p", answer="secret", info={"tests": "secret"}, id="1", split="test")

    assert task.public() == {"messages": [USER], "prompt": "p", "id": "1", "split": "test"}


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ([SYSTEM, USER], [SYSTEM, USER]),
        ((SYSTEM, USER), [SYSTEM, USER]),
        ([SYSTEM, USER, SECRET], [SYSTEM, USER]),
        ([USER, SECRET, USER, SECRET, SECRET], [USER, SECRET, USER]),
        (
            [USER, {"role": "assistant"}, {"role": "tool"}],
            [USER, {"role": "assistant"}, {"role": "tool"}],
        ),
        ([SECRET], [USER]),
        ([{"role": "user", "content": "another"}, SECRET], [USER]),
        ([], [USER]),
        ("secret", [USER]),
        ([USER, "secret"], [USER]),
        ({"secret": 1}, [USER]),
        (None, [USER]),
    ],
)
def test_the_messages_of_a_task_are_those_of_its_prompt(given, messages):
    assert Task("p", info={"messages": given}).messages == messages


@pytest.mark.parametrize(
    ("messages", "final"),
    [
        ([], ""),
        ([{"role": "user", "content": "a"}], ""),
        ([{"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}], "a"),
        ([{"role": "assistant", "content": None}], ""),
        (
            [
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                }
            ],
            "ab",
        ),
        ([{"role": "assistant", "content": [{"type": "image"}, "x", {"text": 3}]}], ""),
    ],
)
def test_the_final_text_is_the_last_assistant_message(messages, final):
    assert Trajectory(messages).final == final
