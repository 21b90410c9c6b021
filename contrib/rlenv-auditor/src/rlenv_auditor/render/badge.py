"""A badge: one line of SVG for a README."""

from __future__ import annotations

from html import escape

from rlenv_auditor.conclusion import conclusion
from rlenv_auditor.model import Scorecard

__all__ = ["badge"]

SHORT = {"incomplete": "incomplete", "free": "free reward", "unmeasured": "not measured"}


def badge(card: Scorecard) -> str:
    """An SVG of about 200 by 20 pixels; green only where the conclusion is "clean"."""
    count = len(card.findings)
    status = conclusion(card).status
    if count:
        said = f"{count} finding{'s' * (count > 1)}"
        color = "#c0392b"
    elif status == "clean":
        said = f"nothing in {card.tasks} tasks"
        color = "#27824a"
    else:
        said = SHORT.get(status, "too little evidence")
        color = "#7f8c8d"
    left = 44
    right = 14 + 7 * len(said)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img"'
        f' aria-label="audit: {escape(said)}">'
        f'<rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{color}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        '<text x="7" y="14">audit</text>'
        f'<text x="{left + 7}" y="14">{escape(said)}</text></g></svg>\n'
    )
