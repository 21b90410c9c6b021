"""Several different final answers are no answer; a withdrawn one does not count."""

from __future__ import annotations

import pytest
from rlenv_plugin_math.extract import extract, readings


@pytest.mark.parametrize(
    "response",
    [
        "First \\boxed{3}. Then \\boxed{4}.",
        "\\boxed{3}\n\n\\boxed{4}",
        "\\boxed{5}. The answer is 7.",
        "The answer is 7.\n\n\\boxed{5}",
        "\\boxed{5} or 6",
        "\\boxed{5} (or maybe 6)",
        "6 or \\boxed{5}",
        "\\boxed{5}. It could also be 6.",
        "\\boxed{5}. Alternatively, $6$.",
        "\\boxed{5}\n\nAnother possible answer: 6",
        "\\boxed{5}\n#### 6",
        "#### 6\n\\boxed{5}",
        "\\boxed{5}<answer>6</answer>",
        "<answer>5</answer> <answer>6</answer>",
        "Answer: 5\nAnswer: 6",
        "Answer 1: 5\nAnswer 2: 6",
        "The answer is 5. The answer is 6.",
        "The answer is 5.\n#### 6",
        "#### 5\n#### 6",
        "The answer is yes. Or no.",
    ],
)
def test_different_final_answers_are_ambiguous(response: str) -> None:
    extraction = extract(response)
    assert extraction.state == "ambiguous"
    assert len(extraction.answers) >= 2
    assert extraction.reason


@pytest.mark.parametrize(
    "response",
    [
        "The answer is not \\boxed{5}.",
        "It isn't \\boxed{5}.",
        "1\n2\n3\n4 5\n6 7\nso many 8\n1\n2\n3",
    ],
)
def test_a_denied_answer_and_a_mere_listing_state_nothing(response: str) -> None:
    assert extract(response).answers == ()


@pytest.mark.parametrize(
    "response",
    [
        "\\boxed{3} and \\boxed{5}",
        "\\boxed{3}, \\boxed{5}",
        "$x = \\boxed{3}$ or $x = \\boxed{5}$",
        "\\boxed{3} & \\boxed{5}",
        "The roots are $\\boxed{3}$ and the other root is $\\boxed{5}$.",
    ],
)
def test_boxes_of_one_sentence_are_one_list(response: str) -> None:
    extraction = extract(response)
    assert (extraction.state, extraction.answers) == ("found", ("3", "5"))


@pytest.mark.parametrize(
    "response",
    [
        "\\boxed{5}. So the answer is \\boxed{5}.",
        "The answer is 5.\n\n\\boxed{5}",
        "\\boxed{5}\n\nThe answer is 5 dollars.",
        "The answer is 7? No, that counts one twice, so \\boxed{5}.",
        "We could guess that the answer is 7. But 3 + 2 = 5, hence \\boxed{5}.",
        "\\boxed{7}. Wait, I forgot one. \\boxed{5}",
        "My first try gave \\boxed{7}, which is wrong.\n\n\\boxed{5}",
        "The answer is 7. Wait, that is wrong. The answer is 5.",
        "\\boxed{5}\n\nI hope this helps! Tell me if you want 2 more examples.",
        "\\boxed{5} (that is, $5.0$)",
        "\\boxed{5}, where we used that 2 + 3 = 5.",
        "Either way we get \\boxed{5}.",
        "#### Step 4: add\n2 + 3\n\n\\boxed{5}",
        "\\boxed{5} or so",
    ],
)
def test_repeated_withdrawn_and_earlier_answers_do_not_matter(response: str) -> None:
    extraction = extract(response)
    assert (extraction.state, extraction.answers) == ("found", ("5",))


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("Janet makes 18 dollars a day at the market", "18 dollars"),
        ("that the area is $\\frac{1}{2}$ of the square", "\\frac{1}{2}"),
        ("for 3 days the total is 54 dollars", "54 dollars"),
        ("5 + 6 = 11 apples", "5 + 6 = 11"),
        ("17, not 18", "17"),
        ("-5 degrees since it fell by 3", "-5 degrees"),
        ("3 and 4 respectively, as shown", "3 and 4"),
    ],
)
def test_a_sentence_states_one_value(sentence: str, value: str) -> None:
    texts, hedged = readings(sentence)
    assert texts[0] == sentence
    assert texts[-1] == value
    assert not hedged


@pytest.mark.parametrize(
    "sentence",
    [
        "either 3 or 4",
        "3 or maybe 4",
        "I think 5, but it could be 6",
        "5 apples or 6 apples",
        "3, perhaps even 4",
        "3 (or maybe 4)",
    ],
)
def test_a_sentence_that_hedges_states_none(sentence: str) -> None:
    texts, hedged = readings(sentence)
    assert hedged
    assert texts[-1] == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "not 5",
        "anything but 18",
        "less than 18",
        "more than 18",
        "between 17 and 19",
        "no more than 12 of them fit",
        "18 or more",
        "18 if n is even",
        "7 is prime",
        "18 - no wait, 19",
        "I cannot tell whether it is 18",
        "no solution since 3 is not 5",
    ],
)
def test_a_sentence_about_a_number_need_not_state_it(sentence: str) -> None:
    texts, _ = readings(sentence)
    assert not any(text.strip().isdigit() for text in texts)
