"""Hypothesis strategies for those who test stages, observers and readers of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from rlenv.hooks import Rewrite
from rlenv.model.values import FAULT_KINDS, Fault, Outcome, StageResult, Task, Verdict

NASTY = (
    "", " ", "\n", "\t \r\n", "\x00", "a\x00b", "\ud800", "\udfff\ud800", "\ufeff", "\u202e123",
    "\u200b", "e\u0301", "ﬁ", "İ", "ß", "１２", "½", "٣", "\U0001f469\u200d\U0001f4bb", "NaN",
    "nan", "inf", "-inf", "1e999", "-0.0", "0/0", "1/0", "0x1p-1074", "9" * 5_000, "-" * 300 + "1",
    "1e-400", "(" * 500 + ")" * 500, "[" * 500, "{" * 300 + "}" * 300, "<a>" * 200, "```\n" * 50,
    "\\" * 99, "\\boxed{", "$" * 99, "%s%n%d", "{0.__class__}", "__import__('os')",
    "'; DROP TABLE tasks; --", "../../etc/passwd", "null", "None", "true", "[]", "{}",
    '{"score": 1}', "<think>", "</think>", "a" * 3_000, "a b " * 800, "\r", "\x1b[2J", "\x85",
    "\u2028", "1,2,3", "1.2.3", "--", "'''", '"', "\\u0041", "&lt;", "\x7f",
)  # fmt: skip
"""Texts that have broken verifiers before."""

_FRAGMENTS = (
    "the answer is ",
    "Answer: ",
    "\\boxed{",
    "}",
    "```",
    "<answer>",
    "</answer>",
    "#### ",
    "\n\n",
    " or ",
    " not ",
    "0",
    "1",
    "-",
    ".",
    ",",
    "=",
    "(",
    ")",
)


def _text(max_size: int) -> SearchStrategy[str]:
    """As ``st.text()``, which finds out by itself, character by character, what UTF-8 can
    encode.
    """
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=max_size)


def nasty_text(max_size: int = 200) -> SearchStrategy[str]:
    """Draw text that nobody expects: surrogates, NUL, bombs of brackets, pieces of formats."""
    anything = st.text(st.characters(exclude_categories=()), max_size=max_size)
    pieces = st.lists(
        st.one_of(st.sampled_from(_FRAGMENTS), st.sampled_from(NASTY), _text(max_size=8)),
        max_size=12,
    ).map("".join)
    return st.one_of(st.sampled_from(NASTY), anything, pieces)


def responses(examples: Sequence[str] = ()) -> SearchStrategy[str]:
    """Draw what a policy may write: nasty text, and given responses cut, joined and littered."""
    if not examples:
        return nasty_text()
    known = st.sampled_from(tuple(dict.fromkeys(examples)))
    return st.one_of(
        nasty_text(), known, known.flatmap(_littered), st.tuples(known, known).map("\n".join)
    )


def _littered(text: str) -> SearchStrategy[str]:
    cut = st.integers(0, len(text))

    def inserted(drawn: tuple[int, str]) -> str:
        at, litter = drawn
        return text[:at] + litter + text[at:]

    return st.one_of(
        cut.map(lambda at: text[:at]),
        st.tuples(cut, nasty_text(20)).map(inserted),
        st.integers(2, 20).map(lambda n: text * n),
    )


def tasks(answers: SearchStrategy[object] | None = None) -> SearchStrategy[Task]:
    """Tasks with any prompt, id and JSON in ``info``; ``answers`` says what their answers are."""
    names = st.text("abcdefghijklmnopqrstuvwxyz-_0123456789", min_size=1, max_size=12)
    leaves = st.one_of(st.none(), st.booleans(), st.integers(), _text(max_size=20))
    info = st.dictionaries(names, st.one_of(leaves, st.lists(leaves, max_size=3)), max_size=3)
    answer = st.one_of(st.none(), _text(max_size=20)) if answers is None else answers
    return st.builds(Task, _text(max_size=80), answer, info, st.none() | names)


GENERIC = (
    Rewrite("a newline after", lambda _task, text: f"{text}\n", keeps=True),
    Rewrite("a newline before", lambda _task, text: f"\n{text}", keeps=True),
    Rewrite("blanks after", lambda _task, text: f"{text}  ", keeps=True),
)
"""Rewrites that keep the meaning of nearly every response."""


def rewrites(declared: Sequence[Rewrite] = GENERIC, most: int = 2) -> SearchStrategy[Rewrite]:
    """One to ``most`` of the declared rewrites that keep a meaning, applied one after the other."""
    keeping = [rewrite for rewrite in declared if rewrite.keeps]
    chains = st.lists(st.sampled_from(keeping), min_size=1, max_size=most, unique_by=id)
    return chains.map(chained)


def chained(chain: Sequence[Rewrite]) -> Rewrite:
    """Rewrites as one; where one does not apply, the whole does not."""

    def apply(task: Task, text: str) -> str | None:
        changed: str | None = text
        for rewrite in chain:
            changed = None if changed is None else rewrite.apply(task, changed)
        return changed

    return Rewrite(", then ".join(rewrite.name for rewrite in chain), apply, keeps=True)


def verdicts() -> SearchStrategy[Verdict]:
    """Verdicts of one stage, scored and unscored, as ``Environment.evaluate`` gives them."""
    scores = st.floats(0, 1)
    data = st.dictionaries(
        _text(max_size=6), st.one_of(st.integers(), _text(max_size=9)), max_size=2
    )
    outcomes = st.builds(
        Outcome, scores, detail=_text(max_size=30), data=data, steps=st.none(), private=data
    )
    scored = outcomes.map(_scored)
    fault = st.builds(Fault, st.sampled_from(FAULT_KINDS), _text(max_size=30), st.booleans())
    return st.one_of(scored, fault.map(_unscored))


def _scored(outcome: Outcome) -> Verdict:
    return Verdict(outcome.score, (StageResult("stage", outcome),), None, "0" * 64, outcome.score)


def _unscored(fault: Fault) -> Verdict:
    return Verdict(
        value=None,
        results=(StageResult("stage", None, fault),),
        stopped_at="stage",
        fingerprint="0" * 64,
        raw=None,
        fault=fault,
    )
