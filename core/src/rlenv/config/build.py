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

from .fit import build, construct
from .problems import BAD, Problems, Table, at, show
from .schema import EnvEntry, StageEntry, TaskEntry, claimed
from .taskfile import TasksEntry, load_tasks

E = TypeVar("E")


def build_environment(
    make: Callable[..., E], mapping: Table, problems: Problems, set_options: Table, settings: Table
) -> E:
    """Everything that an env.toml says, as ``make``, which is the class Environment, has it.

    Raises:
        ConfigError: empty where ``problems`` has the mistakes, else with what the Environment
            rejects.
    """
    words = {field.name for field in fields(EnvEntry)}
    entry = build(EnvEntry, {key: mapping[key] for key in words & mapping.keys()}, "", problems)
    tables = claimed(mapping, words, problems)
    of_tasks, of_stages = _split(set_options, mapping)
    maker = _Slots(of_stages, problems)
    slots = maker.all(mapping)
    check_settings(of_stages, maker.names, problems)
    tasks = _tasks(mapping, of_tasks, problems)
    observers = _observers(mapping.get("observers"), problems)
    given_base = {"slots": slots, "base": getattr(entry, "base", 1)}
    root = construct(Pipeline, given_base, "", problems) if slots else BAD
    if problems.found:
        _check_rest(slots, tasks, problems)
        raise ConfigError
    read = {"pass_mark": entry.pass_mark, "thinking": entry.response.thinking, "tables": tables}
    rest = {"observers": observers, "source": problems.source, **settings}
    return make(entry.name, root, tasks, **read, **rest)


def _split(settings: Table, mapping: Table) -> tuple[Table, Table]:
    """The settings of ``[tasks]``, as ``tasks.path``, and those of stages, where one may be named
    ``tasks`` too.
    """
    names = {f"tasks.{field.name}" for field in fields(TasksEntry)}
    own = names & settings.keys() if isinstance(mapping.get("tasks"), Mapping) else set()
    return (
        {key: settings[key] for key in own},
        {key: value for key, value in settings.items() if key not in own},
    )


class _Sound(Composite):
    """Those of an environment's stages that could be built."""

    shapes = True


def _check_rest(slots: Sequence[Slot], tasks: Sequence[Task], problems: Problems) -> None:
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
        problems.error("", error)


class _Slots:
    """Makes slots of ``[[stage]]`` tables; where one has a mistake, that is noted and the slot is
    empty.
    """

    def __init__(self, settings: Table, problems: Problems) -> None:
        self._settings = settings
        self._problems = problems
        self.names: set[str] = set()  # what settings may call the stages

    def all(self, owner: Table, path: str = "", parent: str = "") -> list[Slot]:
        """The slots of the stages in ``owner``, a table at ``path``.

        ``parent`` begins their paths.
        """
        tables = _tables(owner, "stage")
        below = at(path, "stage")
        if not owner.get("stage"):
            self._problems.add(below, 'there is no stage; write [[stage]] and use = "core/equal"')
        names = _names(tables, below, self._problems)
        return [
            self._slot(table, f"{below}[{i}]", name, parent + name) or Slot(f"{below}[{i}]", None)
            for i, (table, name) in enumerate(zip(tables, names, strict=True))
        ]

    def _slot(self, table: Any, path: str, name: str, full: str) -> Slot | None:
        entry = build(StageEntry, table, path, self._problems)
        use = _get(table, "use", str)
        options = _get(table, "options", Mapping, {})
        if use is None or options is None:
            return None
        names = (full, name, use)
        below = at(path, "options")
        self.names.update(names)
        options = overridden(options, self._settings, names, below, self._problems)
        children = self.all(table, path, f"{full}/") if "stage" in table else None
        stage = _stage(use, options, children, path, self._problems)
        if entry is BAD or stage is BAD:
            return None
        numbers = {key: getattr(entry, key) for key in NUMBERS}
        return Slot(name, stage, **numbers, use=use, options=_as_json(options))


def _get(table: object, key: str, kind: Any, default: object = None) -> Any:
    """A value of the right type, else None; the wrong type has been noted already."""
    found = table.get(key, default) if isinstance(table, Mapping) else None
    return found if isinstance(found, kind) else None


