"""Citations that resolve, and quotations that are in a source."""

from __future__ import annotations

from typing import Any

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv.text import visible
from rlenv_plugin_constraints.kinds.citations import Citations
from rlenv_plugin_constraints.kinds.quotes import VerbatimQuotes
from rlenv_plugin_constraints.text import Text

OWN = Citations()
DECLARED = Citations(sources=("1", "2", "smith2020"))
SKY = "The sky is blue"


@pytest.mark.parametrize(
    ("rule", "response", "fits"),
    [
        (OWN, f"{SKY} [1].\n\n[1] Smith, Sky, 2020.", True),
        (OWN, f"{SKY} [2].\n\n[1] Smith, Sky, 2020.", False),
        (OWN, f"{SKY} [^a].\n\n[^a]: Smith on Sky", True),
        (OWN, f"{SKY} [^b].\n\n[^a]: Smith on Sky", False),
        (OWN, f"{SKY} [1, 2].\n\nReferences\n1. One thing\n2. Two things", True),
        (OWN, f"{SKY} [1-3].\n\n## References\n1. One thing\n2. Two things", False),
        (OWN, f"{SKY} [1–2].\n\n**Sources:**\n1. One thing\n2. Two things", True),
        (OWN, "[1]\n\n[1] Smith, Sky", False),
        (OWN, "No citations at all.", False),
        (OWN, f"{SKY} [1].", False),
        (OWN, "Use the list `a[1]` here.\n\n[1] Smith, Sky", False),
        (OWN, f"{SKY} [1].\n\n[1] .", False),
        (OWN, f"{SKY} [1].\n\n[1] One source\n[1] Two source", False),
        (OWN, "The sky is [blue](https://x.org/a).", True),
        (OWN, "The sky is [blue][s].\n\n[s]: https://x.org", True),
        (OWN, "The sky is [blue][q].\n\n[s]: https://x.org", False),
        (OWN, f"```\n{SKY} [1]\n```\n\n[1] Smith said so", False),
        (OWN, "[1] Smith, Sky, 2020.\n[2] Jones [1], Sea", False),
        (OWN, f"<think>{SKY} [1].</think>\n\n[1] Smith, Sky", False),
        (DECLARED, f"{SKY} [1].", True),
        (DECLARED, f"{SKY} [3].", False),
        (DECLARED, f"{SKY} [@smith2020, p. 3].", True),
        (DECLARED, f"{SKY} [@smith2020; @jones].", False),
        (DECLARED, f"{SKY} [smith2020].", True),
        (DECLARED, f"{SKY} [jones1999].", False),
        (DECLARED, f"{SKY} [1]. The sea too [9].\n\n[9] Invented here", False),
        (DECLARED, f"{SKY} [see note].", False),
        (Citations(sources=("https://a.org/x",)), "So [so](https://a.org/x).", False),
        (Citations(sources=("https://a.org/x",)), "It is surely [so](https://a.org/x).", True),
        (Citations(sources=("https://a.org/x",)), "It is surely [so](https://b.org/x).", False),
        (Citations(sources=("1", "2"), all_used=True), f"{SKY} [1].", False),
        (Citations(sources=("1", "2"), min=2), f"{SKY} [1][2].", True),
        (Citations(sources=("1", "2"), min=2), f"{SKY} [1][1].", False),
    ],
)
def test_citations(rule: Citations, response: str, fits: bool) -> None:
    assert rule.check(Text(visible(response))).satisfied is fits


def test_dangling_and_unused_ones_are_told() -> None:
    found = OWN.check(Text(f"{SKY} [1], [3].\n\n[1] Smith, Sky\n[2] Jones, Sea"))
    assert found.measured == {"cited": ["1"], "dangling": ["3"], "unused": ["2"]}
    assert found.spans == ((21, 24),)


@pytest.mark.parametrize(
    "options",
    [{"sources": ("1", "1")}, {"sources": (" ",)}, {"sources": ("1",), "min": 2}, {"min": -1}],
)
def test_citations_that_nobody_can_give(options: Any) -> None:
    with pytest.raises(ConfigError):
        Citations(**options)


SOURCE = (
    "The quick brown fox jumps over the lazy dog. It costs -5.5 dollars, he said, and we don't"
    " mind."
)
QUOTES = VerbatimQuotes(sources=(SOURCE, "Another text stands here for good measure."))


