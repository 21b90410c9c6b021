"""The page that explains the leak: one file with its data in it, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["page"]

PARTS = Path(__file__).resolve().parent / "page"


def page(found: Mapping[str, Any]) -> str:
    """The whole text of the file, from what ``train.py`` found.  Its policy forbids every
    request.
    """
    style, script, body = (
        (PARTS / f"page.{kind}").read_text("utf-8") for kind in ("css", "js", "html")
    )
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"
    shown = [{key: run[key] for key in run if key != "last"} for run in found["before"]]
    data = json.dumps(
        {**found, "before": shown, "after": dict(found["after"], last=None)}, separators=(",", ":")
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta'
        ' name="color-scheme" content="light dark">'
        f"<title>A reward with a leak</title><style>{style}</style></head><body>\n{body}"
        '<script type="application/json"'
        f' id="found">{data.replace("<", chr(92) + "u003c")}</script>\n'
        f"<script>{script}</script></body></html>\n"
    )