def _names(tables: Sequence[object], path: str, problems: Problems) -> list[str]:
    """Each table's name, or the short part of its ``use``, made unique with -2, -3."""
    names = [_get(table, "name", str) for table in tables]
    taken = {name for name in names if name is not None}
    for i, (table, name) in enumerate(zip(tables, names, strict=True)):
        if name is None:
            short = str(_get(table, "use", str, "stage")).rpartition("/")[2].rpartition(":")[2]
            names[i] = free_name(short, taken)
        elif name in names[:i]:
            taken_by = f"{show(name)} is the name of {path}[{names.index(name)}] already"
            problems.add(f"{path}[{i}].name", f"{taken_by}; give it another")
            names[i] = free_name(name, taken)
    return [str(name) for name in names]


def _stage(
    use: str, options: Table, children: list[Slot] | None, path: str, problems: Problems
) -> object:
    """The stage itself, or BAD.  ``children`` are a composite's slots, None when the file gives
    none.
    """
    try:
        cls = _named(use, problems)
    except (PluginError, ConfigError) as error:
        problems.add(at(path, "use"), f"{show(use)}: {error}")
        return BAD
    before = len(problems.found)
    below = at(path, "options")
    for where, value in _unplain(options, below):
        remedy = "write it as a string, or build the stage by hand in a Slot"
        problems.add(where, f"{show(value)} is not a JSON value; {remedy}")
    if isinstance(cls, type) and issubclass(cls, Composite):
        if children is None:
            lack = "a composite has stages of its own; write [[stage.stage]] below it"
            problems.add(at(path, "stage"), lack)
        for text in cls._slot_problems(children) if children else ():
            problems.add(below, text)  # also where its options hide them
        made: object = build(cls, options, below, problems, slots=children or None)
        made = BAD if any(slot.stage is None for slot in children or ()) else made
    elif children is not None:
        only = "only composites such as core/any do"
        problems.add(at(path, "stage"), f"{use} takes no [[stage.stage]]; {only}")
    elif is_reference(use) and not isinstance(cls, type):
        made = construct(_of_code, {"found": cls, "options": options}, at(path, "use"), problems)
    else:
        made = build(cls, options, below, problems)
    return BAD if len(problems.found) > before else made


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


def _tables(mapping: Table, key: str) -> list[object]:
    """A list of tables; whatever else it is has been noted already."""
    found = mapping.get(key, ())
    return [found] if isinstance(found, Mapping) else [*(_get(mapping, key, (list, tuple)) or ())]


def _observers(names: object, problems: Problems) -> list[object]:
    found = []
    for i, name in enumerate(names if isinstance(names, (list, tuple)) else ()):
        try:
            if problems.code and isinstance(name, str):
                found.append(registry().observer(name))
        except PluginError as error:
            problems.add(f"observers[{i}]", str(error))
    return found


def _tasks(mapping: Table, settings: Table, problems: Problems) -> list[Task]:
    tasks: list[Task] = []
    spec = mapping.get("tasks")
    if isinstance(spec, Mapping):
        spec = overridden(spec, settings, ["tasks"], "tasks", problems)
        try:
            tasks += load_tasks(spec, problems.base, problems.origins)
        except RlenvError as error:
            problems.error("" if isinstance(error, ConfigError) else "tasks", error)
    for i, table in enumerate(_tables(mapping, "task")):
        entry = build(TaskEntry, table, f"task[{i}]", problems)
        if entry is not BAD:
            key = None if entry.id is None else str(entry.id)
            tasks.append(Task(entry.prompt, entry.answer, entry.info, key, entry.split))
    return tasks


def overridden(
    options: Table, settings: Table, names: Collection[str], path: str, problems: Problems
) -> dict[str, object]:
    """The options of one stage, known by ``names`` (path, name, use), with the settings put in."""
    merged = dict(options)
    for key, value in settings.items():
        stage, _, option = key.rpartition(".")
        if option and stage in names:
            merged[option] = value
            problems.origins[at(path, option)] = f'setting "{key}"'
    return merged


def check_settings(settings: Table, names: Collection[str], problems: Problems) -> None:
    """Note the settings that are for none of the stages, which are known by ``names``."""
    for key in settings:
        stage, _, option = key.rpartition(".")
        if not stage or not option:
            problems.add(f'setting "{key}"', "expected STAGE.OPTION, as in math/equal.unparsed")
        elif stage not in names:
            hint = suggest(stage, names, what="the stages are")
            problems.add(f'setting "{key}"', f'no stage is named "{stage}"; {hint}'.rstrip("; "))
