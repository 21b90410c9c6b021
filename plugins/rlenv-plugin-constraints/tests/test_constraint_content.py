"""Responses that say nothing are told from short ones that do, and what they would earn is told at
load.
"""

from __future__ import annotations

from typing import Any

import pytest
from rlenv.environment import Environment
from rlenv.model.values import Task
from rlenv_plugin_constraints.content import contentless, earnings
from rlenv_plugin_constraints.registry import build_all
from rlenv_plugin_constraints.text import Text

PROMPT = "Write a short poem about the sea, and use the words salt and gull in it."
WORDS = [{"kind": "contains", "words": ["salt", "gull"]}]


def reason(raw: str, prompt: str = PROMPT, tables: list[dict[str, Any]] = WORDS) -> str:
    return contentless(Text(raw, prompt), build_all(tables))


@pytest.mark.parametrize(
    "raw",
    [
        "",
        " \n\u200b",
        ".",
        "🙂🙂",
        "[][][]",
        "ok",
        "OK!",
        "12345",
        "yes",
        "salt gull",
        "* salt\n* gull",
        "SALT, GULL, salt, gull",
        "Sure! salt gull 1 2 3",
        "a b c",
        "Title\n* point\n* point\nSection 1",
        PROMPT,
        PROMPT.upper(),
        f'"{PROMPT}"',
        PROMPT.replace(",", ""),
        f"{PROMPT}\n\n{PROMPT}",
        f"You asked: {PROMPT}",
        f"{PROMPT} salt gull",
        "Write a short poem about the sea",
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I cannot assist with this request.",
        "As an AI language model, I am unable to answer.",
        "I don't know.",
        "Sorry.",
        "gull " * 40,
        "blub blob " * 40,
    ],
)
def test_it_says_nothing(raw: str) -> None:
    assert reason(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "Salt wind, and a gull that laughs.",
        "Salt. Gull. Foam.",
        "The gull tastes salt",
        f"{PROMPT}\n\nSalt on the lips; one gull above gray water and the long way home.",
        "Use the words salt and gull: so the sea does, all night long.",
        "I'm sorry, said the gull, but I can't swim. The salt sea laughed.",
        "海の塩とカモメ",
    ],
)
def test_it_says_something(raw: str) -> None:
    assert reason(raw) == ""


def test_a_word_that_was_asked_for_may_be_the_answer() -> None:
    table = [{"kind": "contains", "words": ["Paris"]}]
    assert reason("Paris.", "Name the capital of France.", table) == ""


@pytest.mark.parametrize(
    ("prompt", "raw", "empty"),
    [
        ("How many legs has a spider? Use no commas.", "8", False),
        ("What is 6 * 7? Use no commas.", "42", False),
        ("Describe a spider. Use no commas.", "8", True),
        ("What is the next number: 1, 4, 7? Use no commas.", "10", False),
        ("Please calculate the area. Use no commas.", "12", False),
        ("What is 7 times 8?", "56", False),
        ("What does it mean? Use only words with lengths that are prime numbers.", "12345", True),
        ("Tell of the 1911-1912 revolution.", "12345", True),
        ("Write a template for how to calculate an offset.", "12345", True),
        ("What is the name of the monster?", "12345", True),
        ("Is the sea salty? Use no commas.", "Yes.", False),
        ("Describe the sea. Use no commas.", "Yes.", True),
    ],
)
def test_numbers_and_yes_answer_only_such_questions(prompt: str, raw: str, empty: bool) -> None:
    assert bool(reason(raw, prompt, [{"kind": "no_comma"}])) is empty


def test_a_choice_is_an_answer_in_itself() -> None:
    table = [{"kind": "choice", "options": ["yes", "no"]}]
    assert reason("no", "Choose.", table) == ""
    assert reason("!", "Choose.", table)


def test_rewriting_a_quoted_text_is_no_echo() -> None:
    quoted = "The quick brown fox jumps over the lazy dog near the river bank."
    prompt = f'Write this in capitals: "{quoted}"'
    assert reason(quoted.upper(), prompt, [{"kind": "uppercase"}]) == ""
    assert reason(prompt.upper(), prompt, [{"kind": "uppercase"}])


