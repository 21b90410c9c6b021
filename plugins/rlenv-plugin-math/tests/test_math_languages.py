"""Answers in twenty-six languages, row by row: announced, denied, doubted, taken back, corrected;
commas, digits, counters.
"""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path

import pytest
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv_plugin_math.equal import Equal
from rlenv_plugin_math.extract import extract
from rlenv_plugin_math.languages import holds_any, pack, read
from rlenv_plugin_math.languages.packs import DATA
from rlenv_plugin_math.limits import words_of

ROWS = Path(__file__).parent / "languages"
LANGUAGES = sorted(
    words_of("ar bn de en es fa fr ha hi id it ja ko mr pa pl pt ru sw ta te tl tr ur vi zh")
)


def rows(name: str) -> dict[str, list[list[str]]]:
    lines = (ROWS / f"{name}.tsv").read_text("utf-8").splitlines()[1:]
    table = sorted(
        (line.replace("⏎", "\n").split("\t") for line in lines if line), key=lambda row: row[0]
    )
    return {language: list(group) for language, group in groupby(table, key=lambda row: row[0])}


def score(gold: str, response: str) -> float:
    return Equal().check(Attempt(Task("a question", answer=gold), response)).score


OPEN = ("aside", "thirteenth")  # tables of which a share may be judged otherwise
TUNED = rows("tuned")
TABLES = {path.stem: rows(path.stem) for path in ROWS.glob("*.tsv") if path.stem not in OPEN}


@pytest.mark.parametrize(("name", "language"), [(n, la) for n in TABLES for la in TABLES[n]])
def test_every_row_is_judged_as_written(name: str, language: str) -> None:
    table = TABLES[name][language]
    wrong = [row for row in table if score(row[3], row[4]) != float(row[2] == "right")]
    assert wrong == []


def test_rows_held_aside_are_judged_alike() -> None:
    every = [row for group in rows("aside").values() for row in group]
    wrong = [row for row in every if score(row[3], row[4]) != float(row[2] == "right")]
    assert len(wrong) <= len(every) // 20, wrong


def test_few_rows_of_the_open_table_are_judged_otherwise() -> None:
    """Denials, doubts, reports and hypotheses; restatements, selections and rejected options."""
    every = [row for group in rows("thirteenth").values() for row in group]
    paid = [row for row in every if row[2] == "wrong" and score(row[3], row[4]) > 0]
    refused = [row for row in every if row[2] == "right" and score(row[3], row[4]) < 1]
    wrongs = sum(row[2] == "wrong" for row in every)
    assert len(paid) <= 0.01 * wrongs, paid
    assert len(refused) <= 0.02 * (len(every) - wrongs), refused


def test_every_language_has_a_pack_and_rows() -> None:
    assert sorted(path.stem for path in DATA.glob("*.toml")) == LANGUAGES
    assert set(LANGUAGES) <= set(TUNED) | set(TABLES["twelfth"])
    assert {pack(name).name for name in LANGUAGES if name != "en"} == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('[negations]\n"not" = ["nie"]', "negations"),
        ('[negation]\n"not" = ["nie"]\n"or" = ["nie"]', "'nie'"),
    ],
)
def test_a_pack_that_is_not_as_documented_is_rejected(
    content: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xx.toml").write_text(content, "utf-8")
    monkeypatch.setattr("rlenv_plugin_math.languages.packs.DATA", tmp_path)
    with pytest.raises(ValueError, match=complaint):
        pack("xx")


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 5.",
        r"We set $a_n = \nu + \le$, so the sum is \boxed{12}.",
        "Let die, war, gift, pain and chat be words; the total is 5.",
    ],
)
def test_english_is_left_as_it_is(text: str) -> None:
    assert read(text) is None


def test_the_span_is_where_the_answer_was() -> None:
    for response, answer in [
        ("Die gesuchte Antwort ist 12.", "12"),
        ("因此，答案是12。", "12"),
        ("Ответ: \\boxed{12}, так как 5+7=12", "\\boxed{12}"),
        ("Die Ant\u200bwort ist 12, nicht 13.", "12, nicht 13"),
    ]:
        span = extract(response).span
        assert span is not None
        assert response[slice(*span)] == answer


@pytest.mark.parametrize(
    "piece",
    [
        "Die Antwort ist nicht 5, sondern 7. ",
        "答案是5，不是7。",
        "12个",
        "oder ",
        "this is not ",
        "উত্তর 5 নয়। ",
        "het antwoord is niet 5. ",
    ],
)
def test_reading_grows_with_the_length_alone(piece: str) -> None:
    read_ = read(piece * 2_000 + " Antwort")
    assert read_ is not None
    assert len(read_.text) < 4 * len(piece) * 2_000
    assert extract(piece * 20_000).state in ("found", "missing", "ambiguous")


def test_every_english_takeback_has_a_word_that_lets_it_be_looked_for() -> None:
    table = tomllib.loads((DATA / "en.toml").read_text("utf-8"))
    for phrase in (*table["withdrawn"], *table["ignored"], *table["wrong"]):
        assert holds_any("takeback", phrase), phrase
    for phrase in (*table["doubtful"], *table["unsure"]):
        assert holds_any("doubt", phrase), phrase
    assert not holds_any("takeback", "apples are left in the basket.")
