"""Findings as SARIF 2.1.0, which code hosts show beside the change."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from rlenv_auditor.conclusion import conclusion
from rlenv_auditor.model import Scorecard

__all__ = ["to_sarif"]

LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}


def to_sarif(card: Scorecard) -> dict[str, Any]:
    """One run with a rule per probe and a result per finding (OASIS, SARIF 2.1.0)."""
    module, colon, _ = card.target.partition(":")
    place = quote(f"{module.replace('.', '/')}.py" if colon else card.target)
    rules = [
        {
            "id": one.probe,
            "shortDescription": {"text": one.hypothesis},
            "defaultConfiguration": {"level": LEVELS[one.severity]},
            "help": {"text": one.findings[0].hint if one.findings else one.hypothesis},
        }
        for one in card.results
    ]
    at = {"physicalLocation": {"artifactLocation": {"uri": place}, "region": {"startLine": 1}}}
    results = [
        {
            "ruleId": one.probe,
            "level": LEVELS[one.severity],
            "locations": [at],
            "partialFingerprints": {"rlenvAudit/v1": one.id},
            "message": {"text": _text(f"{one.title}. Expected: {one.expected}. {one.hint}.")},
            "properties": {
                "code": one.code,
                "probe": one.probe,
                "task": one.task,
                "response": _text(one.response[:2000]),
                "reward": one.reward,
            },
        }
        for one in card.findings
    ]
    said = conclusion(card)
    told = {
        "level": "none" if said.status == "clean" else "warning",
        "descriptor": {"id": said.status},
        "message": {"text": _text(str(said))},
    }
    left = [
        {
            "level": "note",
            "descriptor": {"id": one.code or "other"},
            "associatedRule": {"id": one.probe},
            "message": {"text": _text(f"{one.probe}: {one.status}, {one.reason}")},
        }
        for one in card.results
        if one.status in ("skipped", "incomplete")
    ]
    invocation = {"executionSuccessful": card.complete, "toolExecutionNotifications": [told, *left]}
    driver = {"name": "rlenv-auditor", "version": card.version, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "invocations": [invocation], "results": results}],
    }


def _text(words: str) -> str:
    """What every reader of JSON takes: lone surrogates are spelled out."""
    return words.encode("utf-8", "backslashreplace").decode()
