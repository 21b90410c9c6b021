"""Tasks from a file or a plugin's source, as the ``[tasks]`` table of an env.toml describes
them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from attrs import define, evolve, field, frozen

from rlenv.config.rows import scan_rows
from rlenv.model.errors import InputError, RlenvError, first_lines
from rlenv.model.messages import suggest
from rlenv.model.tasks import task_hash
from rlenv.model.values import Task

from .files import File
from .fit import build, check_options
from .marks import Safe
from .problems import BAD, Problems, Table

T = TypeVar("T")
Row: TypeAlias = Mapping[str, object]
Reader: TypeAlias = Callable[[Row], object]

_FORMS = "a column, { column, pattern }, { template } or { value }"
_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w.\- ]*)\}")
MOST_WRONG = 1_000  # rows with mistakes, after which reading ends
_INFO = "info."  # begins the names of what is read for a task's info


@frozen
class TasksEntry:
    """``[tasks]``: where the tasks are and which column means what.

    Args:
        path: a ``.jsonl``, ``.json`` (one list), ``.csv`` or ``.parquet`` file, each also ``.gz``,
            relative to the env.toml; ``${VAR}`` expands, and no message shows its value.
        use: a task source of a plugin, instead of a path.
        options: what the task source is called with.
        id, prompt, answer, split, system_prompt: a column, ``{column, pattern}``, ``{template}`` or
            ``{value}``.
        info: names → columns, ``{column, pattern}``, ``{value}`` or a table of them.
    """

    path: File = field(factory=File)
    use: Safe[str | None] = None
    options: Safe[Table] = field(factory=dict)  # ``check_options`` looks at each of them
    id: Safe[object] = None
    prompt: Safe[object] = "prompt"
    answer: Safe[object] = None
    split: Safe[object] = None
    system_prompt: Safe[object] = None
    info: Safe[Table] = field(factory=dict)


def load_tasks(
    spec: Table, base_dir: str | os.PathLike[str], origins: Mapping[str, str] | None = None
) -> list[Task]:
    """The tasks that a ``[tasks]`` table describes; paths in it are relative to ``base_dir``.

    A prompt is a text, or a list of messages; then the task's prompt is the text of its last user
    message, and ``info["messages"]`` has them all.  ``system_prompt`` makes such a list of two.

    Args:
        spec: the table.
        base_dir: a folder.
        origins: by path, as ``tasks.path``, the settings of the caller that the table holds.

    Raises:
        ConfigError: for mistakes in the table.
        InputError: for mistakes in the rows: the first 20, one line each.
        PluginError: when the task source cannot be loaded.
    """
    problems = Problems(base=base_dir)
    problems.origins.update(origins or {})
    entry = build(TasksEntry, spec, "tasks", problems)
    if (spec.get("path", "") == "") == ("use" not in spec):
        problems.add("tasks", 'give either path = "tasks.jsonl" or use = "plugin/source"')
    mapper = _Mapper(spec, problems)  # also where the path is wrong, to report every mistake
    problems.check()
    if "use" in spec:
        return mapper.all(_source(entry, problems), f"tasks.use = {entry.use}")
    columns = {name for text in ("prompt", *_texts(spec)) for name in (text, text.split(".")[0])}
    return mapper.all(scan_rows(entry.path.path, columns), str(entry.path.path))


def _texts(spec: object) -> Iterator[str]:
    """Every text in a table, and every name in braces there: all columns are among them."""
    if isinstance(spec, Mapping):
        for part in spec.values():
            yield from _texts(part)
    elif isinstance(spec, str):
        yield from (spec, *_PLACE.findall(spec))


def _source(entry: TasksEntry, problems: Problems) -> Iterator[tuple[int, object]]:
    from rlenv.plugins.registry import registry

    source = registry().parts("task-source", entry.use or "")
    check_options(source, entry.options, "tasks.options", problems)
    problems.check()
    try:
        yield from enumerate(source(**entry.options), 1)
    except RlenvError:
        raise
    except Exception as error:
        raise InputError(f"tasks.use = {entry.use}: {type(error).__name__}: {error}") from error


class _Mapper:
    """Makes tasks of rows and gathers what is wrong with them."""

    def __init__(self, spec: Table, problems: Problems) -> None:
        self._readers: dict[str, Reader] = {
            name: reader(spec.get(name, "prompt"), f"tasks.{name}", problems)
            for name in ("id", "prompt", "answer", "split", "system_prompt")
            if name == "prompt" or spec.get(name) is not None
        }
        info = spec.get("info")
        for key, part in info.items() if isinstance(info, Mapping) else ():
            self._readers[_INFO + key] = info_reader(part, f"tasks.info.{key}", problems)
        self._wrong: dict[object, _Mistake] = {}
        self._wrong_rows = 0
        self._last_wrong = 0  # the number of a row

    def all(self, rows: Iterable[tuple[int, object]], source: str) -> list[Task]:
        tasks: list[Task] = []
        numbers: dict[str, int] = {}  # id → the row that has it
        for number, row in rows:
            if self._wrong_rows >= MOST_WRONG:
                break
            if (task := self._task(number, row)) is BAD:
                continue
            key = task.id or task_hash(task.prompt, task.answer, task.info)
            first = numbers.setdefault(key, number)
            if first == number:
                tasks.append(evolve(task, id=key))
            else:
                same = "prompt, answer and info" if task.id is None else f"id {task.id!r}"
                self._note(number, number, f"rows {first} and {number} have the same {same}", "")
        if self._wrong:
            lines = first_lines([each.line() for each in self._wrong.values()])
            if self._wrong_rows >= MOST_WRONG:
                lines = [*lines, f"reading ended after {MOST_WRONG:,} rows with mistakes"]
            raise InputError("\n".join(f"{source}: {line}" for line in lines))
        if not tasks:
            raise InputError(f"{source}: there are no rows")
        return tasks

    def _task(self, number: int, row: object) -> Task:
        if isinstance(row, Task):
            return row
        if not isinstance(row, Mapping):
            kind = f"row {number}: {type(row).__name__}, not a task"
            self._note(number, number, row if isinstance(row, str) else kind, "")
            return BAD
        cells = {key: self._try(number, read, row) for key, read in self._readers.items()}
        is_bad = any(cell is BAD for cell in cells.values())
        return BAD if is_bad else self._try(number, _make_task, cells)

    def _try(self, number: int, make: Callable[[Row], T], given: Row) -> T:
        """What ``make`` gives, or BAD; what is wrong is noted, of a missing column once for all
        rows.
        """
        try:
            return make(given)
        except BadCell as bad:
            self._note(number, bad.column or (number, str(bad)), str(bad), f"row {number}")
            return BAD

    def _note(self, number: int, key: object, text: str, place: str) -> None:
        """Note a mistake of a row; one with the same key is counted."""
        mistake = self._wrong.setdefault(key, _Mistake(text, place))
        mistake.add(number)
        if number != self._last_wrong:
            self._wrong_rows += 1
            self._last_wrong = number


@define
class _Mistake:
    """A mistake, where it was first, and how many rows have it."""

    text: str
    place: str
    rows: int = 0
    last: int = 0

    def add(self, number: int) -> None:
        self.rows += number != self.last
        self.last = number

    def line(self) -> str:
        more = f" and {self.rows - 1} more" if self.rows > 1 else ""
        return f"{self.place}{more}: {self.text}" if self.place else self.text


def _make_task(got: Row) -> Task:
    info = {key.removeprefix(_INFO): got[key] for key in got if key.startswith(_INFO)}
    prompt, messages = _prompt(got["prompt"], got.get("system_prompt"))
    if "messages" in info:  # the policy sees them
        raise BadCell("info.messages is taken by the messages of the prompt; name it otherwise")
    if messages:
        info = {**info, "messages": messages}
    key = _id(got["id"]) if "id" in got else None
    return Task(prompt, got.get("answer"), info, key, _text(got.get("split", "train"), "split"))


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        given = "blank" if isinstance(value, str) and value else f"{value!r:.60}"
        raise BadCell(f"the {what} is {given}; expected a string that is not blank")
    return value


def _id(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise BadCell(f"the id is {value!r:.60}; expected a string or an integer")
    return str(value)


def _prompt(value: object, lead: object) -> tuple[str, list[object]]:
    """The prompt's text, and the messages where it is more than that; ``lead`` is the system
    prompt.
    """
    before = [] if lead is None else [{"role": "system", "content": _text(lead, "system prompt")}]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        messages = [_message(item) for item in value]
        value = next((m["content"] for m in reversed(messages) if m["role"] == "user"), None)
    else:
        messages = [{"role": "user", "content": value}] if before else []
    return _text(value, "prompt"), [*before, *messages]


def _message(item: object) -> dict[str, object]:
    if not isinstance(item, Mapping) or not {"role", "content"} <= set(item):
        raise BadCell(f"the prompt holds {item!r:.60}; expected messages with role and content")
    return dict(item)


class BadCell(ValueError):
    """The row's value does not serve; ``column`` is set where the row has no such column."""

    column: str | None = None


