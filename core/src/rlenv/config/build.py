"""From the tables of a file to stages, slots and an Environment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from attrs import fields

from rlenv.compose.composites import (
    NUMBERS,
    Composite,
    Pipeline,
    Slot,
    as_stage,
    free_name,
    is_number,
)
from rlenv.compose.functions import function_stage, is_reference
from rlenv.compose.stages import is_stage
from rlenv.engine.plan import Plan
from rlenv.model.errors import ConfigError, PluginError, RlenvError
from rlenv.model.messages import suggest
from rlenv.model.record import plain
from rlenv.model.tasks import Tasks
from rlenv.model.values import Task
from rlenv.plugins.registry import makers_of, registry

from .problems import BAD, Problems, Table, at, show
from .reader import Reader
from .schema import EnvEntry, StageEntry, TaskEntry, claimed
from .taskfile import TasksEntry, load_tasks

E = TypeVar("E")


def build_environment(
    make: Callable[..., E], tables: Reader, set_options: Table, settings: Table
) -> E:
    """Everything that an env.toml says, as ``make``, which is the class Environment, has it.

    Raises:
        ConfigError: empty where the reader has noted the mistakes, else with what the Environment
            rejects.
    """
    words = {field.name for field in fields(EnvEntry)}
    entry = tables.only(words).build(EnvEntry)
    of_plugins = claimed(tables, words)
    of_tasks, of_stages = _split(set_options, tables)
    maker = _Slots(of_stages)
    slots = maker.all(tables)
    check_settings(of_stages, maker.names, tables.problems)
    tasks = _tasks(tables, of_tasks)
    observers = _observers(tables.at("observers"))
    base = getattr(entry, "base", 1)
    root = tables.construct(Pipeline, {"slots": slots, "base": base}) if slots else BAD
    if tables.problems.found:
        _check_rest(slots, tasks, tables)
        raise ConfigError
    return make(
        entry.name,
        root,
        tasks,
        pass_mark=entry.pass_mark,
        thinking=entry.response.thinking,
        tables=of_plugins,
        **{"observers": observers, "source": tables.problems.source, **settings},
    )


def _split(settings: Table, tables: Reader) -> tuple[Table, Table]:
    """The settings of ``[tasks]``, as ``tasks.path``, and those of stages, where one may be named
    ``tasks`` too.
    """
    names = {f"tasks.{field.name}" for field in fields(TasksEntry)}
    own = names & settings.keys() if isinstance(tables.at("tasks").value, Mapping) else set()
    return (
        {key: settings[key] for key in own},
        {key: value for key, value in settings.items() if key not in own},
    )


class _Sound(Composite):
    """Those of an environment's stages that could be built."""

    shapes = True


def _check_rest(slots: Sequence[Slot], tasks: Sequence[Task], tables: Reader) -> None:
    """Note what else is wrong with the stages that could be built and the tasks that could be
    read.
    """
    sound = [slot for slot in slots if slot.stage is not None]
    try:
        if sound:
            is_whole = len(sound) == len(slots)
            plan = Plan(_Sound(sound), is_whole=is_whole, makers_of=makers_of)
            plan.check_tasks(Tasks(tasks))
    except ConfigError as error:
        tables.error(error)


class _Slots:
    """Makes slots of ``[[stage]]`` tables; where one has a mistake, that is noted and the slot is
    empty.
    """

    def __init__(self, settings: Table) -> None:
        self._settings = settings
        self.names: set[str] = set()  # what settings may call the stages

    def all(self, owner: Reader, parent: str = "") -> list[Slot]:
        """The slots of the stages in the table ``owner``; ``parent`` begins their paths."""
        stages = owner.at("stage")
        if not stages.value:
            stages.add('there is no stage; write [[stage]] and use = "core/equal"')
        tables = owner.tables("stage")
        names = _names(tables)
        return [
            self._slot(table, name, parent + name) or Slot(table.path, None)
            for table, name in zip(tables, names, strict=True)
        ]

    def _slot(self, table: Reader, name: str, full: str) -> Slot | None:
        entry = table.build(StageEntry)
        use = table.get("use", str)
        written = table.get("options", Mapping, {})
        if use is None or written is None:
            return None
        names = (full, name, use)
        self.names.update(names)
        options = overridden(table.at("options").holding(written), self._settings, names)
        children = self.all(table, f"{full}/") if "stage" in table.value else None
        stage = _stage(use, options, children, table)
        if entry is BAD or stage is BAD:
            return None
        numbers = {key: getattr(entry, key) for key in NUMBERS}
        return Slot(name, stage, **numbers, use=use, options=_as_json(options.value))


