"""Language models as judges, for rlenv: references, rubrics, checklists, pairs, panels and steps.

Importing this module imports no stage and no HTTP client.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import hookimpl

__all__ = ["RLENV_API", "rlenv_stages"]

RLENV_API = 1


@hookimpl
def rlenv_stages() -> Mapping[str, str]:
    """The stages, as targets that are imported when they are used."""
    home = "rlenv_plugin_judge.stages"
    return {
        "reference": f"{home}.reference:Reference",
        "rubric": f"{home}.rubric:Rubric",
        "checklist": f"{home}.checklist:Checklist",
        "pairwise": f"{home}.pairwise:Pairwise",
        "panel": f"{home}.panel:Panel",
        "steps": f"{home}.steps:Steps",
    }
