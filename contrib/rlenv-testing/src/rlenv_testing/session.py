"""The laws inside a pytest session: which subjects there are, and a report of what came out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import RlenvError

from .capabilities import lacking
from .installed import subjects
from .law import LAWS
from .subject import Effort, Subject
from .targets import is_target, subject_of

Row = dict[str, Any]


class Session:
    """What one run of the laws was asked for, and its results.

    Raises:
        pytest.UsageError: for a plugin or a law that there is not, or without examples.
    """

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        effort = Effort(examples=option("rlenv_examples"), seed=option("rlenv_seed"))
        names = option("rlenv_plugin")
        if not names:
            raise pytest.UsageError("the laws need a plugin to hold to them: --rlenv-plugin NAME")
        self.laws: list[str] = option("rlenv_law")
        self.path: str | None = option("rlenv_json")
        self.progress: str | None = option("rlenv_progress")
        self.rows: dict[tuple[str, str], Row] = {}
        try:
            files = option("rlenv_tasks") or "", option("rlenv_right") or ""
            found = [
                [subject_of(name, *files, effort)]
                if is_target(name)
                else subjects(name, option("rlenv_stage"), effort)
                for name in names
            ]
        except RlenvError as err:
            raise pytest.UsageError(str(err)) from None
        self.subjects: list[Subject] = [subject for some in found for subject in some]

    def deselect(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the laws that were asked for.

        Raises:
            pytest.UsageError: when one of them is none.
        """
        from .laws import load

        load()
        unknown = [name for name in self.laws if name not in LAWS]
        if unknown:
            raise pytest.UsageError(
                f"there is no law '{unknown[0]}'; the laws are {', '.join(LAWS)}"
            )
        dropped = [
            item for item in items if is_law(item) and self.laws and law_of(item) not in self.laws
        ]
        if dropped:
            config.hook.pytest_deselected(items=dropped)
            items[:] = [item for item in items if item not in dropped]

    def note(self, item: pytest.Item, report: pytest.TestReport, *, unchecked: bool) -> None:
        """Keep what came out of one law on one subject; ``unchecked`` where the kit could not check
        it.
        """
        subject = item.callspec.params["subject"]  # type: ignore[attr-defined]
        row = self.rows.setdefault((subject.name, law_of(item)), {"seconds": 0.0})
        row["seconds"] = round(row["seconds"] + report.duration, 3)
        if report.when == "call" or not report.passed:
            result = "unchecked" if unchecked else report.outcome
            row |= {"result": result, "examples": subject.counted, **_said(report)}
            row["unscored"] = dict(subject.unscored)
        if report.when == "teardown" and self.progress is not None:
            ended = {
                "stage": subject.name,
                "law": law_of(item),
                "result": row.get("result", "failed"),
            }
            with Path(self.progress).open("a", encoding="utf-8") as file:
                file.write(json.dumps({**ended, "seconds": row["seconds"]}) + "\n")

    def finish(self) -> None:
        for subject in self.subjects:
            subject.close()
        if self.path is not None:
            rows = [{"stage": stage, "law": law, **row} for (stage, law), row in self.rows.items()]
            Path(self.path).write_text(json.dumps(rows), encoding="utf-8")


def _said(report: pytest.TestReport) -> Row:
    if report.skipped and isinstance(report.longrepr, tuple):
        return {"reason": str(report.longrepr[2]).removeprefix("Skipped: ")}
    return {"message": str(report.longrepr)} if report.failed else {}


def is_law(item: pytest.Item) -> bool:
    module = getattr(item, "module", None)
    return str(getattr(module, "__name__", "")).startswith("rlenv_testing.laws.")


def law_of(item: pytest.Item) -> str:
    name: str = getattr(item, "originalname", item.name)
    return name.removeprefix("test_").replace("_", "-")


def require_capabilities(subject: Subject) -> None:
    """Skip a stage whose ``requires`` names something that is not here."""
    why = lacking(getattr(subject.stage, "requires", ()))
    if why is not None:
        subject.counted = 0
        pytest.skip(why)