@pytest.mark.parametrize(
    ("response", "fits"),
    [
        ('He wrote "the quick brown fox jumps" there.', True),
        ('He wrote "the quick red fox jumps" there.', False),
        ('"The quick brown fox jumps over the lazy dog." That is it.', True),
        ("“quick brown fox … lazy dog”", True),
        ("“quick brown fox [...] lazy cat”", False),
        ("“lazy dog … quick brown fox”", False),
        ("“quick brown … text stands here”", False),
        ('"the … fox … the … dog"', False),
        ("«brown fox jumps over»", True),
        ("»brown fox jumps over«", True),
        ("„quick brown fox jumps“", True),
        ("「quick brown fox jumps」", True),
        ("‘the quick brown fox jumps’", True),
        ("we quote ''quick brown fox jumps''", True),
        ("> The quick brown fox jumps\n> over the lazy dog.", True),
        ("> The quick brown fox jumps\n> over the crazy dog.", False),
        ("It's fine, don't quote, the dogs' tails.", False),
        ('"quick brown [animal] jumps over"', True),
        ('"[a] [b] [c] [d]"', False),
        ('"It costs 5.5 dollars"', False),
        ('"It costs -5.5 dollars"', True),
        ("'The quick brown fox jumps' and 'brown fox flies over it'", False),
        ('"the quick brown fox jumps and never closed', False),
        ("“The Quick Brown Fox jumps”", False),
        ('"fox" only', False),
        ('"quick brown fox jumps" and "a fabricated long quote here".', False),
        ("“quick brown fox jumps” and ＂a fabricated quote of words＂", False),
        ("“quick brown fox jumps” and <q>a fabricated quote of words</q>", False),
        ("“quick brown fox jumps” and &quot;a fabricated quote of words&quot;", False),
        ("“quick brown fox jumps” and ‹a fabricated quote of words›", False),
        ("“quick brown fox jumps”\n\n> a fabricated quote of words", False),
        ('a 5" pipe and "quick brown fox jumps"', True),
        ('**"brown fox jumps over"**', True),
        ('"and we don’t mind"', True),
        ("", False),
        ("\ud800", False),
    ],
)
def test_quotations(response: str, fits: bool) -> None:
    assert QUOTES.check(Text(response)).satisfied is fits


WORDS = SOURCE.split()


@given(
    st.integers(0, len(WORDS) - 5),
    st.integers(5, 10),
    st.sampled_from(["“”", '""', "«»", "„“", "「」"]),
)
def test_every_stretch_of_the_source_may_be_quoted(begin: int, length: int, marks: str) -> None:
    quote = " ".join(WORDS[begin : begin + length])
    assert QUOTES.check(Text(f"So: {marks[0]}{quote}{marks[1]} he says.")).satisfied


@given(st.integers(0, len(WORDS) - 6), st.integers(0, 5), st.sampled_from(["“”", '""', "«»"]))
def test_a_word_exchanged_is_no_quotation(begin: int, at: int, marks: str) -> None:
    words = WORDS[begin : begin + 6]
    words[at] = "zebra"
    assert not QUOTES.check(Text(f"So: {marks[0]}{' '.join(words)}{marks[1]} he says.")).satisfied


def test_policies_of_quoting() -> None:
    strict = VerbatimQuotes(sources=(SOURCE,), ellipsis="forbid", brackets="forbid")
    assert not strict.check(Text("“quick brown fox … lazy dog”")).satisfied
    assert not strict.check(Text('"quick brown [animal] jumps over"')).satisfied
    with pytest.raises(ConfigError):
        VerbatimQuotes(sources=())


@pytest.mark.parametrize(
    "unit", ["[1] ", '"a ', "“", "'a ", "[a](b", "> a\n", "“a b c d ” ", "[1,", "``"]
)
@pytest.mark.parametrize("rule", [OWN, DECLARED, QUOTES], ids=["own", "declared", "quotes"])
def test_work_grows_with_the_response_and_no_faster(rule: Any, unit: str) -> None:
    assert not rule.check(Text(unit * 5000)).satisfied
    assert_linear(lambda text: rule.check(Text(text)), unit, 8_000)


def test_many_long_quotations_are_undecided() -> None:
    rule = VerbatimQuotes(sources=("word " * 100_000,))
    found = rule.check(Text("“word word word word” " * 2000))
    assert found.undecided
