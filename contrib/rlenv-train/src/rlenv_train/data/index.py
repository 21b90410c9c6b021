"""A score file as groups: where the rows of each task are, and their rewards.

Texts are not kept. A row costs some 250 bytes of memory, whatever its response is.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from attrs import Factory, define
from rlenv import InputError
from rlenv.model.record import dumps
from rlenv_cli.console import one_line, visible
from rlenv_cli.scores import Header, ScoreRow, ScoresReader, incomplete


class Scored(NamedTuple):
    """A response with a reward: its row, where its line begins, and what choosing needs of it."""

    row: int
    place: int
    reward: float
    passed: bool
    length: int  # characters that the policy wrote
    digest: int  # equal for equal responses


@define
class Index:
    """The rows of a score file by task.

    Attributes:
        tasks: the scored responses to each task, also where there are none.
        unscored: how many others each task has.
        nameless: rows without a task.
        keys: keys that messages of its responses have.
        text: the first row whose response is a text; 0 where there is none.
        torn: the file ends within a line.
        incomplete: what is missing at its end; "" for nothing.
    """

    header: Header
    _reader: ScoresReader
    tasks: dict[str, list[Scored]] = Factory(dict)
    unscored: Counter[str] = Factory(Counter)
    nameless: int = 0
    keys: set[str] = Factory(set)
    text: int = 0
    torn: bool = False
    incomplete: str = ""

    @property
    def rows(self) -> int:
        return self._reader.count

    def add(self, row: ScoreRow, place: int, shown: str) -> None:
        """Count a row whose line begins at ``place``.

        Raises:
            InputError: for a reward that is not in [0, 1]; the message names file, line and key.
        """
        reward, passed = _checked(row, shown)
        task = row["task"]
        response = row.get("response")
        if task is None:
            self.nameless += 1
        elif reward is None:
            self.unscored[task] += 1
            self.tasks.setdefault(task, [])
        else:
            length, digest = self._measured(row["row"], response)
            entry = Scored(
                row=row["row"],
                place=place,
                reward=reward,
                passed=passed,
                length=length,
                digest=digest,
            )
            self.tasks.setdefault(task, []).append(entry)

    def _measured(self, row: int, response: object) -> tuple[int, int]:
        if isinstance(response, str):
            self.text = self.text or row
            return len(response), hash(response)
        messages = (
            [m for m in response if isinstance(m, dict)] if isinstance(response, list) else []
        )
        self.keys.update(*messages)
        wrote = (m.get("content") for m in messages if m.get("role") == "assistant")
        return sum(len(str(content)) for content in wrote), hash(dumps(response))

    def row(self, entry: Scored) -> ScoreRow:
        """The whole row.

        Raises:
            InputError: when the file changed since it was indexed.
        """
        found = self._reader.row_at(entry.place)
        if found["row"] != entry.row:
            raise InputError(f"{self._reader.path}: changed while it was read; try again")
        return found


@contextmanager
def indexed(path: Path) -> Iterator[Index]:
    """Read a score file once; it stays open, so that its rows can be read again.

    Raises:
        InputError: for a file that ``rlenv score`` did not write; the message names the line.
    """
    with ScoresReader(path, reading=True) as reader:
        shown = visible(str(path))
        if reader.header is None:
            raise InputError(f"{shown}: is empty; give what `rlenv score -o` wrote")
        found = Index(reader.header, reader)
        place = reader.size
        for row in reader.rows():
            found.add(row, place, shown)
            place = reader.size
        found.torn = reader.size < os.path.getsize(path)
        found.incomplete = incomplete(reader.header, reader.count)
        yield found


def _checked(row: ScoreRow, shown: str) -> tuple[float | None, bool]:
    reward = row["reward"]
    passed = row.get("passed")
    where = f"{shown}: line {row['row'] + 1}"
    if reward is not None and not 0.0 <= reward <= 1.0:
        raise InputError(f"{where}: reward: {reward!r} is not in [0, 1]; score the responses again")
    if not isinstance(passed, bool if reward is not None else type(None)):
        wanted = "true or false" if reward is not None else "null, as the reward is"
        raise InputError(f"{where}: passed: {one_line(repr(passed))} is not {wanted}")
    return reward, bool(passed)
