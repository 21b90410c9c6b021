"""The file that ``rlenv score`` writes and that a report reads: a header line, then one line per
response.

Rows count from 1 in the order of the responses.  ``passed`` is null where there is no reward.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, TracebackType
from typing import Any, BinaryIO, Self, cast

from attrs import asdict, frozen
from rlenv.model.errors import InputError

from rlenv_cli.console import amount, reason, visible

from .chain import Chain, chain_id, check_secret
from .records import ScoreRow

SCHEMA = "rlenv.scores/1"
TEXTS = ("env", "fingerprint", "tasks_sha256", "responses_sha256")  # of a header
_BEGINNING = b'{"schema": "rlenv.scores/'


@frozen
class Header:
    """What a file of scores was made from; two runs with equal headers give equal rewards.

    Args:
        env: the name of the environment.
        fingerprint, tasks_sha256, responses_sha256: hashes of the configuration, the tasks and the
        responses. responses: the number of rows of the whole run; None where it is not known.
    """

    env: str
    fingerprint: str
    tasks_sha256: str
    responses_sha256: str
    responses: int | None = None

    @property
    def source(self) -> dict[str, str]:
        """The texts that name what the rows were made from."""
        return {name: getattr(self, name) for name in TEXTS}

    def lacks(self, rows: int) -> int:
        """Count the rows that a file with so many lacks."""
        return max(0, (self.responses or 0) - rows)

    def line(self) -> bytes:
        """The first line of a file; it names the chain where RLENV_SECRET is set."""
        chain = chain_id()
        named = {} if chain is None else {"chain": chain}
        return (json.dumps({"schema": SCHEMA, **asdict(self), **named}) + "\n").encode("ascii")

    def chain(self) -> Chain:
        """The chain of a file that begins with ``line``."""
        return Chain(self.line(), named=True)


WHAT = {
    "fingerprint": (
        "the configuration (stages, options, pass mark, plugin versions or, where a stage draws"
        " random inputs, the secret)"
    ),
    "tasks_sha256": "the tasks",
    "responses_sha256": "the responses",
}


def same(path: Path, found: Header, wanted: Header, remedy: str) -> None:
    """Raises InputError when the file was made from something else than this run has."""
    differ = [name for name in WHAT if getattr(found, name) != getattr(wanted, name)]
    if differ:
        parts = " and ".join(WHAT[name] for name in differ)
        hashes = "; ".join(
            f"{name} {getattr(found, name)[:12]} there, {getattr(wanted, name)[:12]} now"
            for name in differ
        )
        raise InputError(
            f"{visible(str(path))}: cannot go on: {parts} changed since it was begun ({hashes})."
            f" {remedy}"
        )


def incomplete(header: Header, rows: int) -> str:
    """Say that a file which ends with a whole row lacks others; "" where it lacks none."""
    if not header.lacks(rows):
        return ""
    return (
        f"incomplete: {rows:,} of {amount(header.responses or 0, 'row')}; the run did not end, or"
        " rows were cut off at the end. The same command with --resume scores what is missing"
    )


def begins_as_scores(path: Path) -> bool:
    """Whether ``rlenv score`` wrote the first bytes of this file."""
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGINNING)) == _BEGINNING
    except OSError:
        return False


class ScoresReader:
    """Reads a file of scores, whole lines only; a context manager.

    Attributes:
        header: None for an empty file, or one whose first line was torn by a crash.
        size: bytes of whole, sound lines read so far; after ``rows`` ended, what ``--resume``
            keeps.
        count: rows read so far.
        chain: of the rows read so far; what ``--resume`` goes on with.

    Args:
        reading: the file is only read, so messages do not mention writing it.
        sparse: rows may be missing between others, as in what ``--retry-unscored`` writes.

    Raises:
        InputError: when the file cannot be read or is not a file of scores.
    """

    def __init__(self, path: Path, *, reading: bool = False, sparse: bool = False) -> None:
        self.path = path
        self.reading = reading
        self.sparse = sparse
        self._shown = visible(str(path))
        self.size = 0
        self.count = 0
        self._chained: str | None = None
        self.chain = Chain(b"", named=False)
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise InputError(f"{self._shown}: cannot be read: {reason(error)}") from None
        try:
            self.header = self._header()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._file.close()

    def _header(self) -> Header | None:
        try:
            line = self._file.readline(1 << 20)
        except OSError as error:
            raise InputError(f"{self._shown}: cannot be read: {reason(error)}") from None
        if not line.endswith(b"\n") and (
            line.startswith(_BEGINNING) or _BEGINNING.startswith(line)
        ):
            return None
        record = _record(line)
        schema = record.get("schema") if record is not None else None
        if record is None or schema != SCHEMA or not _is_header(record):
            found = f"schema {schema!r:.60}" if schema is not None else "no such header"
            remedy = (
                "give what `rlenv score -o` wrote" if self.reading else "give another name with -o"
            )
            raise InputError(
                f"{self._shown}: line 1: this is not a file of scores ({found}, expected"
                f" {SCHEMA!r}); {remedy}"
            )
        self.size = len(line)
        self._chained = record.get("chain")
        self.chain = Chain(line, named=self._chained is not None)
        return Header(**{name: record[name] for name in TEXTS}, responses=record.get("responses"))

    def holds_rows(self) -> bool:
        """Whether there is anything after the header that is a whole row, checked or not."""
        line = self._file.readline()
        return line.endswith(b"\n") and (_row(line) is not None or bool(self._file.read(1)))

    def rows(self) -> Iterator[ScoreRow]:
        """The rows in order; a torn last line is left out.

        Raises:
            InputError: for a damaged line that is not the last, for a row that does not fit the
                chain, and for a chain with another secret; the message names the line.
        """
        check_secret(self._shown, self._chained, reading=self.reading)
        last = 0
        for line in self._file:
            row = _row(line) if line.endswith(b"\n") else None
            if row is None and not self._file.read(1):
                return
            if row is None or (row["row"] != last + 1 and not (self.sparse and row["row"] > last)):
                raise self._damaged(row)
            if not self.chain.accepts(line):
                raise self._damaged(row, forged=True)
            last = row["row"]
            self.count += 1
            self.size += len(line)
            yield row

    def row_at(self, place: int) -> ScoreRow:
        """A row again, once ``rows`` has ended.

        Args:
            place: ``size`` as it was before ``rows`` gave this row.

        Raises:
            InputError: when the file changed since.
        """
        self._file.seek(place)
        if (row := _row(self._file.readline())) is None:
            raise InputError(f"{self._shown}: changed while it was read; try again")
        return row

    def _damaged(self, row: ScoreRow | None, *, forged: bool = False) -> InputError:
        number = self.count + 2
        what = "is damaged"
        if row is not None and forged:
            what = (
                f"(row {row['row']}) was changed, or a row before it was removed, swapped or"
                " inserted: its mac does not fit"
            )
        elif row is not None:
            what = f"has row {row.get('row')!r:.20}, not {self.count + 1}"
        then = "read that" if self.reading else "--resume that, or score anew with --overwrite"
        return InputError(
            f"{self._shown}: line {number} {what}; sound before it: {amount(self.count, 'row')}."
            f" Keep them with `head -n {number - 1}` in a new file and {then}"
        )


def _is_header(record: dict[str, Any]) -> bool:
    texts = all(type(record.get(name)) is str for name in TEXTS)
    count = type(record.get("responses")) in (int, NoneType)
    return texts and count and isinstance(record.get("chain"), (str, NoneType))


def _row(line: bytes) -> ScoreRow | None:
    """The row, None for what no run would have written."""
    row = _record(line)
    if row is None or type(row.get("row")) is not int:
        return None
    row.pop("mac", None)
    kinds = {
        "task": (str, NoneType),
        "reward": (float, NoneType),
        "fault": (dict, NoneType),
        "stages": (list,),
    }
    sound = all(isinstance(row.get(key, kinds), kind) for key, kind in kinds.items())
    try:
        return cast("ScoreRow", row) if sound and all(map(_stage, row["stages"])) else None
    except RecursionError:
        return None


def _stage(stage: Any) -> bool:
    return (
        isinstance(stage, dict)
        and isinstance(stage.get("name"), str)
        and isinstance(stage.get("score"), (float, NoneType))
        and isinstance(stage.get("seconds"), float)
        and all(map(_stage, stage.get("children") or ()))
    )


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
