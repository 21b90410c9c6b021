"""Writes a scorecard to the files that the command line names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rlenv_auditor.model import Scorecard

from . import badge, emitted, page, record, sarif

__all__ = ["write"]


def write(card: Scorecard, options: Mapping[str, Any]) -> None:
    """Write a scorecard in each form for which the command line names a file or a folder."""
    if path := options["json_out"]:
        record.write(card, path)
    if path := options["html_out"]:
        kept = str(options["json_out"] or "")
        text = page.page(card, options["signature"], options["tasks_from"], options["python"], kept)
        path.write_text(text, "utf-8")
    if path := options["sarif_out"]:
        path.write_text(json.dumps(sarif.to_sarif(card), indent=1) + "\n", "ascii")
    if path := options["badge_out"]:
        path.write_text(badge.badge(card), "utf-8")
    if folder := options["emit_tests"]:
        folder.mkdir(parents=True, exist_ok=True)
        text = emitted.emitted(card, options["signature"], options["tasks_from"], options["python"])
        (folder / "test_audit_findings.py").write_text(text, "utf-8", errors="backslashreplace")