class MissingColumn(BadCell):
    """The row has no such column; the message says what there is."""

    def __init__(self, column: str, row: Row, hint: str = "") -> None:
        super().__init__(column)
        self.column = column
        self._row = row
        self._hint = hint

    def __str__(self) -> str:
        names = [str(name) for name in self._row]
        near = suggest(self.column or "", names, what="the columns are") or "the row is empty"
        shown = f"{near} (columns: {', '.join(names)})" if near.startswith("did") else near
        return f"no column {self.column!r}; {shown}{self._hint}"


def reader(spec: object, path: str, problems: Problems) -> Reader:
    """The function that reads one value of a row; mistakes of the spec are noted under ``path``."""
    if isinstance(spec, str):
        return lambda row: cell(row, spec)
    if isinstance(spec, Mapping):
        keys = set(spec)
        if keys == {"value"}:
            return lambda _: spec["value"]
        if keys == {"template"} and isinstance(spec["template"], str):
            return lambda row: _PLACE.sub(lambda place: _placed(place, row), spec["template"])
        if keys and keys <= {"column", "pattern"} and isinstance(spec.get("column"), str):
            return _column(spec["column"], spec.get("pattern"), path, problems)
    problems.add(path, f"expected {_FORMS}, got {spec!r:.60}")
    return lambda _: None