ASKED = (
    "Write a riddle about the harbor for a friend. Use at least 40 words, avoid any commas and "
    "highlight two sections of your response."
)


@pytest.mark.parametrize(
    "raw",
    [
        ASKED.title(),
        f"Please {ASKED} Thank you so much, that would be really helpful!",
        f"Of course, I'd be happy to help you with that! {ASKED}",
        f"{ASKED[44:].replace(',', '')} {ASKED[:43]}",
        " ".join(reversed(ASKED.split())),
        " ".join(word for n, word in enumerate(ASKED.split()) if n % 4),
        " ".join(f"{word} indeed" if n % 3 == 0 else word for n, word in enumerate(ASKED.split())),
        "Avoid any commas and highlight two sections of your response",
        ASKED.replace("Write", "Compose").replace("friend", "buddy").replace("Use", "Employ"),
        f"* {ASKED}\n* {ASKED[30:]}",
    ],
)
def test_a_prompt_with_small_changes_is_an_echo(raw: str) -> None:
    assert reason(raw, ASKED, [{"kind": "no_comma"}]) == "it only repeats the prompt"


@pytest.mark.parametrize(
    ("prompt", "raw"),
    [
        (ASKED, "I hold the *boats* and keep the *storm* away. Friend, what am I? The harbor."),
        (
            "What is the largest planet in the solar system? Answer in all lowercase letters.",
            "the largest planet in the solar system is jupiter",
        ),
        (
            "Which is bigger, the sun or the moon? Answer in at least 5 words.",
            "The sun is bigger than the moon.",
        ),
        (
            "Should I use tabs or spaces in Python? Use no commas and at most 20 words.",
            "Use spaces in Python and not tabs.",
        ),
        (
            "Proofread: 'i has a apple and includes it in every list.' Use no commas.",
            "I have an apple and include it in every list.",
        ),
        (
            (
                "Summarize in one sentence with the word winter: The cat sat on the mat all winter"
                " because it was warm."
            ),
            "The cat sat on the warm mat all winter.",
        ),
        (
            (
                "Explain how to write a letter with at least two sections, marked Section 1 and"
                " Section 2."
            ),
            (
                "Section 1\n"
                "Write the date and a greeting.\n\n"
                "Section 2\n"
                "Include your request and sign the letter."
            ),
        ),
        (
            (
                "How do I write bullet points in markdown? Do not use commas and use at least 10"
                " words."
            ),
            "To write bullet points in markdown start every line with a star and then a space.",
        ),
        (
            (
                "Each of 6 boys has 7 apples. How many apples do the boys have? Write the answer in"
                " one sentence."
            ),
            "The boys have 6 * 7 = 42 apples.",
        ),
        (
            "In set theory, are all sets classes? The output should not contain any whitespace.",
            "no",
        ),
    ],
)
def test_an_answer_in_words_of_the_prompt_is_no_echo(prompt: str, raw: str) -> None:
    assert reason(raw, prompt, [{"kind": "no_comma"}]) == ""


STUB = (
    "def double(x):\n"
    '    """Return the entire list, each without its sign and written in order, as an example'
    ' should."""\n'
)


def test_a_program_may_repeat_what_it_was_given_but_not_alone() -> None:
    asked = f"Write the whole of this function, and include no comments:\n\n{STUB}"
    program = f"```python\n{STUB}    return [abs(n) for n in sorted(x)]\n```"
    assert reason(program, asked, [{"kind": "no_comma"}]) == ""
    assert reason(asked, asked, [{"kind": "no_comma"}])
    assert reason(f"{ASKED.title()}\n```python\nx = len('a')\n```", ASKED, [{"kind": "no_comma"}])


def test_an_echo_is_no_choice_and_no_answer_to_a_repeated_prompt() -> None:
    asked = (
        "Is the poodle bigger than the retriever? Choose from these: yes, no. Write one short"
        " sentence."
    )
    told = " ".join(word for word in asked.split() if word != "no.")
    assert reason(told, asked, [{"kind": "choice", "options": ["yes", "no"]}])
    assert reason("no", asked, [{"kind": "choice", "options": ["yes", "no"]}]) == ""
    assert reason(f"{ASKED}\n\n{ASKED[:-10]}", ASKED, [{"kind": "repeats_prompt"}])


