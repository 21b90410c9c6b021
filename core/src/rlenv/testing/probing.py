"""Probes of a subject: its stage in fresh processes, with what came out remembered."""

from __future__ import annotations

import pickle

import pytest

from .law import Broken
from .probe import ProbeError, Report, Wish, ask
from .subject import Subject

SECONDS = 60.0


def probe(subject: Subject, wish: Wish | None = None) -> Report:
    """What a fresh process says of the subject's mixture of examples; skips a stage that cannot get there.

    Raises:
        Broken: when the fresh process hangs or dies.
    """
    subject.bench  # noqa: B018 - skips where no environment takes the stage
    if wish is None and "plain" in subject.memory:
        subject.counted += len(subject.mixture)
        return _known(subject.memory["plain"])
    found = _asked(subject, wish or Wish())
    subject.counted += len(subject.mixture)
    if wish is None:
        subject.memory["plain"] = found
    return _known(found)


def _known(found: Report | Broken) -> Report:
    if isinstance(found, Broken):
        raise found
    return found


def _asked(subject: Subject, wish: Wish) -> Report | Broken:
    origin = subject.origin or subject.stage
    try:
        pickle.dumps((origin, subject.before))
    except Exception:  # noqa: BLE001 - pickling runs code of the stage
        pytest.skip("the stage cannot be sent to a fresh process: see the law 'travels'")
    try:
        return ask(origin, subject.before, subject.mixture, wish, SECONDS)
    except ProbeError as err:
        return Broken(str(err))
