"""From the tables of a file to stages, slots and an Environment."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlenv.composites import Composite, Pipeline, Slot, free_name
from rlenv.errors import ConfigError, InputError, PluginError
from rlenv.functions import as_stage, function_stage
from rlenv.plugins import registry
from rlenv.references import is_reference, refer
from rlenv.stages import METHODS
from rlenv.values import Task

from .fit import BAD, build, construct, fit_options
from .overrides import Overrides
from .problems import Problems, at, show
from .schema import RESERVED, EnvEntry, StageEntry, TaskEntry

if TYPE_CHECKING:
    from rlenv.environment import Environment

_ENTRY = {"stage": "[[stage]]", "task": "[[task]]"}


def build_environment(
    mapping: Mapping[str, Any],
    *,
    base_dir: str | os.PathLike[str],
    source: str,
    set_options: Mapping[str, Any],
    settings: Mapping[str, Any],
    code: bool = True,
) -> Environment:
    """Everything that an env.toml says, as an Environment; without ``code`` it may name none.

    Raises:
        ConfigError: with every mistake found.
    """
    problems = Problems(source, base_dir, code=code)
    try:
        return _build(mapping, problems, set_options, settings)
    except ConfigError as error:
        for line in error.problems:
            problems.add("", line.removeprefix(f"{source}: "))
        raise ConfigError(*problems.lines()) from None
    except RecursionError:
        raise ConfigError(*problems.lines(), "the tables are nested too deep to be read") from None


def _build(
    mapping: Mapping[str, Any],
    problems: Problems,
    set_options: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Environment:
    from rlenv.environment import Environment

    entry = build(EnvEntry, _without_reserved(mapping, problems), "", problems)
    overrides = Overrides(set_options)
    slots = _Slots(overrides, problems).all(mapping)
    overrides.leftovers(problems)
    tasks = _tasks(mapping, problems)
    given: dict[str, Any] = {
        "observers": _observers(mapping.get("observers"), problems),
        "source": problems.source,
        **settings,
    }
    if problems.found:
        raise ConfigError
    root = Pipeline(slots, base=entry.base)
    given = {"pass_mark": entry.pass_mark, "thinking": entry.response.thinking, **given}
    return Environment(entry.name, root, tasks, **given)


def build_stage(use: str, options: Mapping[str, Any]) -> Any:
    """One stage as a file would build it, with its options fitted to their types.

    Raises:
        ConfigError: when the stage is not there or refuses an option.
    """
    problems = Problems()
    stage = _stage(use, options, None, use, problems)
    problems.check()
    return stage


class _Slots:
    """Makes slots of ``[[stage]]`` tables; those with mistakes are noted and left out."""

    def __init__(self, overrides: Overrides, problems: Problems) -> None:
        self._overrides = overrides
        self._problems = problems

    def all(self, owner: Mapping[str, Any], path: str = "", parent: str = "") -> list[Slot]:
        """The slots of the stages in ``owner``, a table at ``path``; ``parent`` begins their paths."""
        tables = _tables(owner, "stage", path, self._problems)
        below = at(path, "stage")
        if not tables:
            self._problems.add(below, 'there is no stage; write [[stage]] and use = "core/equal"')
        names = _names(tables, below, self._problems)
        slots = [
            self._slot(table, f"{below}[{i}]", name, parent + name)
            for i, (table, name) in enumerate(zip(tables, names, strict=True))
        ]
        return [slot for slot in slots if slot is not None]

    def _slot(self, table: Any, path: str, name: str, full: str) -> Slot | None:
        entry = build(StageEntry, table, path, self._problems)
        use, options = _get(table, "use", str), _get(table, "options", Mapping, {})
        if use is None or options is None:
            return None
        names = (full, name, use)
        options = self._overrides.apply(options, names, at(path, "options"), self._problems)
        children = None
        if "stage" in table:
            before = len(self._problems.found)
            slots = self.all(table, path, f"{full}/")
            children = BAD if len(self._problems.found) > before else slots
        stage = _stage(use, options, children, path, self._problems)
        if entry is BAD:
            return None
        numbers = {
            key: getattr(entry, key) for key in ("weight", "gate", "penalty", "bonus", "timeout")
        }
        try:
            slot = Slot(name, stage, **numbers, use=use, options=_plain(options))
            return None if stage is BAD else slot
        except ConfigError as error:
            self._problems.error(path, error)
            return None


def _get(table: Any, key: str, kind: Any, default: Any = None) -> Any:
    """A value of the right type, else None; the wrong type has been noted already."""
    found = table.get(key, default) if isinstance(table, Mapping) else None
    return found if isinstance(found, kind) else None


def _names(tables: Sequence[Any], path: str, problems: Problems) -> list[str]:
    """Each table's name, or the short part of its ``use``, made unique with -2, -3."""
    names = [_get(table, "name", str) for table in tables]
    taken = {name for name in names if name is not None}
    for i, (table, name) in enumerate(zip(tables, names, strict=True)):
        if name is None:
            short = str(_get(table, "use", str, "stage")).rpartition("/")[2].rpartition(":")[2]
            names[i] = free_name(short, taken)
        elif name in names[:i]:
            first = f"{path}[{names.index(name)}]"
            problems.add(
                f"{path}[{i}].name", f"{show(name)} is the name of {first} already; give it another"
            )
    return [str(name) for name in names]