def _names(tables: Sequence[Reader]) -> list[str]:
    """Each table's name, or the short part of its ``use``, made unique with -2, -3."""
    names = [table.get("name", str) for table in tables]
    taken = {name for name in names if name is not None}
    for i, (table, name) in enumerate(zip(tables, names, strict=True)):
        if name is None:
            short = str(table.get("use", str, "stage")).rpartition("/")[2].rpartition(":")[2]
            names[i] = free_name(short, taken)
        elif name in names[:i]:
            first = tables[names.index(name)].path
            taken_by = f"{show(name)} is the name of {first} already"
            table.at("name").add(f"{taken_by}; give it another")
            names[i] = free_name(name, taken)
    return [str(name) for name in names]


def _stage(use: str, options: Reader, children: list[Slot] | None, table: Reader) -> object:
    """The stage itself, or BAD.  ``children`` are a composite's slots, None when the file gives
    none.
    """
    problems = table.problems
    try:
        cls = _named(use, problems)
    except (PluginError, ConfigError) as error:
        table.at("use").add(f"{show(use)}: {error}")
        return BAD
    before = len(problems.found)
    for where, value in _unplain(options.value, options.path):
        remedy = "write it as a string, or build the stage by hand in a Slot"
        problems.add(where, f"{show(value)} is not a JSON value; {remedy}")
    if isinstance(cls, type) and issubclass(cls, Composite):
        made = _composite(cls, options, children, table)
    elif children is not None:
        only = "only composites such as core/any do"
        table.at("stage").add(f"{use} takes no [[stage.stage]]; {only}")
        return BAD
    elif is_reference(use) and not isinstance(cls, type):
        made = table.at("use").construct(_of_code, {"found": cls, "options": options.value})
    else:
        made = options.build(cls)
    return BAD if len(problems.found) > before else made


def _composite(
    cls: type[Composite], options: Reader, children: list[Slot] | None, table: Reader
) -> object:
    """A composite of these slots, or BAD."""
    if children is None:
        lack = "a composite has stages of its own; write [[stage.stage]] below it"
        table.at("stage").add(lack)
    for text in cls._slot_problems(children) if children else ():
        options.add(text)  # also where its options hide them
    made: object = options.build(cls, slots=children or None)
    return BAD if any(slot.stage is None for slot in children or ()) else made


def _named(use: str, problems: Problems) -> Any:
    """What ``use`` names: a class of a plugin, or a class, function or stage in a module or
    file.
    """
    return problems.refer(use) if is_reference(use) else registry().stage_type(use)


def _of_code(found: object, options: Table) -> object:
    """A function with its options, or a stage that the module has built."""
    if not is_stage(found):
        return function_stage(found, _as_json(options)) if callable(found) else as_stage(found)
    if options:
        raise ConfigError("this is a stage that is built already; it takes no options")
    return found


def _as_json(options: Table) -> Mapping[str, object]:
    return {str(key): plain(value) for key, value in options.items()}


def _unplain(value: object, path: str) -> Iterator[tuple[str, object]]:
    """What JSON cannot hold, with its path: workers and fingerprints need the options as JSON."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                yield path, key
            yield from _unplain(item, at(path, str(key)))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _unplain(item, f"{path}[{i}]")
    elif not (value is None or isinstance(value, (str, int)) or is_number(value)):
        yield path, value


def _observers(names: Reader) -> list[object]:
    found = []
    for i, name in enumerate(names.value if isinstance(names.value, (list, tuple)) else ()):
        try:
            if names.problems.code and isinstance(name, str):
                found.append(registry().observer(name))
        except PluginError as error:
            names.item(i).add(str(error))
    return found


def _tasks(tables: Reader, settings: Table) -> list[Task]:
    tasks: list[Task] = []
    spec = tables.at("tasks")
    if isinstance(spec.value, Mapping):
        spec = overridden(spec, settings, ["tasks"])
        try:
            tasks += load_tasks(spec.value, spec.problems.base, spec.problems.origins)
        except ConfigError as error:
            tables.error(error)  # its lines begin with their paths
        except RlenvError as error:
            spec.error(error)
    for table in tables.tables("task"):
        entry = table.build(TaskEntry)
        if entry is not BAD:
            key = None if entry.id is None else str(entry.id)
            tasks.append(Task(entry.prompt, entry.answer, entry.info, key, entry.split))
    return tasks


def overridden(options: Reader, settings: Table, names: Collection[str]) -> Reader:
    """The options of one stage, known by ``names`` (path, name, use), with the settings put in."""
    merged = dict(options.value)
    for key, value in settings.items():
        stage, _, option = key.rpartition(".")
        if option and stage in names:
            merged[option] = value
            options.problems.origins[options.at(option).path] = f'setting "{key}"'
    return options.holding(merged)


def check_settings(settings: Table, names: Collection[str], problems: Problems) -> None:
    """Note the settings that are for none of the stages, which are known by ``names``."""
    for key in settings:
        stage, _, option = key.rpartition(".")
        if not stage or not option:
            problems.add(f'setting "{key}"', "expected STAGE.OPTION, as in math/equal.unparsed")
        elif stage not in names:
            hint = suggest(stage, names, what="the stages are")
            problems.add(f'setting "{key}"', f'no stage is named "{stage}"; {hint}'.rstrip("; "))
