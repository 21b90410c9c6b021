"""Changes that a task expects of the final state: the answer of ``agent/state`` as a value, and how
far a state meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from statistics import fmean
from typing import TypeAlias

from attrs import field, frozen
from rlenv.authoring import Safe, suggest

from rlenv_plugin_agent.state.final import FinalState, Row, TableChange
from rlenv_plugin_agent.state.listing import FOLDER, LINK
from rlenv_plugin_agent.state.world import same

from .rows import ANY, ChangedRows, Pair, Wanted

EXECUTABLE = "executable"
OF_FILE = ("sha256", "any", "absent", "link", "folder", EXECUTABLE)  # keys of what a file becomes


@frozen
class Rows:
    """The rows of one table that change, each as its columns.

    Args:
        added: with every column of the row.
        removed: with the primary key at least; with every column where the table has no key.
        changed: with the primary key, and the columns that change; the others stay as they were.
    """

    added: Safe[Sequence[Wanted]] = ()
    removed: Safe[Sequence[Wanted]] = ()
    changed: Safe[Sequence[Wanted]] = ()


@frozen
class ExpectedState:
    """``answer`` of a task: the changes that solve it, and no others.

    Args:
        tables: by name, the rows that change.
        values: by name, what a value becomes; ``{"any": true}`` for any other than it was.
        files: by path, the text that a file becomes, or ``{"sha256": ...}``, ``{"any": true}``,
            ``{"absent": true}``, ``{"link": TARGET}`` or, for a new and empty folder, ``{"folder":
            true}``; ``executable`` in such a table says what becomes of that bit, which else must
            not change but with ``any``.
        allow: what may change besides, as patterns: ``tables.log``, ``files.tmp/*``.
        forbid: what may not, though ``allow`` has it.
        hash: the hash of the whole final state; alone, in place of all others.
    """

    tables: Safe[Mapping[str, Rows]] = field(factory=dict)
    values: Safe[Mapping[str, object]] = field(factory=dict)
    files: Safe[Mapping[str, str | Wanted]] = field(factory=dict)
    allow: Safe[Sequence[str]] = ()
    forbid: Safe[Sequence[str]] = ()
    hash: Safe[str] = ""

    def may(self, name: str) -> bool:
        """Return whether it may change besides what is expected of it."""
        return any(fnmatchcase(name, each) for each in self.allow) and not any(
            fnmatchcase(name, each) for each in self.forbid
        )


# Name, share of the expected changes that came (None where no change is expected), and number of
# changes that are not expected.
Share: TypeAlias = tuple[str, float | None, int]


def problems_of_files(expected: ExpectedState) -> Iterator[tuple[str, str]]:
    """Find where what a file becomes is written with keys that there are not: (place, problem)
    pairs.

    Args:
        expected: of a task.
    """
    for path, wanted in expected.files.items():
        if isinstance(wanted, str):
            continue
        place = f"answer.files.{path}"
        if not wanted:
            yield place, f"expected a text or a table with one of {', '.join(OF_FILE)}"
        for key in wanted.keys() - {*OF_FILE}:
            yield f"{place}.{key}", suggest(key, OF_FILE, what="the keys are")
        content = wanted.keys() & {*OF_FILE} - {EXECUTABLE}
        if len(content) > 1:
            yield place, f"{' and '.join(sorted(content))} exclude each other: keep one of them"


def compare(final: FinalState, expected: ExpectedState) -> tuple[float, list[str], int]:
    """Hold a final state against what is expected.

    Args:
        final: as the episode left it.
        expected: of the task.

    Returns:
        The mean over tables, values and files of the share that is met, in [0, 1]; what lacks, and
        what changed although it is not expected, for the operator; and how many such changes there
        are.
    """
    if final.overflow:
        return 0.0, [final.overflow], 1
    shares = [*_tables(final, expected)]
    shares += _each(
        "values",
        expected,
        final.changed,
        lambda name, wanted: (
            name in final.values and (wanted == ANY or same(final.values[name], wanted))
        ),
    )
    shares += _each(
        "files",
        expected,
        [*final.files.keys() | final.modes.keys()],
        lambda path, wanted: _is_file(final, path, wanted),
    )
    if expected.hash:
        shares = [
            ("hash", float(final.hash == expected.hash), 0),
            *(shares if expected.tables or expected.values or expected.files else ()),
        ]
    asked = [share for _, share, _ in shares if share is not None]
    unmet = [name for name, share, extra in shares if extra or share not in (None, 1.0)]
    return fmean(asked), unmet, sum(extra for _, _, extra in shares)


def _each(
    kind: str, expected: ExpectedState, changed: Collection[str], met: Callable[[str, object], bool]
) -> Iterator[Share]:
    wanted = getattr(expected, kind)
    for name in wanted:
        yield f"{kind}.{name}", float(name in changed and met(name, wanted[name])), 0
    for name in changed:
        if name not in wanted and not expected.may(f"{kind}.{name}"):
            yield f"{kind}.{name}", None, 1


def _is_file(final: FinalState, path: str, wanted: object) -> bool:
    """Return whether the file that has changed is as expected, in its content and in whether it may
    be executed.
    """
    parts = {"sha256": sha256(wanted.encode()).hexdigest()} if isinstance(wanted, str) else wanted
    assert isinstance(parts, Mapping)
    content = {key: value for key, value in parts.items() if key != EXECUTABLE}
    if parts != ANY and final.modes.get(path) != parts.get(EXECUTABLE):
        return False
    if path not in final.files:
        return not content
    return _has_content(final.files[path], content)


def _has_content(mark: str | None, wanted: Wanted) -> bool:
    """Return whether an entry with this mark, None for one that is gone, is what is written; a link
    is never followed.
    """
    if mark is None:
        return wanted == {"absent": True}
    if mark.startswith(LINK):
        return wanted == {"link": mark.removeprefix(LINK)}
    if mark == FOLDER:
        return wanted == {"folder": True}
    return wanted in (ANY, {"sha256": mark})


def _tables(final: FinalState, expected: ExpectedState) -> Iterator[Share]:
    for name, rows in expected.tables.items():
        change = final.tables.get(name, TableChange(()))
        kinds = (
            (rows.added, _without_pair(change.added), change.columns, True),
            (rows.removed, _without_pair(change.removed), change.key or change.columns, True),
            (rows.changed, [*zip(change.before, change.after, strict=True)], change.key, False),
        )  # fmt: skip
        found = 0
        for wanted, pairs, needs, free in kinds:
            found += ChangedRows(pairs, change.columns, needs, free=free).match(wanted)
        extra = sum(len(pairs) for _, pairs, _, _ in kinds) - found
        listed = sum(len(wanted) for wanted, _, _, _ in kinds)
        yield (
            f"tables.{name}",
            found / max(1, listed),
            0 if expected.may(f"tables.{name}") else extra,
        )
    for name in final.tables:
        if name not in expected.tables and not expected.may(f"tables.{name}"):
            yield f"tables.{name}", None, 1


def _without_pair(rows: Sequence[Row]) -> Sequence[Pair]:
    return [(row, row) for row in rows]
