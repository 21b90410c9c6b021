"""Tasks from a file or a plugin's source, as the ``[tasks]`` table of an env.toml describes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from .columns import BadCell, MissingColumn, Reader, info_reader, reader
from .config.fit import build
from .config.problems import Problems
from .errors import InputError, RlenvError
from .files import File
from .rows import scan_rows
from .tasks import task_hash
from .values import Task

LIMIT = 20  # problems told at once


@frozen
class TasksEntry:
    """``[tasks]``: where the tasks are and which column means what.

    Args:
        path: a file, relative to the env.toml; ``${VAR}`` expands.
        use: a task source of a plugin, instead of a path.
        options: what the task source is called with.
        id, prompt, answer, split, system_prompt: a column, ``{column, pattern}``, ``{template}`` or ``{value}``.
        info: names → columns, ``{column, pattern}``, ``{value}`` or a table of them.
    """

    path: File = field(factory=File)
    use: str | None = None
    options: Mapping[str, Any] = field(factory=dict)
    id: Any = None
    prompt: Any = "prompt"
    answer: Any = None
    split: Any = None
    system_prompt: Any = None
    info: Mapping[str, Any] = field(factory=dict)


def load_tasks(spec: Mapping[str, Any], base_dir: str | os.PathLike[str]) -> list[Task]:
    """The tasks that a ``[tasks]`` table describes; paths in it are relative to ``base_dir``.

    A prompt is a text, or a list of messages; then the task's prompt is the text of its last user
    message, and ``info["messages"]`` has them all.  ``system_prompt`` makes such a list of two.

    Raises:
        ConfigError: for mistakes in the table.
        InputError: for mistakes in the rows: the first 20, one line each.
        PluginError: when the task source cannot be loaded.
    """
    problems = Problems(base=base_dir)
    entry = build(TasksEntry, spec, "tasks", problems)
    if ("path" in spec) == ("use" in spec):
        problems.add("tasks", 'give either path = "tasks.jsonl" or use = "plugin/source"')
    problems.check()
    mapper = _Mapper(entry, problems)
    problems.check()
    if "path" not in spec:
        return mapper.all(_source(entry), f"tasks.use = {entry.use}")
    return mapper.all(scan_rows(entry.path.path), str(entry.path.path))


def _source(entry: TasksEntry) -> Iterator[tuple[int, Any]]:
    from .plugins import registry

    source = registry().parts("task-source", entry.use or "")
    try:
        yield from enumerate(source(**entry.options), 1)
    except RlenvError:
        raise
    except Exception as error:
        raise InputError(f"tasks.use = {entry.use}: {type(error).__name__}: {error}") from error


class _Mapper:
    """Makes tasks of rows and gathers what is wrong with them."""

    def __init__(self, entry: TasksEntry, problems: Problems) -> None:
        note = problems.add
        self._fields: dict[str, Reader] = {
            name: reader(getattr(entry, name), f"tasks.{name}", note)
            for name in ("id", "prompt", "answer", "split", "system_prompt")
            if name == "prompt" or getattr(entry, name) is not None
        }
        self._info = {
            key: info_reader(part, f"tasks.info.{key}", note) for key, part in entry.info.items()
        }
        self._found: list[str] = []
        self._missing: dict[str, list[Any]] = {}  # column → first row, its message, how many rows

    def all(self, rows: Iterable[tuple[int, Any]], source: str) -> list[Task]:
        tasks: list[Task] = []
        numbers: dict[str, int] = {}
        count = 0
        for number, row in rows:
            count += 1
            task = self._task(number, row)
            if task is not None and (task := self._named(task, number, numbers)) is not None:
                tasks.append(task)
        if not count:
            raise InputError(f"{source}: there are no rows")
        self._check(source)
        return tasks

    def _check(self, source: str) -> None:
        lines = [
            f"row {number}{f' and {count - 1} more' if count > 1 else ''}: {text}"
            for number, text, count in self._missing.values()
        ]
        lines += self._found
        if lines:
            rest = [f"{source}: and {len(lines) - LIMIT} more"] if len(lines) > LIMIT else []
            raise InputError("\n".join([*(f"{source}: {line}" for line in lines[:LIMIT]), *rest]))

    def _task(self, number: int, row: Any) -> Task | None:
        if isinstance(row, Task):
            return row
        if not isinstance(row, Mapping):
            self._found.append(
                row if isinstance(row, str) else f"row {number}: {type(row).__name__}, not a task"
            )
            return None
        try:
            return self._build(row)
        except MissingColumn as missing:
            if missing.column not in self._missing:
                self._missing[missing.column] = [number, missing.told(), 0]
            self._missing[missing.column][2] += 1
        except BadCell as bad:
            self._found.append(f"row {number}: {bad}")
        return None

    def _build(self, row: Mapping[str, Any]) -> Task:
        got = {name: read(row) for name, read in self._fields.items()}
        info = {key: read(row) for key, read in self._info.items()}
        prompt, messages = _prompt(got["prompt"], got.get("system_prompt"))
        if messages is not None:
            if "messages" in info:
                raise BadCell(
                    "info.messages is taken by the messages of the prompt; name it otherwise"
                )
            info = {**info, "messages": messages}
        split = got.get("split", "train")
        if not isinstance(split, str) or not split.strip():
            raise BadCell(f"the split is {split!r:.60}, not a text")
        return Task(prompt, got.get("answer"), info, _id(got["id"]) if "id" in got else None, split)

    def _named(self, task: Task, number: int, numbers: dict[str, int]) -> Task | None:
        """The task with its id, None when an earlier row has it."""
        key = task.id or task_hash(task.prompt, task.answer, task.info)
        first = numbers.setdefault(key, number)
        if first == number:
            return evolve(task, id=key)
        same = f"id {task.id!r}" if task.id is not None else "prompt, answer and info"
        self._found.append(f"rows {first} and {number} have the same {same}")
        return None


def _id(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise BadCell(f"the id is {value!r:.60}; expected text or a whole number")
    return str(value)


def _prompt(value: Any, system: Any) -> tuple[str, list[dict[str, Any]] | None]:
    """The prompt's text, and the messages where it is more than that."""
    if system is not None and (not isinstance(system, str) or not system.strip()):
        raise BadCell(f"the system prompt is {system!r:.60}, not a text")
    before = [] if system is None else [{"role": "system", "content": system}]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        messages = [*before, *_messages(value)]
        text = next((m["content"] for m in reversed(messages) if m["role"] == "user"), None)
    else:
        messages = [*before, {"role": "user", "content": value}] if before else []
        text = value
    if not isinstance(text, str) or not text.strip():
        raise BadCell(
            f"the prompt is {'blank' if isinstance(text, str) else repr(text)[:60]}; expected text"
        )
    return text, messages or None


def _messages(value: Sequence[Any]) -> list[dict[str, Any]]:
    for message in value:
        if not isinstance(message, Mapping) or not {"role", "content"} <= set(message):
            raise BadCell(
                f"the prompt holds {message!r:.60}; expected messages with role and content"
            )
    return [dict(message) for message in value]