def _stage(
    use: str, options: Mapping[str, Any], children: Any, path: str, problems: Problems
) -> Any:
    """The stage itself, or BAD.  ``children`` are a composite's slots, None when the file gives none."""
    try:
        cls = _named(use, problems)
    except (PluginError, ConfigError) as error:
        problems.add(at(path, "use"), f"{show(use)}: {error}")
        return BAD
    before = len(problems.found)
    below = at(path, "options")
    for where, value in _unplain(options, below):
        problems.add(
            where,
            f"{show(value)} is no JSON value; write it as text, or build the stage by hand in a Slot",
        )
    given: dict[str, Any] = {}
    if is_reference(use) and not isinstance(cls, type):
        return (
            BAD
            if len(problems.found) > before
            else _of_code(cls, options, children, path, problems)
        )
    if isinstance(cls, type) and issubclass(cls, Composite):
        given["slots"] = children
        if children is None:
            problems.add(
                at(path, "stage"), f"{use} has no stages of its own; write [[stage.stage]] below it"
            )
    elif children is not None:
        problems.add(
            at(path, "stage"),
            f"{use} takes no [[stage.stage]]; only composites such as core/any do",
        )
    fitted = fit_options(cls, options, below, problems, given)
    if len(problems.found) > before or children is BAD:
        return BAD
    return construct(cls, {**fitted, **given}, below, problems)


def _named(use: str, problems: Problems) -> Any:
    """What ``use`` names: a class of a plugin, or a class, function or stage in a module or file."""
    if not is_reference(use):
        return registry().stage_type(use)
    if not problems.code:
        raise ConfigError(
            "it names code, and this environment is loaded with code=False; use plugin/stage"
        )
    return refer(use, problems.base)


def _of_code(
    found: Any, options: Mapping[str, Any], children: Any, path: str, problems: Problems
) -> Any:
    """A function with its options, or a stage that the module has built."""
    if children is not None:
        problems.add(at(path, "stage"), "only composites such as core/any take [[stage.stage]]")
        return BAD
    try:
        if not any(hasattr(found, name) for name in METHODS[:2]):
            return function_stage(found, _plain(options)) if callable(found) else as_stage(found)
        if options:
            problems.add(
                at(path, "options"), "this is a stage that is built already; it takes none"
            )
        return found
    except ConfigError as error:
        problems.error(at(path, "use"), error)
        return BAD


def _unplain(value: Any, path: str) -> Any:
    """What JSON cannot hold, with its path: workers and fingerprints need the options as JSON."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                yield path, key
            yield from _unplain(item, at(path, str(key)))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _unplain(item, f"{path}[{i}]")
    elif not (
        value is None
        or isinstance(value, (str, int))
        or (isinstance(value, float) and math.isfinite(value))
    ):
        yield path, value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _tables(mapping: Mapping[str, Any], key: str, path: str, problems: Problems) -> list[Any]:
    found = mapping.get(key, [])
    if isinstance(found, Mapping):
        problems.add(
            at(path, key), f"write {_ENTRY[key]}, in double brackets: it is a list of tables"
        )
        return [found]
    return list(found) if isinstance(found, (list, tuple)) else []


def _without_reserved(mapping: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    for key, owner in RESERVED.items():
        if key in mapping:
            problems.add(
                key, f"[{key}] is reserved for {owner}, and nothing installed reads it; remove it"
            )
    return {key: value for key, value in mapping.items() if key not in RESERVED}


def _observers(names: Any, problems: Problems) -> list[Any]:
    found = []
    for i, name in enumerate(names if isinstance(names, (list, tuple)) else ()):
        try:
            found += registry().observers([name]) if isinstance(name, str) else []
        except PluginError as error:
            problems.add(f"observers[{i}]", str(error))
    return found


def _tasks(mapping: Mapping[str, Any], problems: Problems) -> list[Task]:
    tasks: list[Task] = []
    spec = mapping.get("tasks")
    if isinstance(spec, Mapping):
        from rlenv.taskfile import load_tasks

        try:
            tasks += load_tasks(spec, problems.base)
        except ConfigError as error:
            problems.error("", error)
        except (InputError, PluginError) as error:
            for line in str(error).splitlines():
                problems.add("tasks", line)
    for i, table in enumerate(_tables(mapping, "task", "", problems)):
        entry = build(TaskEntry, table, f"task[{i}]", problems)
        if entry is not BAD:
            key = None if entry.id is None else str(entry.id)
            tasks.append(Task(entry.prompt, entry.answer, entry.info, key, entry.split))
    return tasks
