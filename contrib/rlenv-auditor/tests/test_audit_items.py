"""Lists: what a prompt shows of an answer, and a right response with one item, or the order,
wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rlenv_auditor import Scorecard, audit
from rlenv_auditor.items import Items, named, place_of, shown
from rlenv_auditor.near import lacking, missed, turned
from rlenv_auditor.render.emitted import emitted


@pytest.mark.parametrize(
    ("gold", "wanted", "place"),
    [
        ("It is 4, so 4.", "4", ("It is 4, so ", "4", ".")),
        ("<t>x</t>\n<answer> a, b </answer>", None, ("<t>x</t>\n<answer> ", "a, b", " </answer>")),
        (r"So \boxed{1, 2}.", '["1", "2"]', (r"So \boxed{", "1, 2", "}.")),
        ("See:\n```\n1 2\n2 1\n```", None, ("See:\n```\n", "1 2\n2 1", "\n```")),
        ("<think>a, b</think>\nc, d", None, ("<think>a, b</think>\n", "c, d", "")),
        ("答えは $[1,5]$ です", "[1, 5]", ("", "", "答えは $[1,5]$ です")),  # in prose
        ("First, a walk. Then, rest.", None, ("", "", "First, a walk. Then, rest.")),
        ("Work.\nAnswer: A, C", None, ("Work.\nAnswer: ", "A, C", "")),
        ("a; b", None, ("", "a; b", "")),
    ],
)
def test_a_right_response_says_its_answer_in_one_place(
    gold: str, wanted: str | None, place: tuple[str, str, str]
) -> None:
    assert place_of(gold, wanted) == place


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b,c", ("a", "b", "c")),
        ("['-1.0', '2']", ("'-1.0'", "'2'")),
        ("New York; Lake Como", ("New York", "Lake Como")),
        ("1 2\n2 1", ("1 2", "2 1")),
        ("A -> C -> B", ("A", "C", "B")),
        ("red | green", ("red", "green")),
        ("oak > ash > yew", ("oak", "ash", "yew")),
        ("1 -2 3.5", ("1", "-2", "3.5")),
        ("New York City", None),
        ("Paris", None),
        ("", None),
        ("This is a sentence that goes on, and on and on and on and on.", None),
    ],
)
def test_a_list_is_parted_by_one_sign(text: str, items: tuple[str, ...] | None) -> None:
    listed = Items.of(text)

    assert (listed and listed.items) == items
    assert listed is None or Items.of(listed.text(listed.items)) == listed


@pytest.mark.parametrize(
    ("prompt", "answer", "items"),
    [
        ("Which? Options: copper | pepper.", "pepper", ("copper", "pepper")),
        ("Who came: Ann, Bob or Cy?", "Bob", ("Ann", "Bob", "Cy")),
        ("Which are even?\nA) 11\nB. 12\n", "B", ("11", "12")),
        ("Which are even?\n- 11\n- 12\n", "12", ("11", "12")),
        ("Which is it? (A) 98 (B) 35", "A", ("A", "B")),
        ("Take doc-7 before doc-12, and no dock-9.", "doc-3", ("doc-7", "doc-12")),
        ("From -1.5 to 20.25 or 3.", "-7.5", ("-1.5", "20.25")),
        ("Fill in:\n1 _\n_ 1\nThank you very much.", "1 2\n2 1", ("1 _", "_ 1")),
    ],
)
def test_a_prompt_shows_lists(prompt: str, answer: str, items: tuple[str, ...]) -> None:
    assert items in list(shown(prompt, answer))


def test_a_label_and_its_text_are_one_option() -> None:
    assert named("Which is it? (A) 98 (B) 35", ["A"]) == {"A", "98"}


def test_one_item_of_a_list_is_dropped_doubled_changed_or_too_many() -> None:
    listed = Items.of("(x, 7, 12)")
    assert listed

    assert [text for _, text in lacking(listed)] == [
        "(x, 7)",
        "(x, 7, x)",
        "(x, x, 12)",
        "(x, 7, 13)",
        "(x, 7, 12, 13)",
    ]


def test_a_changed_row_of_a_grid_has_its_own_values() -> None:
    grid = Items.of("1 2\n2 1")
    assert grid

    assert dict(lacking(grid))["last list item replaced"] == "1 2\n2 2"


SHUFFLED = "Sort by age: cat, ant, dog."


@pytest.mark.parametrize(
    ("prompt", "answer", "orders"),
    [
        (SHUFFLED, "ant, cat, dog", {"dog, cat, ant", "ant, dog, cat", "cat, ant, dog"}),
        (
            "What comes first? cat, ant, dog",
            "ant, dog, cat",
            {"cat, dog, ant", "ant, cat, dog", "cat, ant, dog", "dog, ant, cat"},
        ),
        ("Write down what you see: cat, ant, dog.", "cat, ant, dog", set()),
        ("List these in any order: cat, ant, dog.", "ant, cat, dog", set()),
        ("The order does not matter: cat, ant, dog.", "ant, cat, dog", set()),
        ("Which of cat, ant, dog and eel bark?", "dog, ant", set()),
    ],
)
def test_an_order_is_another_only_where_the_prompt_fixes_it(
    prompt: str, answer: str, orders: set[str]
) -> None:
    listed = Items.of(answer)
    assert listed

    assert set(turned(listed, prompt).values()) == orders


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        ("2024-04-09", "2024-09-04"),
        ("14:35", "35:14"),
        ("05/03/2024", "03/05/2024"),
        ("March 5, 2024", "March 5, 2025"),
        ("Room 09", "Room 10"),
    ],
)
def test_parts_of_a_date_change_places_and_numbers_in_words_count_on(
    wanted: str, other: str
) -> None:
    assert other in {text for _, text in missed(wanted)}


def test_a_number_of_any_length_has_near_misses_or_none() -> None:
    assert list(missed("9" * 5000)) == []


@pytest.mark.parametrize("wanted", ["2024-04-29", "2024-04-04", "25/03/2024", "14:14"])
def test_what_reads_as_the_same_date_is_not_a_near_miss(wanted: str) -> None:
    assert not [name for name, _ in missed(wanted) if "exchanged" in name]


SOURCE = '''
import re


def said(response):
    found = re.findall(r"<answer>(.*?)</answer>", response)
    return [one.strip() for one in found[0].split(",")] if len(found) == 1 else []


def share(response, answer):
    """A twelfth for each of twelve numbers."""
    wanted = answer.split(", ")
    return sum(a == b for a, b in zip(said(response), wanted)) / max(12, len(said(response)))


def mentioned(response, prompt, answer):
    """Whatever the prompt lists."""
    return float(bool(said(response)) and all(f" {one}" in prompt for one in said(response)))


def sorted_or_not(response, answer):
    """Some orders are right: those that begin with the same item."""
    found = said(response)
    return float(sorted(found) == sorted(answer.split(", ")) and found[0] == answer.split(", ")[0])


def field(response, answer):
    """Reads one field, and leaves the others alone."""
    found = re.search(r'"answer": (\\d+)', response)
    return float(found is not None and found[1] == answer)
'''


def carded(
    written: Callable[..., Path], name: str, prompts: list[tuple[str, str]], only: str
) -> Scorecard:
    written(SOURCE, [{"id": f"t{n}", "prompt": p, "answer": a} for n, (p, a) in enumerate(prompts)])
    right = {f"t{n}": [f"<answer>{answer}</answer>"] for n, (_, answer) in enumerate(prompts)}
    return audit(f"written:{name}", tasks_from="tasks.jsonl", only=[only], right=right, budget=60.0)


def test_one_wrong_item_that_costs_less_than_a_tenth_is_all_but_paid(
    written: Callable[..., Path],
) -> None:
    rows = [(f"Count from {n}.", ", ".join(map(str, range(n, n + 12)))) for n in (1, 30)]
    card = carded(written, "share", rows, "gold.near")
    (found, *_) = card.findings

    assert str(card.results[0].rate).startswith("2 of 2")
    assert found.expected == "below 0.9"
    assert 0.9 <= (found.reward or 0) < 1
    assert "reply.reward < 0.9, reply" in emitted(card)


def test_what_the_prompt_lists_is_found_to_be_paid(written: Callable[..., Path]) -> None:
    rows = [("Who sang? Choose from: Ann, Bob.", "Bob"), ("Who ran? Choose from: Cy, Dee.", "Cy")]
    card = carded(written, "mentioned", rows, "baselines.listed")

    assert {one.title.partition(":")[0] for one in card.findings} == {
        "an option of the prompt",
        "all that the prompt lists",
    }
    assert str(card.results[0].rate).startswith("2 of 2")


@pytest.mark.parametrize(("asked", "hits"), [("What order works", 0), ("Sort by age", 2)])
def test_where_several_orders_may_be_right_only_all_of_them_are_a_finding(
    written: Callable[..., Path], asked: str, hits: int
) -> None:
    rows = [(f"{asked}: cat, ant, dog?", "ant, cat, dog"), (f"{asked}: x, z, y?", "z, y, x")]
    card = carded(written, "sorted_or_not", rows, "gold.near")

    assert card.results[0].rate is not None
    assert card.results[0].rate.hits == hits


def test_a_field_beside_the_answer_may_be_anything(written: Callable[..., Path]) -> None:
    rows = [{"id": str(n), "prompt": f"{n} + 1?", "answer": str(n + 1)} for n in range(20, 23)]
    written(SOURCE, rows)
    right = {str(row["id"]): [f'{{"work": "easy", "answer": {row["answer"]}}}'] for row in rows}
    card = audit("written:field", tasks_from="tasks.jsonl", only=["gold"], right=right, budget=60.0)

    assert {one.probe: one.status for one in card.results if one.status != "clean"} == {
        "gold.case": "skipped",
        "gold.partial": "skipped",
    }


def test_the_same_task_twice_has_the_same_answers(written: Callable[..., Path]) -> None:
    rows = [
        {"id": f"t{n}", "prompt": f"{n // 2} + 1?", "answer": str(n // 2 + 1)} for n in range(4)
    ]
    written(SOURCE, rows)
    right = {f"t{n}": [f'{"Well: " * n}{{"answer": {n // 2 + 1}}}'] for n in range(4)}
    card = audit(
        "written:field", tasks_from="tasks.jsonl", only=["gold.swap"], right=right, budget=60.0
    )

    assert [str(one.rate)[:6] for one in card.results] == ["0 of 4"]