def info_reader(spec: object, path: str, problems: Problems) -> Reader:
    """As ``reader`` for ``info``, where other tables nest."""
    if not isinstance(spec, Mapping) or set(spec) in ({"value"}, {"column"}, {"column", "pattern"}):
        return reader(spec, path, problems)
    parts = {key: info_reader(part, f"{path}.{key}", problems) for key, part in spec.items()}
    return lambda row: {key: read(row) for key, read in parts.items()}


def cell(row: Row, column: str) -> object:
    """The value of a column; ``a.b`` also reaches into a nested object.

    Raises:
        MissingColumn: when the row has neither.
    """
    if column in row:
        return row[column]
    value: object = row
    for key in column.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise MissingColumn(column, row)
        value = value[key]
    return value


def _column(column: str, pattern: Any, path: str, problems: Problems) -> Reader:
    if pattern is None:
        return lambda row: cell(row, column)
    try:
        compiled = re.compile(pattern)
        if not compiled.groups:
            raise re.error("it has no group: put the part that counts in parentheses")
    except (re.error, TypeError) as error:
        problems.add(f"{path}.pattern", f"{pattern!r} is no pattern that can be used: {error}")
        return lambda _: None
    return lambda row: _first_group(compiled, cell(row, column), column)


def _first_group(pattern: re.Pattern[str], value: object, column: str) -> str:
    found = pattern.search(value) if isinstance(value, str) else None
    if found is None or found[1] is None:
        raise BadCell(f"{column} does not match {pattern.pattern!r}: {value!r:.80}")
    return found[1]


def _placed(place: re.Match[str], row: Row) -> str:
    """The text of one ``{column}``; doubled braces are braces."""
    name = place[1]
    if name is None:
        return place[0][0]
    try:
        value = cell(row, name)
    except MissingColumn:
        raise MissingColumn(name, row, f"; for braces as they stand write {{{{{name}}}}}") from None
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, (int, float)):
        return str(value)
    raise BadCell(f"{name} is {value!r:.60}, and the template needs a text")
