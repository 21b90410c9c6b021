"""What actors answer: JSON in bytes, whose every value is checked by the caller."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rlenv import Verdict
from rlenv.authoring import dumps as as_text
from rlenv_cli.scores import verdict_from_dict


def dumps(reply: Mapping[str, object]) -> bytes:
    """In an actor: its answer."""
    return as_text(reply).encode("ascii")


def problems(reply: object) -> list[str]:
    """What an actor says of an environment that it opened; [] where all is well.

    Raises:
        ValueError: when it is not such an answer.
    """
    found = _object(reply).get("problems")
    if not isinstance(found, list):
        raise ValueError("an actor did not say whether it has the environment")
    return [str(line)[:2000] for line in found]


def verdicts(reply: object, size: int, fingerprint: str) -> list[Verdict]:
    """The verdicts of a batch, which all have the caller's fingerprint.

    Raises:
        ValueError: when it is not such an answer, or not one verdict for each row.
    """
    found = _object(reply)
    if "error" in found:
        raise ValueError(str(found["error"])[:2000])
    records = found.get("verdicts")
    if not isinstance(records, list) or len(records) != size:
        raise ValueError(f"an actor did not answer with {size} verdicts")
    return [_verdict(record, fingerprint) for record in records]


def _verdict(record: object, fingerprint: str) -> Verdict:
    if not isinstance(record, dict):
        raise ValueError("not the record of a verdict")
    return verdict_from_dict({**record, "fingerprint": fingerprint})


def _object(reply: object) -> dict[str, object]:
    try:
        found = json.loads(reply) if isinstance(reply, bytes) else None
    except RecursionError:
        found = None
    if not isinstance(found, dict):
        raise ValueError("an actor answered with something that is not a JSON object")
    return found
