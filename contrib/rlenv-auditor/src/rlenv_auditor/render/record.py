"""A scorecard as JSON (schema ``rlenv.audit/1``), and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from rlenv.model.errors import InputError
from rlenv.model.record import dumps, plain

from rlenv_auditor.conclusion import conclusion
from rlenv_auditor.model import Finding, Result, Scorecard
from rlenv_auditor.statistics import rate

__all__ = ["SCHEMA", "read", "to_dict", "write"]

SCHEMA = "rlenv.audit/1"


def to_dict(card: Scorecard) -> dict[str, Any]:
    """The scorecard as JSON values; ``audit.schema.json`` beside this module tells every key."""
    body = attrs.asdict(card, recurse=False) | {"complete": card.complete}
    said = {"schema": SCHEMA} | {
        key: plain(value) for key, value in body.items() if key != "results"
    }
    results = [_result(result) for result in card.results]
    return said | {"conclusion": attrs.asdict(conclusion(card)), "results": results}


def _result(result: Result) -> dict[str, Any]:
    body = attrs.asdict(result, recurse=False)
    if result.rate is not None:
        body["rate"] = {**attrs.asdict(result.rate), "share": result.rate.share}
    body["findings"] = [attrs.asdict(finding) for finding in result.findings]
    return {key: plain(value) for key, value in body.items()}


def write(card: Scorecard, path: Path) -> None:
    """Write the file, whole or not at all."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(json.dumps(json.loads(dumps(to_dict(card))), indent=1) + "\n", "ascii")
    partial.replace(path)


def read(path: Path) -> Scorecard:
    """A scorecard that ``write`` wrote.

    Raises:
        InputError: the file cannot be read, or is of another schema.
    """
    try:
        said = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: no scorecard ({error}); `rlenv audit TARGET --json FILE` writes one"
        ) from error
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        found = said.get("schema") if isinstance(said, dict) else type(said).__name__
        raise InputError(f"{path}: its schema is {found!r}, and {SCHEMA!r} is read here")
    known = {field.name for field in attrs.fields(Scorecard)}
    body = {key: value for key, value in said.items() if key in known}
    body["results"] = tuple(_result_from(one) for one in said["results"])
    for key in ("archetypes", "crossed"):
        body[key] = tuple(said[key])
    for key in ("questions", "asides"):
        body[key] = tuple((question, answer) for question, answer in said.get(key, ()))
    return Scorecard(**body)


def _result_from(said: Mapping[str, Any]) -> Result:
    counts = said["rate"]
    share = None if counts is None else rate(counts["hits"], counts["trials"])
    found = tuple(Finding(**one) for one in said["findings"])
    return Result(**{**said, "rate": share, "findings": found})
