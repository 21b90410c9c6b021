"""The language of a text, told offline: the same each time, and nothing where it cannot be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from growth import assert_linear
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.kinds.language import Language
from rlenv_plugin_constraints.language import LANGUAGES, identify
from rlenv_plugin_constraints.text import Text

_ROWS = [
    json.loads(line)
    for line in (
        (Path(__file__).parent / "cases" / "languages.jsonl").read_text("utf-8").splitlines()
    )
]


@pytest.mark.parametrize("row", _ROWS, ids=[f"{at}-{r['language']}" for at, r in enumerate(_ROWS)])
def test_a_sentence_tells_its_language(row: dict[str, str]) -> None:
    assert identify(row["text"]) == row["language"]


@pytest.mark.parametrize("said", ["", " ", "12345", "...", "🙂🙂", "$ 5 %", "\u200b", "\ud800"])
def test_what_has_no_letters_is_in_no_language(said: str) -> None:
    assert identify(said) == ""
    assert not any(Language(code).check(Text(said)).satisfied for code in LANGUAGES)


def test_a_paragraph_in_another_language_counts() -> None:
    french = "Le chien court dans le parc pendant que les enfants jouent au ballon."
    english = "The dog runs in the park while the children play with the ball."
    found = Language("fr").check(Text(f"{french}\n\n{english}"))
    assert not found.satisfied
    assert Language("fr").check(Text(f"{french}\n\n{french}")).satisfied


def test_names_and_code_of_another_script_do_not_count() -> None:
    said = (
        "Это простой пример программы, которую написал Guido. ```print('Hello, world and all of"
        " you')```"
    )
    assert Language("ru").check(Text(said)).satisfied


def test_mostly_another_script_is_another_language() -> None:
    assert not Language("kn").check(Text("ನಮಸ್ಕಾರ hello my dear friends of the world")).satisfied


def test_an_unknown_code_is_named() -> None:
    with pytest.raises(ConfigError, match="klingon"):
        Language("klingon")


def test_it_grows_with_a_text_no_further_than_its_limit() -> None:
    unit = "the cat and the dog are here "
    assert identify(unit * 1000) == "en"
    assert_linear(identify, unit)