def test_a_short_answer_may_follow_a_prompt_that_had_to_be_repeated() -> None:
    tables = [{"kind": "repeats_prompt"}]
    prompt = (
        "What is the capital of France? First repeat this request word for word, then answer it."
    )
    assert reason(f"{prompt}\nParis.", prompt, tables) == ""
    assert reason(f"{prompt}\nok", prompt, tables)
    assert reason(prompt, prompt, tables)


def test_what_constants_earn_is_told_with_each() -> None:
    tasks = [Task("Say it.", id="1"), Task("Say more.", id="2")]
    (said,) = earnings(lambda task, raw: float(raw == task.prompt or raw == "ok"), tasks)
    assert "up to 1.000" in said
    assert '("ok" 1.000, an echo of the prompt 1.000, "." 0.000' in said


def test_nothing_is_told_where_constants_earn_nothing_and_tasks_have_answers() -> None:
    assert earnings(lambda _task, _raw: 0.0, [Task("q", answer="a")]) == []
    assert earnings(lambda _task, _raw: 0.0, []) == []
    assert len(earnings(lambda _task, _raw: 0.0, [Task("q")])) == 1


def environment(**options: Any) -> Environment:
    rows = [Task(f"Tell me about the sea, part {at}.", id=str(at)) for at in range(4)]
    stage = {
        "use": "constraints/all",
        "options": {"constraints": [{"kind": "no_comma"}], **options},
    }
    built = Environment.from_dict({"name": "e", "stage": [stage]})
    return Environment("e", built.root, rows)


def test_an_environment_says_at_load_what_constants_earn() -> None:
    with environment(content=False) as loose:
        assert 'up to 1.000 here ("." 1.000, "12345" 1.000, "ok" 1.000' in loose.warnings[0]
    with environment() as strict:
        assert "up to 0.000" in strict.warnings[0]


@pytest.mark.parametrize("raw", ["42", "7/8", "Yes", "(B)", "42."])
@pytest.mark.parametrize("size", [0, 3000])  # in this process, or in a worker
def test_a_stage_that_knows_the_answer_says_what_is_one(raw: str, size: int) -> None:
    rules = {"use": "constraints/all", "options": {"constraints": [{"kind": "no_comma"}]}}
    stages = [rules, {"use": "core/equal", "weight": 3.0}]
    task = Task("Tell me.", answer=raw + " " * size, id="1")
    with Environment.from_dict({"name": "e", "stage": stages}) as both:
        assert both.verify(task, task.answer) == 1.0  # type: ignore[arg-type]
        assert both.verify(task, "other") == 0.25
        assert both.verify(task, " \u200b") == 0.0
    with Environment.from_dict({"name": "e", "stage": [rules]}) as alone:
        assert alone.verify(task, task.answer) == 0.0  # type: ignore[arg-type]
        told = str(alone.evaluate(task, raw).results[0].outcome)
        assert "set content = false in the options of this stage" in told
        assert "set content" not in str(alone.evaluate(task, "").results[0].outcome)


def test_the_test_of_content_is_on_or_off_where_the_option_says_so() -> None:
    rules = [
        {
            "use": "constraints/all",
            "options": {"constraints": [{"kind": "no_comma"}], "content": on},
        }
        for on in (True, False)
    ]
    task = Task("Tell me.", answer="42", id="1")
    for stage, earned in zip(rules, (0.5, 1.0), strict=True):
        both = Environment.from_dict({"name": "e", "stage": [stage, {"use": "core/equal"}]})
        with both:
            assert both.verify(task, "42") == earned


def test_other_constraints_know_no_answer() -> None:
    rules = {"use": "constraints/all", "options": {"constraints": [{"kind": "no_comma"}]}}
    with Environment.from_dict({"name": "e", "stage": [rules, {**rules, "name": "b"}]}) as both:
        assert both.verify(Task("Tell me."), "42") == 0.0


def test_only_some_of_many_tasks_are_tried() -> None:
    tried: set[str | None] = set()

    def score(task: Task, _raw: str) -> float:
        tried.add(task.id)
        return 1.0

    earnings(score, [Task("q", id=str(at)) for at in range(1000)])
    assert 150 <= len(tried) <= 300
