"""Meaning, not form: the rewrites that a plugin declares do to a score what they do to a
meaning.
"""

from __future__ import annotations

from hypothesis import strategies as st
from rlenv.hooks import Rewrite
from rlenv.model.values import Task

from rlenv_testing.law import case, for_all, law, refuse, require, skip
from rlenv_testing.strategies import rewrites
from rlenv_testing.subject import Subject

NONE = "the plugin declares no such rewrites of this stage's responses (hook rlenv_rewrites)"


@law
def test_keeps(subject: Subject) -> None:
    """Saying the same in another form keeps the score: a false negative punishes what is right."""
    if not any(rewrite.keeps for rewrite in subject.rewrites):
        skip(NONE)
    for rewrite in (rewrite for rewrite in subject.rewrites if rewrite.keeps):
        for pair in (*subject.right, *subject.wrong):
            _kept(subject, pair, rewrite)

    pairs = st.sampled_from([*subject.right, *subject.wrong])

    @for_all(subject, pair=pairs, rewrite=rewrites(subject.rewrites))
    def _(pair: tuple[Task, str], rewrite: Rewrite) -> None:
        _kept(subject, pair, rewrite)


def _kept(subject: Subject, pair: tuple[Task, str], rewrite: Rewrite) -> None:
    task, response = pair
    changed = rewrite.apply(task, response)
    if changed is None:
        return
    subject.counted += 1
    before = subject.passes(task, response)
    after = subject.passes(task, changed)
    what = f"the rewrite {rewrite.name!r} keeps the meaning and changes the score"
    shown = ("before", response), *case((task, changed), subject.result(task, changed))
    require(before == after, what, *shown)


@law
def test_changes(subject: Subject) -> None:
    """Saying something else does not pass: a false positive pays for what is wrong."""
    changing = [rewrite for rewrite in subject.rewrites if not rewrite.keeps]
    if not changing:
        skip(NONE)
    for rewrite in changing:
        for task, response in subject.right:
            changed = rewrite.apply(task, response)
            if changed is not None:
                subject.counted += 1
                what = f"the rewrite {rewrite.name!r} changes the meaning and it still passes"
                refuse(subject, (task, changed), what, ("before", response))
