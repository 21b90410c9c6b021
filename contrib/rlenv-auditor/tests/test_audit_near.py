"""Near misses, forms that a verifier's own texts ask for, and what a wrong answer earns below the
pass mark.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rlenv_auditor import audit
from rlenv_auditor.conclusion import conclusion
from rlenv_auditor.derived import forms, shortest
from rlenv_auditor.near import documents, missed, nearly, ordered
from rlenv_auditor.target.forms import conversation
from rlenv_auditor.target.source import words_of


@pytest.mark.parametrize(
    ("wanted", "misses"),
    [
        ("1024", {"1025", "1023", "-1024", "10240", "1042", "1024.9", "1/1024"}),
        ("0", {"1", "-1"}),
        ("100", {"101"}),  # and no 1000 or 010 for transposed digits
        ("3/4", {"4/3", "-3/4"}),
        ("2.75", {"3.75", "27.5", "-2.75"}),
        ("2024-02-28", {"2025-02-28", "2024-02-01"}),
        ("18 km/h", {"18 m/s"}),
        ("Yes", {"No"}),
        ("C", {"D"}),
    ],
)
def test_a_near_miss_is_another_value(wanted: str, misses: set[str]) -> None:
    made = {text for _, text in missed(wanted)}

    assert misses <= made
    assert wanted not in made


def test_words_are_cut_and_turned_and_numbers_are_not() -> None:
    assert {text for _, text in nearly("New York City")} == {
        "New York Cit",
        "City York New",
        "New City York",
        "New York",
    }
    assert list(nearly("12.5")) == []


CALL = {"name": "book", "arguments": {"city": "Oslo", "guests": 24, "seats": ["a", "b"]}}


def test_a_document_loses_and_changes_each_of_its_fields() -> None:
    text = f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"
    made = {name: json.loads(other[12:-13]) for name, other in documents(text, reordered=True)}

    assert made["arguments emptied"] == {"name": "book", "arguments": {}}
    assert made["guests dropped"]["arguments"] == {"city": "Oslo", "seats": ["a", "b"]}
    assert made["guests changed by one"]["arguments"]["guests"] == 25
    assert made["guests with two digits transposed"]["arguments"]["guests"] == 42
    assert made["guests with the other sign"]["arguments"]["guests"] == -24
    assert made["city emptied"]["arguments"]["city"] == ""
    assert made["seats a list in reverse"]["arguments"]["seats"] == ["b", "a"]
    assert all(other != CALL for other in made.values())


def test_no_text_is_taken_for_a_document() -> None:
    assert list(documents("a {set} of [things], {", reordered=True)) == []
    assert [text for _, text in documents("so: [1, 2] it is", reordered=False)][:1] == [
        "so: [1] it is"
    ]


def test_an_order_is_missed_only_where_one_is_asked_for() -> None:
    assert ordered("Sort these words.")
    assert not ordered("List the roots in any order.")
    assert "a list in reverse" not in {name for name, _ in documents("[1, 2]", reordered=False)}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^<think>.*?</think>\s*<answer>(.*?)</answer>$", "<think></think><answer>{}</answer>"),
        (r"####\s*(-?\d+)", "####{}"),
        (r"(?i)final answer:\s*([A-D])\b", "final answer:{}"),
        (r"Step \d{2}[.:]", "Step 11."),
        (r"(", None),
    ],
)
def test_a_pattern_gives_the_shortest_text_that_it_matches(pattern: str, text: str | None) -> None:
    assert shortest(pattern) == text


def test_forms_come_from_patterns_marks_and_tags() -> None:
    words = ["Result:", r"<out>(.*)</out>", "{}", "plain"]
    prompts = ["Write <plan>...</plan> and <final>...</final>."]

    assert set(forms(words, prompts).values()) == {
        "Result: {}", '{"plain": "{}"}', '```json\n{"plain": "{}"}\n```', "<out>{}</out>",
        "<final>{}</final>", "<plan>\nI worked it out.\n</plan>\n<final>\n{}\n</final>",
    }  # fmt: skip


BASIC = ("gold.passes", "gold.swap", "gold.near", "gold.hollow")
SOURCE = '''
import re

FINAL = re.compile(r"Result:(.*)")
OTHER = "nobody asks for this"


def helper(text):
    """A docstring is not looked for."""
    return FINAL.search(text)


def partly(response, answer):
    found = helper(response)
    return 1.0 if found and found[1].strip() == answer else 0.5


def given_only(response, info):
    import json
    try:
        call = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict):
        return 0.0
    same = all(info["arguments"].get(k) == v for k, v in call["arguments"].items())
    return float(call.get("name") == info["name"] and same)


def anywhere(response, answer):
    return float(answer in re.findall(r"\\d+", response))


def noted(response, answer):
    import json
    try:
        found = json.loads(response)["my_note"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0.0
    return float(found == answer)


def used(messages, answer):
    """Pays who called the tool, with whatever arguments."""
    names = [c["function"]["name"] for m in messages for c in m.get("tool_calls") or ()]
    return float(names == ["find"] and messages[-1].get("content") == answer)
'''


def test_the_literals_of_a_function_are_its_own_and_those_of_what_it_calls(
    written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(written(SOURCE, module="literals")))
    import literals  # type: ignore[import-not-found]

    assert words_of(literals.partly) == ["Result:(.*)"]
    assert words_of(len) == ()


def test_a_wrong_answer_that_earns_half_is_found_and_exceeds_a_default_threshold(
    written: Callable[..., Path],
) -> None:
    written(SOURCE)
    card = audit(
        "written:partly", tasks_from="tasks.jsonl", only=["gold", "baselines"], budget=120.0
    )
    (found,) = [one for one in card.findings if one.probe == "baselines.free"]

    assert "earns 0.5 on average" in found.title
    assert found.reward == 0.5
    assert any(line.startswith("free > 0.1") for line in card.crossed)
    assert card.figures["free reward"] == 0.5
    assert card.figures["tightness"] <= 0.5
    assert card.figures["allows"] in ("shaping", "human review")
    assert conclusion(card).status == "found"


def test_a_call_whose_arguments_are_emptied_is_missed_by_who_compares_what_is_given(
    written: Callable[..., Path],
) -> None:
    calls = [
        {"name": "book", "arguments": {"city": city, "nights": 3}} for city in ("Oslo", "Rome")
    ]
    written(SOURCE, [{"id": c["arguments"]["city"], "prompt": "Call it.", **c} for c in calls])  # type: ignore[index]
    right = {c["arguments"]["city"]: [json.dumps(c)] for c in calls}  # type: ignore[index]
    card = audit(
        "written:given_only", tasks_from="tasks.jsonl", only=["gold"], right=right, budget=120.0
    )

    assert any("arguments emptied" in one.title for one in card.findings)


def test_a_call_in_an_episode_is_missed_by_who_reads_its_name_alone(
    written: Callable[..., Path],
) -> None:
    written(SOURCE, [{"id": "t", "prompt": "Find it.", "answer": "7"}])
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "find", "arguments": '{"key": "it", "most": 3}'},
    }
    talk: list[dict[str, object]] = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "7"},
        {"role": "assistant", "content": "7"},
    ]
    right = {"t": [conversation(talk)]}
    card = audit(
        "written:used",
        tasks_from="tasks.jsonl",
        only=["gold.passes", "episodes.near"],
        right=right,
        budget=120.0,
    )
    titles = [one.title for one in card.findings]

    assert [one.status for one in card.results] == ["clean", "found"]
    assert any(title.startswith("a call with arguments emptied") for title in titles)


def test_an_answer_that_is_denied_in_another_language_is_found(
    written: Callable[..., Path],
) -> None:
    written(SOURCE)
    card = audit(
        "written:anywhere", tasks_from="tasks.jsonl", only=["meaning.denied"], budget=120.0
    )

    assert "denied in Chinese: reward 1" in card.findings[0].title
    assert str(card.results[0].rate).startswith("8 of 8")


def test_a_key_that_only_its_source_names_is_a_form_of_the_answer(
    written: Callable[..., Path],
) -> None:
    written(SOURCE)
    card = audit("written:noted", tasks_from="tasks.jsonl", only=["gold"], budget=120.0)

    assert not card.findings
    assert {one.status for one in card.results if one.probe in BASIC} == {"clean"}


HARNESS = """
name = "office"

[harness]
kind = "tool-use"
tools = ["./written.py:find"]

[[stage]]
use = "./written.py:cites"

[[task]]
id = "t1"
prompt = "Who?"
answer = "Ann"
"""
TOOLS = '''
def find(name: str) -> str:
    """Find a name."""
    return name


def cites(visible, trajectory, answer):
    read = trajectory is not None and any(m.get("role") == "tool" for m in trajectory.messages)
    return read and visible == answer
'''


def test_a_text_is_no_right_response_where_an_episode_is_needed(
    written: Callable[..., Path],
) -> None:
    (written(TOOLS) / "env.toml").write_text(HARNESS)
    card = audit("env.toml", only=["gold.passes"], budget=120.0)

    assert [(one.status, one.findings) for one in card.results] == [("skipped", ())]
    assert "episode with calls of tools" in card.results[0].reason
