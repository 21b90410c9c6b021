"""Purity: a verification leaves nothing behind, in its process and on its machine."""

from __future__ import annotations

from rlenv_testing.law import case, law, require
from rlenv_testing.probing import probe
from rlenv_testing.subject import Subject


@law
def test_task_untouched(subject: Subject) -> None:
    """A task is the same after its verification: the next response is judged by the same answer."""
    seen = probe(subject)
    require(
        not seen.tasks, "it changes the task", *case(subject.mixture[min(seen.tasks, default=0)])
    )


@law
def test_globals_untouched(subject: Subject) -> None:
    """Environment variables, working directory, random state and all else that is shared stay as
    they are.
    """
    seen = probe(subject)
    require(not seen.changed, "it changes " + "; ".join(seen.changed))


@law
def test_leaves_nothing(subject: Subject) -> None:
    """No thread, process, file or open handle stays behind: a run of a million verifications would
    drown in them.
    """
    seen = probe(subject)
    require(not seen.left, "it leaves " + ", ".join(seen.left[:8]))
