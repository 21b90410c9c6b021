"""No text of the repository uses phrases that readers have stumbled over; CONTRIBUTING.md asks for
plain English.
"""

from __future__ import annotations

import re
from pathlib import Path

PHRASES = (  # pattern, what to write instead, an example
    (r"\b[Tt]he house\b(?! (?:is|here))", "the repository", "the tests of the house"),
    (r"\bdearest\b|\bdear (?:stage|call|step)s?\b", "expensive", "the dearest stage"),
    (r"\bwould be a lie\b|\bteach the policy a\b", "a false negative", "a 0 would be a lie"),
    (r"\b(?:is|are|was|were) refused\b", "is rejected, raises", "a task is refused"),
    (
        (
            r"(?<![Tt]here )\bis no"
            r" (?:stage|text|plugin|number|list|table|function|file|command|class)\b"
        ),
        "is not a",
        "3 is no text",
    ),
    (r"\bwhole number", "integer", "a whole number from 1"),
    (r"\bexpected text\b", "expected a string", "expected text, got 3"),
    (r"\btold with (?:its|their) place", "reported with its location", "told with its place"),
    (
        r"\b[Hh]olds? (?:judges|it|them|plugins|every stage) (?:to|against) ",
        "compare with, check against",
        "Hold judges against people",
    ),
    (r"\bunscored at will\b", "responses that can force a fault", "what goes unscored at will"),
    (r"\b[Bb]egin a plugin\b", "scaffold a plugin", "Begin a plugin."),
    (
        r"\bwhat this machine can do\b",
        "report machine capabilities",
        "say what this machine can do",
    ),
    (r"\bnobody trusts\b", "untrusted", "programs that nobody trusts"),
    (r"\bnobody answers for\b", "is not attributed", "what nobody answers for"),
    (
        r"\bstands? (?:beside|apart|between|behind|around|there|in the|in a)\b",
        "is in, is next to",
        "it stands beside the file",
    ),
    (r"\bbelongs? into\b", "belongs in", "the answer belongs into private"),
    (r"\bgraveyard\b|\bautopsy\b|\blast_words\b", "dead, diagnose, final output", "an autopsy"),
)
SUFFIXES = {".md", ".py", ".toml", ".html", ".css", ".js", ".yml", ".yaml", ".txt"}
# This list, what others have written, what a policy or a judge reads, and tables of words.
DATA = re.compile(
    r"/test_words\.py$|/tests/(?:cases|corpus|attacks|honest)/"
    r"|/test_kind_sources\.py$|/protocol/envelope\.py$|/rubric/proposing\.py$|/stages/rubric\.py$"
    r"|/wild_tasks\.py$|/license-[^/]*$|/leaky_verifier/results/"
)


def test_no_text_uses_a_phrase_that_readers_stumble_over(house: Path, files: list[Path]) -> None:
    texts = [
        path
        for path in files
        if (path.suffix in SUFFIXES or path.name == "Makefile") and not DATA.search(str(path))
    ]
    phrases = [(re.compile(pattern), instead) for pattern, instead, _ in PHRASES]
    found = [
        f"{path.relative_to(house)}:{number}: write {instead!r}: {line.strip()[:80]}"
        for path in texts
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        for phrase, instead in phrases
        if phrase.search(line)
    ]

    assert len(texts) > 500
    assert found == []


def test_each_phrase_finds_its_example() -> None:
    assert [example for pattern, _, example in PHRASES if not re.search(pattern, example)] == []
