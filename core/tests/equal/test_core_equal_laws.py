"""The laws of rewards, for core/equal: range, totality, no free lunch, no hedging, secrecy, meaning
not form.
"""

from __future__ import annotations

import pickle
import unicodedata
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st
from rlenv import Attempt, Task, TaskError
from rlenv.compose.equal import Equal
from rlenv.text import visible

ANY = st.text(st.characters(), max_size=30)
STAGES = st.builds(
    Equal, strip=st.booleans(), case=st.booleans(), space=st.booleans(), nfkc=st.booleans()
)
ANSWERS = ANY | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
BLANKS = st.text(st.sampled_from(" \t\n\r\u00a0\u2003\u200b\ufeff\0\u3000"))


def task(stage: Equal, answer: Any) -> Task:
    """A task that the stage accepts."""
    made = Task("p", answer, id="t")
    try:
        stage.validate(made)
    except TaskError:
        assume(False)
    return made


@given(STAGES, ANSWERS, ANY)
def test_any_text_gets_the_same_verdict_twice(stage: Equal, answer: Any, response: str) -> None:
    attempt = Attempt(task(stage, answer), response)
    outcome = stage.check(attempt)

    assert outcome.score in (0.0, 1.0)
    assert outcome == stage.check(attempt) == pickle.loads(pickle.dumps(stage)).check(attempt)


@given(STAGES, ANSWERS)
def test_the_answer_itself_is_right(stage: Equal, answer: Any) -> None:
    response = answer if isinstance(answer, str) else repr(answer)

    assert stage.check(Attempt(task(stage, answer), response)).score == 1.0


@given(STAGES, ANSWERS, BLANKS)
def test_nothing_to_see_earns_nothing(stage: Equal, answer: Any, response: str) -> None:
    assert stage.check(Attempt(task(stage, answer), response)).score == 0.0


@given(STAGES, ANY, ANY, st.sampled_from([" or ", "\n", ", ", " "]))
def test_two_answers_are_worth_no_more_than_a_wrong_one(
    stage: Equal, answer: str, other: str, between: str
) -> None:
    made = task(stage, answer)
    assume(any(unicodedata.category(char)[0] in "LN" for char in other))

    for hedge in (answer + between + other, other + between + answer):
        assume(visible(hedge) == hedge)  # a trailer, such as <eos>, is no second answer
        assert stage.check(Attempt(made, hedge)).score == 0.0


@example(Equal(), "0", "<eos>", "\n")
@example(Equal(), "0", "1", "\n<|im_end|>")
@given(STAGES, ANY, ANY, st.sampled_from(["\n", " "]))
def test_a_trailer_after_the_answer_is_no_second_answer(
    stage: Equal, answer: str, other: str, between: str
) -> None:
    made = task(stage, answer)
    response = answer + between + other
    right = stage.check(Attempt(made, visible(response))).score

    assert stage.check(Attempt(made, response)).score == right


@given(STAGES, st.text(st.characters(categories=["L", "N"]), min_size=3), ANY)
def test_the_answer_is_not_told(stage: Equal, answer: str, response: str) -> None:
    assume(answer not in "equal not the response is empty")
    outcome = stage.check(Attempt(task(stage, answer), response))

    assert answer not in f"{outcome.detail} {dict(outcome.data)}"


@given(
    st.text(st.characters(categories=["L", "N", "Zs"])),
    BLANKS.map(lambda t: t.replace("\u200b", "")),
)
def test_declared_forms_do_not_matter(answer: str, pad: str) -> None:
    stage = Equal(case=True, space=True, nfkc=True)
    made = task(stage, answer)
    spaces = "".join(char for char in pad if char.isspace())
    variants = [
        answer.casefold(),
        spaces + answer + spaces,
        unicodedata.normalize("NFKC", answer),
        unicodedata.normalize("NFD", answer),
    ]
    for variant in variants:
        assert stage.check(Attempt(made, variant)).score == 1.0


@given(STAGES, ANY, ANY)
def test_an_option_only_ever_accepts_more(stage: Equal, answer: str, response: str) -> None:
    strict = Equal(strip=False)
    made = task(stage, answer)

    if strict.check(Attempt(made, response)).score:
        assert stage.check(Attempt(made, response)).score == 1.0
