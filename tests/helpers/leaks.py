"""Audits of reward functions for sums, bare or as the stage of an env.toml: one leaks, another is
sound.
"""

from __future__ import annotations

import json
from pathlib import Path

ONLY = ("gold.passes", "gold.near", "baselines.options")
EXPECTED = {  # of a function that rewards any text with the answer in it, and of one that compares
    "leaky": {"gold.passes": "clean", "gold.near": "found", "baselines.options": "found"},
    "sound": dict.fromkeys(ONLY, "clean"),
}
ANSWERS = {"17 + 25": "42", "12 * 12": "144", "90 - 37": "53", "2 ** 10": "1024"}
ENV = """
name = "sums"
[tasks]
path = "tasks.jsonl"
id = "id"
prompt = "prompt"
answer = "answer"
[[stage]]
use = "train/{kind}"
timeout = 60
options = {{ {option} = "{target}" }}
"""


def audited(folder: Path, target: str, kind: str, option: str = "") -> dict[str, str]:
    """Status by probe of what ``target`` names, which lies in ``folder``, the working directory.

    It is audited as a function of ``kind``, or as this ``option`` of the stage ``train/KIND``.
    """
    from rlenv_auditor import audit

    rows = [
        {"id": ask, "prompt": f"{ask} = ?", "answer": answer} for ask, answer in ANSWERS.items()
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if option:
        (folder / "env.toml").write_text(ENV.format(kind=kind, option=option, target=target))
        card = audit("env.toml", only=ONLY, tasks=4)
    else:
        card = audit(target, signature=kind, tasks_from="tasks.jsonl", only=ONLY, tasks=4)
    return {result.probe: result.status for result in card.results}
