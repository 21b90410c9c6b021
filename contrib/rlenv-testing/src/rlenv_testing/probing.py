"""Probes of a subject: its stage in fresh processes, with what came out remembered."""

from __future__ import annotations

from collections.abc import Sequence

from rlenv.runtime.pickling import pickled

from .bench import Pair, Unchecked
from .law import Broken
from .probe import NotLoaded, ProbeError, Report, Wish, ask
from .subject import Subject

SECONDS = 60.0


def probe(
    subject: Subject, wish: Wish | None = None, pairs: Sequence[Pair] | None = None
) -> Report:
    """What a fresh process says of some pairs, by default the subject's mixture of examples.

    Raises:
        Broken: when the fresh process hangs or dies.
        Unchecked: when the stage cannot be sent there, or not be loaded there.
    """
    subject.bench  # noqa: B018 - no law is checked where no environment takes it
    if wish is None and "plain" in subject.memory:
        subject.counted += len(subject.mixture)
        return _known(subject.memory["plain"])
    asked = subject.mixture if pairs is None else pairs
    found = _asked(subject, wish or Wish(), asked)
    subject.counted += len(asked)
    if wish is None:
        subject.memory["plain"] = found
    return _known(found)


def _known(found: object) -> Report:
    if isinstance(found, (Broken, Unchecked)):
        raise found
    assert isinstance(found, Report)
    return found


def _asked(subject: Subject, wish: Wish, pairs: Sequence[Pair]) -> Report | Broken | Unchecked:
    request = (subject.origin or subject.stage, subject.before, pairs)
    try:
        blob = pickled(request)
    except Exception as err:  # noqa: BLE001 - pickling runs code of the stage
        return Unchecked(
            f"the stage cannot be sent to a fresh process: {type(err).__name__}: {err}"
        )
    try:
        return ask(blob, wish, SECONDS)
    except NotLoaded as err:
        # What loads in a plain process and not in this one depends on what this one differs in.
        plain = wish == Wish() or not isinstance(subject.memory.get("plain"), Report)
        return Unchecked(str(err)) if plain else Broken(str(err))
    except ProbeError as err:
        return Broken(str(err))
    except OSError as err:
        return Unchecked(f"a fresh process could not be started: {err}")
