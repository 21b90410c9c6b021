"""Findings as tests: a file for pytest that fails until the holes are closed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files

from rlenv_auditor.model import Finding, Scorecard

__all__ = ["TEMPLATES", "emitted"]

TEMPLATES = tomllib.loads(files(__package__).joinpath("emitted.toml").read_text("utf-8"))


def emitted(card: Scorecard, signature: str = "", tasks_from: str = "", python: str = "") -> str:
    """The text of the file."""
    body = "".join(
        _test(finding, card.pass_mark)
        for finding in card.findings
        if finding.more.get("replays") is not False
        and (_check(finding, card.pass_mark) or _both(finding))
    )
    call = {"signature": signature, "tasks_from": tasks_from, "python": python}
    return str(TEMPLATES["head"]).format(target=card.target, seed=card.seed, **call) + body


def _test(finding: Finding, mark: float) -> str:
    name = re.sub(r"\W+", "_", finding.id).strip("_").lower()
    title = re.sub(r"[^ -~]", "?", finding.title).replace("\\", "/").replace('"', "'")
    return str(TEMPLATES["both" if _both(finding) else "test"]).format(
        name=name,
        title=title,
        response=finding.response,
        task=finding.task,
        check=_check(finding, mark),
        under=finding.more.get("under"),
    )


def _both(finding: Finding) -> bool:
    """Whether two calls show it: one alone, and one under what makes it differ."""
    under = finding.more.get("under", {})
    return bool(under) and "first" in finding.more and "how" not in under


def _check(finding: Finding, mark: float) -> str:
    """What must hold once the hole is closed; "" for what one call cannot show."""
    return next((text for text in _checks(finding, mark)), "")


def _checks(finding: Finding, mark: float) -> Iterator[str]:
    if finding.expected.startswith("below"):
        yield (
            f"assert reply.reward is not None and reply.reward < {finding.expected.split()[1]},"
            " reply"
        )
    elif finding.expected.endswith("or more"):
        yield f"assert reply.reward is not None and reply.reward >= {mark!r}, reply"
    elif finding.expected in ("a reward", "a number"):
        yield "assert reply.reward is not None, reply"
    elif finding.expected.startswith("a finite"):
        yield "assert reply.reward is not None and 0 <= reply.reward <= 1, reply"
    elif finding.expected == "the task as it was":
        yield "assert not reply.mutated"
