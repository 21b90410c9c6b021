"""``constraints/all``: shares, all or nothing, constraints of tasks, what is reported, and what is
rejected.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from typing import Any

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.compose.stages import Attempt
from rlenv.environment import Environment
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Outcome, Task
from rlenv_plugin_constraints.stages.all import All

TABLES: tuple[dict[str, Any], ...] = (
    {"kind": "max_words", "n": 6},
    {"kind": "forbids", "words": ["cat"]},
    {"kind": "no_comma"},
    {"kind": "contains", "words": ["dog"]},
)
SAID = "The cat, and the dog, are here now"


def check(raw: str, prompt: str = "Tell me of animals.", **options: Any) -> Outcome:
    options.setdefault("constraints", TABLES)
    return All(**options).check(Attempt(Task(prompt), raw))


def test_the_score_is_the_share_that_holds() -> None:
    assert check("My dog sleeps").score == 1.0
    assert check("My cat sleeps").score == 0.5
    assert check("My cat, asleep").score == 0.25
    assert check(SAID).score == 0.25


def test_or_all_or_nothing() -> None:
    assert check("My dog sleeps", score="all").score == 1.0
    assert check("My cat sleeps", score="all").score == 0.0


def test_the_data_tells_of_each_what_was_measured_wanted_and_where() -> None:
    data: Mapping[str, Any] = check(SAID).data
    assert (data["satisfied"], data["total"]) == (1, 4)
    first, second, third, fourth = data["constraints"]
    assert first == {
        "kind": "max_words",
        "satisfied": False,
        "measured": 8,
        "wanted": {"max": 6},
        "spans": [[26, 34]],
        "note": "",
    }
    assert [SAID[a:b] for a, b in second["spans"]] == ["cat"]
    assert [SAID[a:b] for a, b in third["spans"]] == [",", ","]
    assert fourth["satisfied"]
    assert json.loads(json.dumps(data)) == data


def test_the_detail_names_what_failed() -> None:
    detail = check("My cat sleeps").detail
    assert detail.startswith("2 of 4 constraints hold; forbids: 1, wanted")
    assert "there: cat" in detail


def test_what_says_nothing_gets_nothing_and_is_still_measured() -> None:
    out = check("ok", constraints=({"kind": "no_comma"},))
    assert out.score == 0.0
    assert out.data["satisfied"] == 1
    assert "no content" in out.detail
    assert "fillers" in str(out.data["contentless"])
    assert check("ok", constraints=({"kind": "no_comma"},), content=False).score == 1.0


def test_thinking_is_no_part_of_the_response() -> None:
    raw = "<think>A cat, perhaps? No, no.</think>My dog sleeps"
    assert check(raw).score == 1.0
    assert check(raw, thinking="keep").score < 1.0
    found: Any = check("<think>hm</think>My cat, dog").data["constraints"]
    assert found[2]["spans"] == [[23, 24]]


def test_thinking_that_never_ends_says_nothing() -> None:
    assert check("<think>My dog sleeps").score == 0.0


def test_tasks_may_have_constraints_of_their_own() -> None:
    stage = All(constraints=TABLES[:1], source="info.rules.list")
    assert stage.uses == ("info.rules.list",)
    task = Task("q", info={"rules": {"list": [{"kind": "contains", "words": ["dog"]}]}})
    stage.validate(task)
    out = stage.check(Attempt(task, "My dog sleeps"))
    rows: Any = out.data["constraints"]
    assert [row["kind"] for row in rows] == ["max_words", "contains"]


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([{"kind": "contain", "words": ["a"]}], 'did you mean "contains"?'),
        ([{"kind": "contains"}], "info.rules[0].words: required, and missing"),
        ([], "at least one constraint"),
        ("max_words", "at least one constraint"),
        ([{"kind": "contains", "words": ["cat"]}], "no response satisfies both"),
    ],
)
def test_a_tasks_mistakes_are_told_when_it_loads(tables: Any, said: str) -> None:
    stage = All(constraints=({"kind": "forbids", "words": ["cat"]},), source="info.rules")
    with pytest.raises(TaskError) as refused:
        stage.validate(Task("q", info={"rules": tables}, id="t1"))
    assert said in str(refused.value)
    assert "t1" in str(refused.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, 'source = "info.constraints"'),
        ({"source": "answer"}, "source is a path"),
        ({"constraints": [{"kind": "uppercase"}, {"kind": "lowercase"}]}, "no response"),
        ({"constraints": [{"kind": "regex", "pattern": "("}]}, "constraints[0]"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: Any, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        All(**options)
    assert said in str(refused.value)


def test_an_environment_names_the_place_of_a_mistake() -> None:
    table = {"kind": "any", "constraints": [{"kind": "max_wrds", "n": 4}]}
    stage = {"use": "constraints/all", "options": {"constraints": [table], "score": "most"}}
    with pytest.raises(ConfigError) as refused:
        Environment.from_dict({"name": "e", "stage": [stage]})
    assert "stage[0].options.score" in str(refused.value)
    stage["options"] = {"constraints": [table]}
    with pytest.raises(ConfigError) as refused:
        Environment.from_dict({"name": "e", "stage": [stage]})
    assert "stage[0].options.constraints[0].constraints[0].kind: there is no" in str(refused.value)


def test_an_instruction_of_ifeval_is_a_kind_too() -> None:
    table = {"kind": "keywords:existence", "keywords": ["dog"]}
    out = check("My dog sleeps", constraints=(table,))
    assert out.score == 1.0
    rows: Any = out.data["constraints"]
    assert rows[0]["kind"] == "keywords:existence"
    with pytest.raises(ConfigError, match="keywords:existence"):
        All(constraints=({"kind": "keywords:existense", "keywords": ["dog"]},))


def test_a_copy_says_the_same() -> None:
    stage = All(constraints=TABLES)
    attempt = Attempt(Task("q"), SAID)
    assert pickle.loads(pickle.dumps(stage)).check(attempt) == stage.check(attempt)


EVERY: list[dict[str, Any]] = [
    *TABLES,
    {"kind": "sentences", "min": 1},
    {"kind": "paragraphs", "min": 1},
    {"kind": "lines", "min": 1},
    {"kind": "characters", "min": 1},
    {"kind": "keyword", "word": "the", "n": 1},
    {"kind": "letter", "letter": "e", "n": 1},
    {"kind": "starts_with", "text": "My", "case": False},
    {"kind": "ends_with", "text": "now", "case": False},
    {"kind": "quoted"},
    {"kind": "postscript"},
    {"kind": "first_word", "word": "my"},
    {"kind": "repeats_prompt"},
    {"kind": "uppercase"},
    {"kind": "capital_words", "min": 1},
    {"kind": "no_characters", "characters": "?"},
    {"kind": "title"},
    {"kind": "bullets", "min": 1},
    {"kind": "highlights", "min": 1},
    {"kind": "placeholders", "min": 1},
    {"kind": "choice", "options": ["my", "your"]},
    {"kind": "sections", "min": 1},
    {"kind": "responses"},
    {"kind": "section_order", "headings": ["My"]},
    {"kind": "not", "constraint": {"kind": "quoted"}},
    {"kind": "markdown_table"},
    {"kind": "iso_dates"},
    {"kind": "number_in_range", "min": 1, "every": True},
    {"kind": "sorted_lines"},
    {"kind": "word_repeats", "max": 1, "n": 3},
    {"kind": "alternating_case"},
    {"kind": "tokens", "n": 9, "by": "space"},
]
EVERYTHING = All(score="all", constraints=EVERY)
PIECES = st.sampled_from(
    [
        '"',
        "<<",
        ">>",
        "*",
        "**",
        "[",
        "]",
        "\n",
        "\r\n",
        "Section 1",
        "P.S.",
        "my",
        "******",
        "\u200b",
        "é",
        "\ud800",
        "猫",
        "- ",
        ".",
        " ",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
def test_every_text_gets_an_outcome_with_spans_within_it(raw: str) -> None:
    out = EVERYTHING.check(Attempt(Task("My prompt is this."), raw))
    assert 0.0 <= out.score <= 1.0
    rows: Any = out.data["constraints"]
    for row in rows:
        assert all(0 <= a <= b <= len(raw) for a, b in row["spans"])


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "my ",
        "*",
        "* ",
        "[",
        "[a",
        "<<a",
        '"',
        "\n",
        " ",
        ".",
        "a.",
        "Section 1\n",
        "P.S.",
        "é",
        "e\u0301",
        "\u200b",
        "-",
        "My\n",
        "1,",
        "_",
        "'",
        "猫",
        "the the ",
    ],
)
def test_work_grows_with_the_text_and_no_faster(unit: str) -> None:
    def work(text: str) -> float:
        return EVERYTHING.check(Attempt(Task("My prompt is this."), text)).score

    assert work(unit * 20_000) in (0.0, 1.0)
    assert_linear(work, unit, 8_000)
