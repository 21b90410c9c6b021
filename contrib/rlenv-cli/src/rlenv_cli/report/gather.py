"""One pass over a file of scores: everything that a report says of the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen
from rlenv.model.errors import InputError

from rlenv_cli.console import amount, visible
from rlenv_cli.scores.file import Header, ScoresReader, incomplete
from rlenv_cli.scores.records import ScoreRow
from rlenv_cli.scores.tally import Tally, walk

from .bars import Bars
from .base import Base
from .columns import Columns, Sample
from .sections import sections

if TYPE_CHECKING:
    from rlenv.environment import Environment

TABLE_ROWS = 100_000
NAME_CHARS = 500


@frozen
class Known:
    """What the environment knows and a file of scores does not say.

    Attributes:
        tasks: task id to (split, prompt, answer).
        base: of the root pipeline, None when the root is no pipeline.
        sections: what plugins add to the report, as HTML.
    """

    tasks: Mapping[str, tuple[str, str, Any]]
    sha256: str
    pass_mark: float
    base: float | None
    source: str = ""
    sections: str = ""


def known_from(env: Environment, *, public: bool = False) -> Known:
    """What a report takes from an environment; ``public``: nothing that only the operator may
    see.
    """
    tasks = {t.id: (t.split, t.prompt, t.answer) for t in env.tasks if t.id is not None}
    base = getattr(env.root, "base", None)
    said = sections(env, public=public)
    return Known(
        tasks=tasks,
        sha256=env.tasks.sha256,
        pass_mark=env.pass_mark,
        base=base,
        source=env.name,
        sections=said,
    )


@define
class Gathered:
    """A file of scores, read once.  ``columns`` hold the first 100,000 rows, all else counts every
    row.
    """

    path: Path
    header: Header
    known: Known | None
    written: datetime
    torn: bool = False
    incomplete: str = ""
    tally: Tally = field(factory=Tally)
    rewards: Bars = field(factory=Bars)
    stages: dict[str, Bars] = field(factory=dict)
    columns: Columns = field(factory=Columns)
    sample: Sample = field(factory=Sample)
    inferred: Base = field(factory=Base)

    @property
    def base(self) -> float | None:
        """The base of the root pipeline, where it is known or can be read off the rewards."""
        return self.known.base if self.known is not None else self.inferred.value

    @property
    def shown(self) -> str:
        return visible(self.path.name)

    def add(self, row: ScoreRow) -> None:
        task = row["task"]
        split = self.split(task)
        self.tally.add(row, split)
        self.rewards.add(row["reward"])
        for path, stage in walk(row["stages"]):
            self.stages.setdefault(path, Bars()).add(stage["score"])
        self.inferred.add(row)
        if self.tally.rows <= TABLE_ROWS:
            self.columns.add(row, split or "")
            self.sample.add(row)

    def split(self, task: str | None) -> str | None:
        if task is None:
            return None
        if self.known is None:
            return ""
        return self.known.tasks[task][0] if task in self.known.tasks else None

    def rows(self) -> Iterator[ScoreRow]:
        """The rows of the table once more.

        Raises:
            InputError: when the file changed meanwhile.
        """
        with ScoresReader(self.path, reading=True) as reader:
            rows = reader.rows()
            for task in self.columns.task:
                row = next(rows, None)
                if row is None or row["task"] != task or reader.header != self.header:
                    raise InputError(
                        f"{visible(str(self.path))}: changed while it was read; make the report"
                        " again"
                    )
                yield row


def gather(path: Path, known: Known | None = None) -> Gathered:
    """Read a file of scores.

    Raises:
        InputError: when it is not a file of scores, is damaged or empty, or belongs to other tasks.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(
            f"{visible(str(path))}: is no regular file, and a report reads its scores twice; "
            "write them to a file first"
        )
    with ScoresReader(path, reading=True) as reader:
        if reader.header is None:
            raise InputError(
                f"{visible(str(path))}: is empty, or its first line is torn; "
                "a report needs the file that `rlenv score -o` wrote"
            )
        stat = path.stat()
        _same_tasks(path, reader.header, known)
        written = datetime.fromtimestamp(stat.st_mtime, UTC)
        found = Gathered(path, reader.header, known, written)
        for row in reader.rows():
            try:
                _check(path, row)
                found.add(row)
            except RecursionError:
                raise _odd(path, row, "stages nested too deeply") from None
        found.torn = reader.size < stat.st_size
        found.incomplete = incomplete(reader.header, reader.count)
    if not found.tally.rows:
        raise InputError(f"{visible(str(path))}: holds no rows yet, so there is nothing to report")
    return found


def _same_tasks(path: Path, header: Header, known: Known | None) -> None:
    if known is not None and known.sha256 != header.tasks_sha256:
        raise InputError(
            f"{visible(str(path))}: was scored with other tasks than {visible(known.source)} has"
            f" now (tasks_sha256 {visible(header.tasks_sha256[:12])} there, {known.sha256[:12]}"
            " now); give the environment that it was scored with, or leave --tasks out"
        )


def _check(path: Path, row: ScoreRow) -> None:
    stages = [stage for _, stage in walk(row["stages"])]
    scores = (row["reward"], *(stage["score"] for stage in stages))
    bad = [x for x in scores if x is not None and not 0.0 <= x <= 1.0]
    times = [s["seconds"] for s in stages if not 0.0 <= s["seconds"] < 1e12]
    if bad or times:
        raise _odd(path, row, f"{bad[0]!r} as a score" if bad else f"{times[0]!r} seconds")


def _odd(path: Path, row: ScoreRow, what: str) -> InputError:
    return InputError(
        f"{visible(str(path))}: line {row['row'] + 1} has {what}, which no run of rlenv writes; "
        f"score the responses again, or keep the {amount(row['row'] - 1, 'row')} before it"
    )
